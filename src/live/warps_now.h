/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_WARPS_NOW_H
#define PROTON_LIVE_WARPS_NOW_H
/* Single scopes of warps while the program runs: collectors leave a file for each launch that they keep in the session directory,
 * and take it away again when another launch is kept in its place (collect/kept_warps.h, ADR 82).
 *
 *     SESSION/INSTANCE-1.warps, …  ── look ──>  launches, of each file its beginning, once      warp_source
 *                                  ── load ──>  the warps of one
 *
 * So what is in memory does not grow with what is kept. A launch that is looked at stays until another one is, though its file may
 * have gone. */
#include "intra/warp_source.h"

struct warps_now;

/* NULL: no memory. The path is copied. */
struct warps_now *warps_now_new(const char *session);
struct warps_now *warps_now_free(struct warps_now *w); /* NULL */
static inline void warps_now_freep(struct warps_now **w)
{
	*w = warps_now_free(*w);
}
struct warp_source *warps_now_source(struct warps_now *w);

#endif
