/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_PLAN_H
#define PROTON_COUNTERS_PLAN_H
/* Which metrics of a set are counted on a chip, and in how many passes.
 *
 * A set that may take as many passes as it needs has all that the chip has. One that may not is filled
 * greedily: metrics stand in the order of importance, and each is taken that leaves the passes of those
 * before it within the limit. It asks for passes about twice a metric, a few milliseconds each.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include "counters/metric_set.h"

/*    id, word */
#define PLAN_STATES(_)                                                                             \
	_(COUNTED, "counted")                                                                      \
	_(ABSENT, "absent")     /* the chip has none of its names */                               \
	_(LEFT_OUT, "left out") /* with those before it, it takes too many passes */               \
	_(REFUSED, "refused")   /* the library has it, and cannot say how to count it */

enum plan_state {
#define _(id, word) PLAN_##id,
	PLAN_STATES(_)
#undef _
		N_PLAN_STATES
};
extern const char *const plan_words[N_PLAN_STATES];

struct plan_row {         /* of each choice of the set */
	const char *name; /* that was chosen, or else the first; the set's */
	enum plan_state state;
	size_t passes; /* of it alone; 0: not known */
};

struct plan {
	struct plan_row *rows;
	size_t n, n_counted;
	size_t passes; /* of all that are counted, together */
};

/* What knows of metrics. has: does the chip have it? passes: 0 and the passes of these together, else not
 * 0. */
struct plan_source {
	bool (*has)(void *ctx, const char *name);
	int (*passes)(void *ctx, const char *const *names, size_t n, size_t *ret);
	void *ctx;
};

/* 0; -ENOMEM; or what the source said of all that are counted together. plan_done() frees it either way. */
int plan_make(const struct metric_set *set, const struct plan_source *source, struct plan *ret);
void plan_done(struct plan *plan);

#endif
