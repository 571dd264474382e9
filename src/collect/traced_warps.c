/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/traced_warps.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "collect/epoch_file.h"
#include "collect/internal.h"
#include "intra/warp_file.h"

static void lose_one(const char *why)
{
	char text[192];

	lose(LOSS_WARP_FILES, 1);
	snprintf(text, sizeof(text),
		 "a trace of scopes within kernels does not have all launches: %s", why);
	collect_note(NOTE_WARNING, text);
}

static bool is_traced_in(uint32_t epoch)
{
	return epoch && atomic_load(&collector->epochs[epoch].warps);
}

struct warp_launch *traced_warps_new(uint32_t epoch)
{
	struct warp_launch *l;

	if (!is_traced_in(epoch))
		return NULL;
	l = malloc(sizeof(*l));
	if (l && warp_launch_init(l, UINT64_MAX) == 0)
		return l;
	free(l);
	lose_one(strerror(ENOMEM));
	return NULL;
}

struct warp_launch *traced_warps_free(struct warp_launch *l)
{
	if (l)
		warp_launch_done(l);
	free(l);
	return NULL;
}

static int put(void *ctx, const void *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_put(b, bytes, n);
	return b->error;
}

void traced_warps_encode(struct warp_launch *l, uint32_t epoch, const struct kept_launch *launch,
			 struct buf *ret)
{
	struct kept_launch in_session = *launch;
	struct warp_writer w = {.put = put, .ctx = ret};
	int r;

	if (!l)
		return;
	in_session.without = collector->epochs[epoch].warps_without;
	r = warp_launch_describe(l, &in_session);
	if (r == 0)
		r = warp_writer_begin(&w);
	if (r == 0)
		r = warp_writer_launch(&w, &l->sample.trace, 0);
	warp_writer_done(&w);
	if (r == 0)
		return;
	buf_clear(ret);
	lose_one(strerror(-r));
}

void traced_warps_write(uint32_t epoch, const struct buf *file)
{
	int r;

	if (!file->len || !is_traced_in(epoch))
		return;
	r = epoch_file_append(epoch, EPOCH_FILE_SCOPES, file->data, file->len);
	if (r < 0)
		lose_one(strerror(-r));
}
