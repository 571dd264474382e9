/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEP_SLOW_H
#define PROTON_CORE_STEP_SLOW_H
/* Why steps of a loop were slow: those that took longest are remembered, and when it is known what is usual, each of them
 * that is slow is so because devices had nothing to do (the host was late) or because they worked longer.
 *   thread  one
 *   errors  none: no memory is asked for */
#include <stdbool.h>
#include <stdint.h>

/* A step that takes so many times what half of them do with is slow. */
#define STEP_SLOW_RATIO 1.5
enum { STEP_SLOW_MAX = 256 }; /* that are remembered */

struct step_slow {
	unsigned n;
	struct step_slow_one {
		uint64_t ns, busy_ns, idle_ns, number;
	} v[STEP_SLOW_MAX]; /* a heap: the shortest first */
};

/* Of one cause: how many, and of these the slowest. */
struct step_slow_cause {
	uint64_t n, number, ns, busy_ns;
};

struct step_slow_told {
	struct step_slow_cause host, work;
};

void step_slow_clear(struct step_slow *s);
/* What of ns is neither busy nor idle counts for no cause (step_busy.h). */
void step_slow_add(struct step_slow *s, uint64_t number, uint64_t ns, uint64_t busy_ns,
		   uint64_t idle_ns);
/* By what half of the steps do not exceed: how long they take, and devices have nothing to do. */
void step_slow_tell(const struct step_slow *s, uint64_t median_ns, uint64_t idle_median_ns,
		    struct step_slow_told *ret);

/* Was it the host? Devices had nothing to do for half, or more, of what it took beyond what is usual. */
static inline bool step_slow_is_of_host(double ns, double idle_ns, double median_ns,
					double idle_median_ns)
{
	return 2 * (idle_ns - idle_median_ns) >= ns - median_ns;
}

#endif
