/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/format.h"

#include <errno.h>
#include <string.h>

#include "format/annotations.h"
#include "format/gunzip.h"
#include "format/hatchet.h"
#include "format/unknown.h"
#include "format/write_file.h"

const struct format format_hatchet = {
	.name = "hatchet",
	.suffix = ".hatchet",
	.names = NAME_RAW,
	.help = "Hatchet JSON, as Triton's Proton writes and reads it",
	.detect = hatchet_detect,
	.read = hatchet_read,
	.write = hatchet_write,
};

/* clang-format off */
const struct format *const formats[] = {
	&format_chrome, /* before hatchet, which takes every list */
	&format_hatchet,
	&format_warps,
	&format_sqlite,
	&format_tape,
	&format_speedscope, /* before json: the longer suffix */
	&format_json,
	&format_msgpack,
	&format_csv,
	&format_markdown,
	&format_folded,
	&format_pprof,
	&format_callgrind,
	&format_perfetto,
	&format_flamegraph,
	&format_dot,
	NULL,
};
/* clang-format on */

const struct format *format_by_name(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const struct format *format_by_path(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; formats[i]; i++) {
		size_t n = strlen(formats[i]->suffix);

		if (len > n && !strcmp(path + len - n, formats[i]->suffix))
			return formats[i];
	}
	return NULL;
}

const struct format *format_by_content(const char *head, size_t n)
{
	for (size_t i = 0; formats[i]; i++)
		if (formats[i]->detect && formats[i]->detect(head, n))
			return formats[i];
	return NULL;
}

/* Read bytes that are not packed, into the session ctx. */
static int read_plain(struct reader_input *in, void *ctx, struct format_error *error)
{
	struct session *s = ctx;
	int r = reader_peek(in);
	const struct format *format;
	size_t begin;

	if (r < 0)
		return format_fail_code(error, r);
	format = format_by_content(in->head, in->head_len);
	if (format)
		return format->read(in, s, error);
	r = unknown_refuse(in->head, in->head_len, error);
	if (r < 0)
		return r;
	/* JSON. An object without a known key in its head may still be a trace: traceEvents may
	 * come after any number of other members. A list is Hatchet's. The readers say what is
	 * wrong, and where. */
	begin = text_begin(in->head, in->head_len);
	format = begin < in->head_len && in->head[begin] == '{' ? &format_chrome : &format_hatchet;
	return format->read(in, s, error);
}

int format_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	int r;

	strtab_limit(s->strings, FORMAT_NAMES_MAX);
	r = gunzip_through(in, read_plain, s, error);
	if (r < 0 && strtab_is_full(s->strings))
		r = format_fail(error, -EFBIG, FORMAT_NO_OFFSET,
				"its names are more than 1 GiB together");
	strtab_limit(s->strings, 0);
	return r;
}

int format_load(const char *path, struct session **ret_session, struct format_error *error)
{
	return format_load_beside(path, &(struct format_beside){.namer = NULL}, ret_session, error);
}

int format_load_beside(const char *path, const struct format_beside *beside,
		       struct session **ret_session, struct format_error *error)
{
	_cleanup_(session_freep) struct session *s = NULL;
	_cleanup_(closep) int fd = reader_open(path);
	struct reader_input in;
	int r;

	if (fd < 0)
		return format_fail_code(error, fd);
	s = session_new();
	if (!s)
		return format_fail_code(error, -ENOMEM);
	reader_init_fd(&in, fd);
	in.annotations = beside->annotations;
	in.namer = beside->namer;
	r = format_read(&in, s, error);
	if (r == 0 && beside->annotations)
		r = annotations_settle(beside->annotations, s, path, error);
	if (r < 0)
		return r;
	if (!s->source)
		s->source = strtab_adds(s->strings, path);
	s->ended = true;
	*ret_session = s;
	s = NULL;
	return 0;
}

struct save {
	const struct format *format;
	const struct session *session;
	const struct write_options *options;
};

static int save_fill(struct out *o, void *ctx)
{
	const struct save *save = ctx;

	return save->format->write(save->session, save->options, o);
}

int format_save(const char *path, const struct format *format, const struct session *s,
		const struct write_options *options)
{
	static const struct write_options defaults;
	struct save save = {format, s, options ? options : &defaults};

	if (!format->write)
		return -ENOTSUP;
	return write_file_tagged(path, save.options->tag, save_fill, &save);
}
