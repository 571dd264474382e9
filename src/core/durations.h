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

#endif
