/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_RANKS_H
#define PROTON_CORE_RANKS_H
/* How evenly a path is spread over ranks. A rank is all processes that have it; a process without
 * one counts by itself. Only ranks that have the path count: absent is not zero.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

struct spread {
	uint32_t n; /* ranks that have a value; the rest means nothing when 0 */
	double sum, min, max;
	uint32_t slowest; /* a process of the rank that has the maximum */
};
static inline double spread_mean(const struct spread *x)
{
	return x->sum / x->n;
}
static inline double spread_imbalance(const struct spread *x) /* max / mean: 1 is even */
{
	return x->sum > 0 ? x->max * x->n / x->sum : 1;
}

/* What waiting for the slowest rank costs on a path: (max - mean) x ranks; -1: no values. */
double spread_lost(const struct spread *x);

/* The whole of a rank. */
struct rank_total {
	uint32_t process; /* one of its processes; SESSION_NONE: values of no process */
	double sum;
};

struct ranks {
	struct spread *spread; /* by node */
	struct rank_total *totals;
	uint32_t n; /* ranks that have any value: of totals */
};

/* Inclusive values of a metric that adds up, by rank, of rows that are not 0 in `counted` (NULL: all).
 * 0, -EINVAL (a metric that does not add up) or -ENOMEM. */
int ranks_init(struct ranks *ranks, const struct session *s, uint32_t metric,
	       const uint8_t *counted);
void ranks_done(struct ranks *ranks);
/* "3", or where there is no rank "pid 41207", or the name of the file. */
void rank_name(const struct session *s, uint32_t process, char *out, size_t size);

struct spread_row {
	double lost;
	uint32_t node;
};
/* Nodes below the root that have values, by what they cost, most first; malloc'd. NULL: out of
 * memory. */
struct spread_row *ranks_sorted(const struct ranks *ranks, const struct session *s,
				uint32_t *ret_n);

#endif
