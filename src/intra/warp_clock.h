/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_CLOCK_H
#define PROTON_INTRA_WARP_CLOCK_H
/* One clock for all warps of a launch: cycles since the first of them began, though each multiprocessor counts from a
 * start of its own.
 *
 *     SM 3   ──4711───[block 0]──[block 9]──     cycle + shift[warp]
 *     SM 8   ─────907─[block 1]──[block 8]──     ──> 0 … end
 *
 * The device's clock, which each warp read with its own as it began, says how they lie. It goes on in steps that are longer than
 * a cycle: warps of a block, which have one clock, are moved together. Where a launch has no such times, the clock of each
 * multiprocessor begins with the first that is known of it, and nothing is said of one beside the other.
 *   thread  one */
#include <stdbool.h>
#include "intra/warp_trace.h"

struct warp_clock {
	int64_t *shift;  /* by warp of the launch */
	double cycle_ns; /* what a cycle lasted, of most warps; 0: not known */
	bool is_common;  /* multiprocessors can be compared */
	uint64_t end;    /* of all, in cycles; at least 1 */
};

/* 0 or -ENOMEM. */
int warp_clock_init(struct warp_clock *c, const struct warp_trace *t, size_t launch);
void warp_clock_done(struct warp_clock *c);

/* The last cycle that is known of a warp, by its leaving or its scopes; on its own clock. */
uint64_t warp_last_cycle(const struct warp_trace *t, const struct warp_trace_warp *w);
/* Of a warp that lost records the latest ones are there: the cycle from which on it is known what it did. Of others it is the
 * first one, and where none of its records is there, the last. */
uint64_t warp_known_cycle(const struct warp_trace *t, const struct warp_trace_warp *w);

#endif
