/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/warps.h"
#include <errno.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "format/warps.h"

/* What of a file that was read somebody should know. */
static void complain_said(const char *path, const struct warps_said *said)
{
	if (said->n_missing)
		complain("%s: ends early or is damaged: what was whole of it is used", path);
}

static int load(const char *path, struct warp_trace *t)
{
	_cleanup_(buf_done) struct buf line = {0};
	_cleanup_(freep) char *file = NULL;
	struct format_error error;
	struct warps_said said;
	int r = warps_load(path, t, &said, &file, &error);

	if (r == 0)
		complain_said(file, &said);
	if (r < 0 && r != -ENODATA) {
		format_error_line(&error, file ? file : path, &line);
		complain("%s", buf_str(&line));
	}
	return r;
}

struct warp_trace *warps_open(const char *path, bool *ret_failed)
{
	struct warp_trace *t = malloc(sizeof(*t));
	int r = t ? warp_trace_init(t) : -ENOMEM;

	if (r < 0)
		complain("out of memory");
	else
		r = load(path, t);
	*ret_failed = r < 0 && r != -ENODATA;
	if (r == 0)
		return t;
	warps_close(t);
	return NULL;
}

void warps_close(struct warp_trace *t)
{
	if (t)
		warp_trace_done(t);
	free(t);
}
