/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes are read as a Hatchet file or refused, and what was read is written, read
 * again and exported. Built with -fsanitize=fuzzer it looks for new inputs; by itself it runs the
 * files and folders that it is given once each.
 *
 *   make fuzz-hatchet      clang, until it is stopped */
#include "config.h" // IWYU pragma: keep

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "format/format.h"
#include "format/hatchet.h"
#include "format/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct session *read_bytes(const char *data, size_t len)
{
	struct reader_memory memory = {data, len, 0};
	struct format_error error = {0};
	struct session *s = session_new();
	struct reader_input in;

	if (!s)
		abort();
	reader_init_memory(&in, &memory);
	if (hatchet_read(&in, s, &error) == 0)
		return s;
	if (!error.code || !error.reason[0])
		abort();
	return session_free(s);
}

static void write_bytes(const struct format *format, const struct session *s, struct buf *text)
{
	struct out *o = malloc(sizeof(*o));

	if (!o)
		abort();
	buf_init(text, 0);
	out_to_buf(o, text);
	if (format->write(s, NULL, o) < 0 || out_flush(o) < 0)
		abort();
	free(o);
}

static void report(const struct session *s)
{
	static const struct snapshot_spec spec;
	static const struct report_options options = {.sections = REPORT_ALL, .width = 60};
	struct snapshot *snap = snapshot_new(s, &spec);
	struct out *o = malloc(sizeof(*o));
	struct buf text;

	if (!snap || !o || snapshot_update(snap, 1) < 0)
		abort();
	buf_init(&text, 0);
	out_to_buf(o, &text);
	if (report_text(snap, &options, o) < 0)
		abort();
	out_flush(o);
	buf_done(&text);
	snapshot_free(snap);
	free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct session *s = read_bytes((const char *)data, len), *again;
	struct buf text;

	if (!s)
		return 0;
	write_bytes(&format_hatchet, s, &text);
	again = read_bytes(text.data, text.len);
	if (!again || again->n_nodes != s->n_nodes)
		abort();
	session_free(again);
	buf_done(&text);
	write_bytes(&format_json, s, &text);
	buf_done(&text);
	report(s);
	session_free(s);
	return 0;
}
