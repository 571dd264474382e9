/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TRACED_WARPS_H
#define PROTON_COLLECT_TRACED_WARPS_H
/* Single scopes of warps for sessions of the program that are traces of them (data "warps"): all launches, in a file of the session
 * directory for each epoch, of which proton makes a session's trace (live/session_warps.h).
 *
 *     warps ── new(), add() ──> launch ── encode() ──> bytes ── write() ──> INSTANCE-EPOCH.scopes
 *     (whoever reads them)                                  (between late_values_begin() and end())
 *
 * The file (epoch_file.h) goes with its epoch. What finds no place is counted, and a note says so.
 *   thread  any; an object: one */
#include "base/buf.h"
#include "collect/warp_launch.h"

/* NULL: no session traces this epoch, or there is no memory. The functions take it. */
struct warp_launch *traced_warps_new(uint32_t epoch);
struct warp_launch *traced_warps_free(struct warp_launch *l); /* NULL */
/* A launch, as a file of its own; empty where there is none. */
void traced_warps_encode(struct warp_launch *l, uint32_t epoch, const struct kept_launch *launch,
			 struct buf *ret);
void traced_warps_write(uint32_t epoch, const struct buf *file);

#endif
