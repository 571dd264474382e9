/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_STATS_H
#define PROTON_INTRA_WARP_STATS_H
/* What single scopes of warps say together: of each kernel, of each of its scopes, in its place, over all warps, blocks and
 * launches; blocks that stand out; how full the multiprocessors were.
 *
 *     kernel ── scope ── scope …           (a scope's parent is before it)
 *            └─ blocks that took longest of this scope
 *
 * Cycles are those of the multiprocessors' clocks, and nanoseconds these, by what a cycle of this kernel's warps lasted: cycle_ns.
 * What is not known is NaN.
 *   threads  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "intra/warp_trace.h"

struct warp_stat {
	uint32_t kernel; /* index of its kernel */
	uint32_t parent; /* index of the one that it is entered in, or WARP_TRACE_NO_PARENT */
	uint32_t depth;  /* 0: right in the kernel */
	uint32_t name;   /* in the trace's */
	enum warp_event event;
	uint64_t n;      /* that have both ends; of marks and values: all */
	uint64_t n_open; /* that have one end */
	uint64_t n_warps;
	double cycles, min, max, p50,
		p99; /* cycles: the sum, then of single ones; NaN: of marks and values */
	double value, value_min, value_max; /* of values: the sum, the least, the largest */
	double share; /* of the time of all warps of its kernel that is known, 0…1; with what is entered within it */
	size_t outliers, n_outliers; /* first one */
};

/* A block whose mean of a scope is far above what is usual for its blocks. */
struct warp_outlier {
	uint32_t stat, launch; /* indices */
	uint64_t block;
	uint32_t multiprocessor;
	double cycles; /* its mean */
	double times;  /* … of the median of all blocks */
};

struct warp_kernel {
	uint32_t name; /* in the trace's */
	uint32_t path; /* … of its calling context; 0: not known, or of all */
	size_t stats, n_stats;
	uint64_t n_launches, n_warps, n_lost, n_dropped; /* lost: records; dropped: warps */
	uint64_t
		n_grid_warps; /* of all launches, whether they recorded or not; what is not known of it: those that did */
	uint64_t n_blocks;          /* that recorded, of all launches */
	uint32_t n_multiprocessors; /* that had some */
	double warp_cycles; /* of all warps together; of those whose clock was not read their outermost scopes */
	double unknown_cycles; /* … in which it is not known what they did: their records were lost */
	double clocked_cycles, clocked_ns; /* … of those of which both clocks are known */
	double cycle_ns;
	/* Of the launch with the most blocks, of those that are whole: */
	uint32_t launch; /* index */
	bool is_partial; /* none is: of what follows nothing is known */
	double resident; /* blocks that were on one multiprocessor at once, at most */
	double waves; /* how often these were replaced on the one that ran most, the first ones too */
	double duration_ns; /* from the first block that began to the last one that ended */
	double tail_ns; /* from the first multiprocessor that had nothing more to run to the end */
	double tail_share; /* of all multiprocessors' time: empty behind their last block, 0…1 */
};

struct warp_stats {
	struct warp_kernel *kernels; /* by the time of all warps, most first */
	struct warp_stat
		*stats; /* of a kernel in the order of its tree: parents, then what is in them */
	struct warp_outlier *outliers;
	size_t n_kernels, n_stats, n_outliers;
	size_t cap_kernels, cap_stats, cap_outliers;
};

/* Of n launches from this one on. 0 or -ENOMEM. */
int warp_stats_init(struct warp_stats *s, const struct warp_trace *t, size_t first, size_t n);
/* The same, where a kernel is another one in each calling context. */
int warp_stats_init_contexts(struct warp_stats *s, const struct warp_trace *t, size_t first,
			     size_t n);
void warp_stats_done(struct warp_stats *s);

#endif
