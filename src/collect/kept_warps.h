/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_KEPT_WARPS_H
#define PROTON_COLLECT_KEPT_WARPS_H
/* Single scopes of single warps, of launches that are chosen, in files of the session directory: one for each launch, which
 * proton puts together beside the profile (live/kept_warps.h).
 *
 *     warps ── new(), add() ──> launch ── choose() ──> queue ── write() ──> INSTANCE-NUMBER.warps
 *     (whoever reads them)                 which are kept, and which       (whoever flushes, and holds
 *                                          not any more                     no lock that launches take)
 *
 * Where a launch's record is there before its warps are read, as in a burst of launches, those of one that would not be kept are
 * not looked at: begin() says so.
 *
 * Nothing is done where the run did not ask for it.
 *   thread  any; an object: one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "collect/warp_launch.h"

/* Did the run ask for it? */
bool kept_warps_are_wanted(void);

/* NULL: none are kept, or there is no memory. The functions take it. */
struct kept_warps;
struct kept_warps *kept_warps_new(void);
struct kept_warps *kept_warps_free(struct kept_warps *k); /* NULL */
/* A warp of its launch, with what it recorded. */
void kept_warps_add(struct kept_warps *k, const struct warp_trace_warp *warp,
		    const struct warp_contents *contents, scope_frame_fn *frame, const void *ctx);

/* A launch of this kernel has its record. */
void kept_warps_ran(uint32_t node, int32_t device, uint64_t began_ns);
/* One of which there are warps now: the object for them; NULL: as above, or by its record it would not be kept, and counts as
 * such (*ret_is_over). */
struct kept_warps *kept_warps_begin(const struct kept_launch *launch, bool *ret_is_over);
/* All of its warps are there: it is kept or not. Steals k. */
void kept_warps_choose(struct kept_warps *k, const struct kept_launch *launch);
/* What was chosen since goes to files. */
void kept_warps_write(void);
/* In a fork child: what there is is the parent's. */
void kept_warps_forked(void);

#endif
