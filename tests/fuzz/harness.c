/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "harness.h"

#include <stdlib.h>

#include "core/snapshot.h"

void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

struct session *read_bytes(read_function read, const char *data, size_t len,
			   struct format_error *ret_error)
{
	struct reader_memory memory = {data, len, 0};
	struct format_error error = {0};
	struct session *s = must(session_new());
	struct reader_input in;

	reader_init_memory(&in, &memory);
	if (read(&in, s, &error) == 0)
		return s;
	if (!error.code || !error.reason[0])
		abort();
	if (ret_error)
		*ret_error = error;
	return session_free(s);
}

void write_and_read(const struct format *format, const struct session *s)
{
	struct out *o = must(malloc(sizeof(*o)));
	struct session *again;
	struct buf text;

	buf_init(&text, 0);
	out_to_buf(o, &text);
	if (format->write(s, NULL, o) < 0 || out_flush(o) < 0)
		abort();
	again = read_bytes(format->read, text.data, text.len, NULL);
	if (!again || again->n_nodes != s->n_nodes)
		abort();
	session_free(again);
	buf_done(&text);
	free(o);
}

void look_at(const struct session *s)
{
	static const struct snapshot_spec spec;
	struct snapshot *snap = must(snapshot_new(s, &spec));

	if (snapshot_update(snap, 1) < 0)
		abort();
	snapshot_free(snap);
}
