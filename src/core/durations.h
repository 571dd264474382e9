/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DURATIONS_H
#define PROTON_CORE_DURATIONS_H
/* How long executions took: the histograms of a calling context, or of all that have its name, with
 * everything below. What was executed once on its lane has no histogram; its time is the sample.
 * Only nodes that count do so here. A histogram is of one context on one device: where a view parts
 * that (by stream, by thread), it stands with each part, and says so.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/numbers.h"
#include "core/session.h"

struct durations {
	uint32_t n[HIST_BUCKETS]; /* executions; no more than fit */
	uint64_t n_all;           /* in the buckets */
	double n_calls;           /* that were counted, in the buckets or not */
	uint64_t min_ns, max_ns;  /* 0: not known */
	bool is_shared;           /* some are not of what was asked for: nobody can tell which */
};

/* Of a node of the snapshot. 0 or -ENOMEM */
int durations_make(struct durations *d, struct snapshot *snap, struct numbers *numbers,
		   uint32_t node, bool by_name);

/* The next node of the snapshot that a histogram is of. *iter is 0 at first; SNAP_NONE: no more. */
uint32_t durations_next_node(const struct snapshot *snap, const struct session_hist *hist,
			     uint32_t *iter);

/* Was a row of the session executed once? Its time is the sample then: it has no histogram. */
bool durations_single(const struct session *s, size_t row, uint64_t *ret_ns);

/* Durations below which shares (0..1) of a frame's own executions lie: n of them a session frame,
 * in ns, NaN where nothing has a histogram. malloc'd; NULL: out of memory. */
double *durations_by_frame(const struct snapshot *snap, const double *shares, unsigned n);

#endif
