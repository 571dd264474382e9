/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_WARPS_SO_FAR_H
#define PROTON_LIVE_WARPS_SO_FAR_H
/* Single scopes of all launches that collectors keep so far, for pictures without a screen. The screen has one launch at a time
 * (live/warps_now.h); here each look reads them all, in no more than a part of the time. */
#include <stdbool.h>
#include "intra/warp_trace.h"

struct warps_so_far;

/* NULL: no memory. The path is copied. */
struct warps_so_far *warps_so_far_new(const char *session);
struct warps_so_far *warps_so_far_free(struct warps_so_far *w); /* NULL */
/* As they are by now, or were a little before. is_over: no more will come, and as they are. Borrowed, until the next call. */
const struct warp_trace *warps_so_far_look(struct warps_so_far *w, bool is_over);

#endif
