/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_EXPORT_WARPS_H
#define PROTON_CMD_EXPORT_WARPS_H
/* proton export of single scopes of warps within kernels, which are beside a profile or all of its file. */
#include "format/format.h"
#include "format/warps.h"

/* Can single scopes be written so? */
bool export_takes_warps(const struct format *format);
/* Write those of one of n files; an exit status. *ret_none: there are none, nothing was said, and nothing written. */
int export_warps(char *const *paths, int n, const struct format *format,
		 const struct warps_write_options *o, const char *out, bool *ret_none);

#endif
