/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/export_warps.h"
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/warps.h"
#include "format/write_file.h"

typedef int write_fn(const struct warp_trace *t, const struct warps_write_options *o,
		     struct out *out);

static const struct {
	const struct format *format;
	write_fn *write;
} writers[] = {
	{&format_chrome, warps_chrome},
	{&format_perfetto, warps_perfetto},
};

static write_fn *writer_of(const struct format *format)
{
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++)
		if (writers[i].format == format)
			return writers[i].write;
	return NULL;
}

bool export_takes_warps(const struct format *format)
{
	return writer_of(format);
}

struct fill {
	const struct warp_trace *t;
	const struct warps_write_options *o;
	write_fn *write;
};

static int fill(struct out *out, void *ctx)
{
	const struct fill *f = ctx;

	return f->write(f->t, f->o, out);
}

static bool has_clock(const struct warp_trace *t)
{
	for (size_t i = 0; i < t->n_warps; i++)
		if (warp_trace_cycle_ns(&t->warps[i]) > 0)
			return true;
	return false;
}

static int save(const struct warp_trace *t, const struct format *format,
		const struct warps_write_options *o, const char *path, const char *name)
{
	struct fill f = {t, o, writer_of(format)};
	int r;

	if (o->in_ns && !has_clock(t))
		complain("'%s' has no times of the clock: a cycle is a nanosecond", name);
	path = output_path(path ? path : "-");
	r = write_file_tagged(path, 0, fill, &f);
	if (r == -ENODATA)
		complain("no scope of '%s' has both ends", name);
	else if (r < 0)
		complain("cannot write '%s': %s", path, strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

int export_warps(char *const *paths, int n, const struct format *format,
		 const struct warps_write_options *o, const char *out, bool *ret_none)
{
	struct warp_trace *t;
	bool failed;
	int r;

	*ret_none = false;
	if (n != 1) {
		complain("single scopes of warps are written of one file");
		return STATUS_USAGE;
	}
	if (!export_takes_warps(format)) {
		complain("'%s' has no place for single scopes of warps: chrome and perfetto have",
			 format->name);
		return STATUS_USAGE;
	}
	t = warps_open(paths[0], &failed);
	if (!t || !t->n_launches) {
		*ret_none = !failed;
		warps_close(t);
		return STATUS_FAILED;
	}
	r = save(t, format, o, out, paths[0]);
	warps_close(t);
	return r;
}
