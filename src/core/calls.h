/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_CALLS_H
#define PROTON_CORE_CALLS_H
/* Calls of the vendor's library by function, from the time that the host spent in them (--api; --sync: waits alone).
 *
 *     load { cudaMalloc }, step { cudaMalloc, cudaLaunchKernel }    cudaMalloc: both;  cudaLaunchKernel
 *
 *   thread  one */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/numbers.h"

struct call_row {
	uint32_t node; /* that with the most time of these; it has the name */
	double longest_ns;
	double time_ns, calls, min_ns, max_ns; /* NaN: absent */
};

/* All zero at first. */
struct calls {
	struct call_row *rows; /* by function, those with the most time first */
	size_t n, cap;
	uint32_t *row_of; /* scratch, by frame: row + 1 */
	size_t cap_row_of;
};

#define CALLS_TITLE       "Time of the host in calls of the GPU's library, waits among them"
#define CALLS_OF_TITLE    "Calling contexts of these calls"
#define CALLS_NONE        "none (proton top and record see them with --api)"
#define CALLS_WAITS_ALONE "(waits alone: proton top and record see other calls with --api)"

/* Of what counts in the numbers. 0 or -ENOMEM (there are no rows then). */
int calls_update(struct calls *c, struct numbers *numbers);
void calls_done(struct calls *c);

/* Of one node: false: it is no call that was timed, or does not count. */
bool calls_at(struct numbers *numbers, uint32_t node, struct call_row *ret);
static inline double calls_mean_ns(const struct call_row *row)
{
	return row->calls > 0 ? row->time_ns / row->calls : NAN;
}

/* Have calls been timed that are no waits? */
bool calls_are_known(const struct session *s);

/* Columns of both tables, as the report and the screen have them.
 *    title    value               op     metric     form     human    width rank  meaning */
/* clang-format off */
#define CALLS_COLUMNS(_)                                                                           \
	_("TIME",  row->time_ns,       VALUE, API_TIME,  TIME,    time_ns, 7, 0,                   \
	  "time on the host, from the call to its return")                                         \
	_("%",     CALLS_SHARE,        SHARE, API_TIME,  PERCENT, percent, 5, 1, "share of all of it") \
	_("CALLS", row->calls,         VALUE, API_CALLS, COUNT,   count,   6, 2, "how many")       \
	_("AVG",   calls_mean_ns(row), AVG,   API_TIME,  TIME,    time_ns, 7, 3, "time of one")    \
	_("MIN",   row->min_ns,        VALUE, API_MIN,   TIME,    time_ns, 7, 5, "the shortest")   \
	_("MAX",   row->max_ns,        VALUE, API_MAX,   TIME,    time_ns, 7, 4, "the longest")
/* clang-format on */

#endif
