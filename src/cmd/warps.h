/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_WARPS_H
#define PROTON_CMD_WARPS_H
/* Single scopes of warps within kernels, of a profile: in its file, or in the one beside it (format/warps.h). */
#include "intra/warp_trace.h"

/* Of launches that were left out there may be nothing but their number. NULL: there are none, or a line on stderr said why they cannot be read: *ret_failed. Freed by warps_close(). */
struct warp_trace *warps_open(const char *path, bool *ret_failed);
void warps_close(struct warp_trace *t);

#endif
