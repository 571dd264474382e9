/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DURATIONS_H
#define PROTON_CORE_DURATIONS_H
/* How long executions took: the histograms of a calling context, or of all with its name, and of
 * everything below. What was executed once on its lane has no histogram; its time is the sample.
 * Nodes that are filtered out do not count. A histogram is of one context on one device. A view by
 * stream or thread splits that: each part then shows the whole histogram, and is_shared says so.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/numbers.h"
#include "core/session.h"

struct durations {
	struct hist_sums sums;
	uint64_t n_all;          /* in the sums */
	double n_calls;          /* that were counted, in the sums or not */
	uint64_t min_ns, max_ns; /* 0: not known */
	bool is_shared;          /* some are of other nodes, and cannot be told apart */
};

/* Of a node of the snapshot. 0 or -ENOMEM */
int durations_make(struct durations *d, struct snapshot *snap, struct numbers *numbers,
		   uint32_t node, bool by_name);

#endif
