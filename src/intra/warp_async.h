/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_ASYNC_H
#define PROTON_INTRA_WARP_ASYNC_H
/* Single events that begin in one warp of a block and end in another:
 *
 *   warp 0   begin ──────── begin ─────────
 *   warp 4   ────────── end ──────── end ──         both are of warp 0 then, and warp 4 has neither
 *
 * As the list of a warp has them (warp_singles.h), a beginning is open, and an end is a scope that says so. Those of a name, and of
 * the same number where the program gives one, end in the order in which they began.
 *   threads  one */
#include "intra/warp_trace.h"

/* Of a launch of which all warps are there. An end that finds no beginning is taken away, too, and counts as lost by its warp;
 * *ret_n_lost, which may be NULL: so many. 0 or -ENOMEM. */
int warp_async_join(struct warp_trace *t, size_t launch, uint64_t *ret_n_lost);

#endif
