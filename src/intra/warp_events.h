/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_EVENTS_H
#define PROTON_INTRA_WARP_EVENTS_H
/* Events of a launch: which end belongs to which beginning, of all warps of a block. Those of a name, and of the same number where the program
 * gives one, end in the order in which they began:
 *
 *   warp 0   begin ──────── begin ─────────
 *   warp 4   ────────── end ──────── end ──         two events
 *
 *   threads  one */
#include "intra/scope_sums.h"
#include "intra/warp_slices.h"

struct warp_event_end; /* or its beginning */
struct warp_event_sum;
struct warp_events {
	struct warp_event_end *ends;
	struct warp_event_sum *sums; /* of warps that added up by themselves */
	size_t n, cap, n_sums, cap_sums;
};

void warp_events_done(struct warp_events *e);
/* What a warp has of them. 0 or -ENOMEM. */
int warp_events_add(struct warp_events *e, const struct warp_slice *slice,
		    const struct warp_contents *warp);
/* Do some wait for their other end? Those that have it are added to `sums`. 0, -ENOMEM, or 1: some do. */
int warp_events_join(struct warp_events *e, struct scope_sums *sums);
/* How many ends are without the other one. */
uint64_t warp_events_left(const struct warp_events *e);

#endif
