/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SAMPLES_H
#define PROTON_CORE_SAMPLES_H
/* What a session knows of how long executions took: histograms of nodes, and rows that were
 * executed once, whose time is the sample.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/snapshot.h"

/* The values of a row that tell of its executions; NaN: absent. */
struct row_times {
	double time, count, min, max;
};

struct row_times row_times(const struct session *s, const struct session_row *row);
/* Was it executed once? It has no histogram then. */
bool row_is_single(const struct row_times *t);

/* Of how many of the profile's executions on devices it is known how long each took, 0 to 1. NaN: of
 * none, no histogram came. */
double samples_covered(const struct session *s);
#define SAMPLES_TEXT_MAX 128
/* "percentiles are of 68.1 % of the executions …"; false: they are of all, or there are none. */
bool samples_text(const struct session *s, char out[SAMPLES_TEXT_MAX]);

/* The next node of the snapshot for a histogram. Grouped by stream or thread there may be several.
 * *iter is 0 at first; SNAP_NONE: no more. */
uint32_t hist_next_node(const struct snapshot *snap, const struct session_hist *hist,
			uint32_t *iter);

#endif
