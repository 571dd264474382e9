/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/kernel_mode.h"
#include <errno.h>
#include "report/print_line.h"

int kernel_mode_parse(const char *said, struct intra_mode *ret)
{
	char why[INTRA_WHY_MAX];

	if (intra_mode_parse(said, ret, why) == 0)
		return 0;
	complain("--intra-mode: %s", why);
	return -EBADMSG;
}

/* Shared memory is where records are, unless the program may need all of it. */
int kernel_mode_take(const char *said, struct ptx_options *o)
{
	struct intra_mode mode;

	if (kernel_mode_parse(said, &mode) < 0)
		return -EBADMSG;
	o->buffer = mode.buffer == INTRA_GLOBAL ? PTX_BUFFER_GLOBAL : PTX_BUFFER_AUTO;
	o->bytes = mode.buffer_bytes;
	o->warps = mode.warps == INTRA_ALL_WARPS ? 0 : mode.warps;
	return 0;
}
