/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_SINGLES_H
#define PROTON_INTRA_WARP_SINGLES_H
/* What a warp recorded, as one list in the order of time: scopes, marks and values among them, and events.
 *
 *     scopes   tile ── load ── mma ──        ─┐
 *     points        mark    begin … end       ├──> tile, mark, load, event, mma …
 *
 * An event of which the end is not of this warp is open; an end of which the beginning is not is behind all else, for
 * warp_async_join(). Sums, which have no times, are left out.
 *   threads  any */
#include "intra/warp_slices.h"
#include "intra/warp_trace.h"

/* The name of a scope in the trace; STRTAB_NONE: no memory. */
typedef uint32_t warp_name_fn(void *ctx, uint32_t scope);
/* Malloc'd *ret, *ret_n of them. 0 or -ENOMEM. */
int warp_singles(const struct warp_contents *warp, warp_name_fn *name, void *ctx,
		 struct warp_trace_scope **ret, size_t *ret_n);

#endif
