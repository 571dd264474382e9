/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_RANKS_H
#define PROTON_CORE_RANKS_H
/* How evenly a path is spread over ranks. A rank is all processes that have it; a process without
 * one counts by itself. Only ranks that have the path count: absent is not zero.
 *
 * In a collective (core/collective.h) who comes early waits for who comes last: its time there says
 * how evenly the work before it is spread, and counts at its own row alone, not above it. There the
 * slowest is the rank with the least time, and the others have waited for it.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/column.h"
#include "core/session.h"

struct spread {
	uint32_t n; /* ranks that have a value; the rest means nothing when 0 */
	double sum, min, max;
	uint32_t
		slowest; /* a process of the rank that has the maximum; of a collective, the minimum */
	bool is_collective;
};

/* Columns of a table of paths. Those of form TIME take the form of the metric that is shown.
 *
 *        id         title     form  width rank help */
/* clang-format off */
#define SPREAD_COLUMNS(_)                                                                          \
	_(WAIT,      "WAIT",    TIME,   7, 0, "how long a rank waits for the slowest, in the mean: max - mean; in a collective mean - min; - where one rank is alone") \
	_(IMBALANCE, "MAX/AVG", RATE,   7, 1, "1 is even") \
	_(SLOWEST,   "SLOWEST", WORD,  12, 2, "the rank that takes longest; in a collective the one that comes last; \"only 3\": no other rank has this path") \
	_(MEAN,      "MEAN",    TIME,   7, 3, "of the ranks that have it") \
	_(MAX,       "MAX",     TIME,   7, 4, "of the slowest rank") \
	_(MIN,       "MIN",     TIME,   7, 5, "of the fastest rank") \
	_(SUM,       "SUM",     TIME,   7, 7, "of all ranks") \
	_(RANKS,     "RANKS",   COUNT,  5, 6, "that have this path")

enum spread_column {
#define _(id, title, form, width, rank, help) SPREAD_##id,
	SPREAD_COLUMNS(_)
#undef _
	SPREAD_N
};
/* clang-format on */

extern const struct column_spec spread_columns[SPREAD_N]; /* nothing derived: ask spread_value() */
/* NaN: no rank has a value, or one alone has, which nobody can be slower than. SLOWEST is a word: slowest_name(). */
double spread_value(const struct spread *x, enum spread_column column);

/* The sum of a rank over all nodes. */
struct rank_total {
	uint32_t process;   /* one of its processes; SESSION_NONE: values of no process */
	double sum;         /* without collectives */
	double collectives; /* time in them */
};

struct ranks {
	struct spread *spread; /* by node */
	struct rank_total *totals;
	uint32_t n; /* of totals: ranks that have any value */
};

/* Inclusive values of a metric that adds up (METRIC_ANY_FLOPS, too), by rank, of rows that are not 0
 * in `counted` (NULL: all) and no launch metadata. 0, -EINVAL (it does not add up) or -ENOMEM. */
int ranks_init(struct ranks *ranks, const struct session *s, uint32_t metric,
	       const uint8_t *counted);
void ranks_done(struct ranks *ranks);
/* "3", or where there is no rank "pid 41207", or the name of the file. */
void rank_name(const struct session *s, uint32_t process, char *out, size_t size);
/* The name of the slowest rank of a path; "only 3": of the only one that has it; "-": all take the same. */
void slowest_name(const struct session *s, const struct spread *x, char *out, size_t size);

struct spread_row {
	double lost; /* NaN: one rank alone has it */
	double sum;
	uint32_t node;
};
/* Nodes below the root that have values, by what they cost, most first, then by their sums; behind them those
 * that one rank alone has; malloc'd. NULL: out of memory. */
struct spread_row *ranks_sorted(const struct ranks *ranks, const struct session *s,
				uint32_t *ret_n);

#endif
