/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes are read as a Hatchet file or refused, and what was read is written, read
 * again (as MessagePack too) and exported. Built with -fsanitize=fuzzer it looks for new inputs; by
 * itself it runs the files and folders that it is given once each.
 *
 *   make fuzz-hatchet      clang, until it is stopped */
#include "config.h" // IWYU pragma: keep

#include <stdint.h>
#include <stdlib.h>

#include "format/hatchet.h"
#include "harness.h"
#include "report/report.h"

static void write_json(const struct session *s)
{
	struct out *o = must(malloc(sizeof(*o)));
	struct buf text;

	buf_init(&text, 0);
	out_to_buf(o, &text);
	if (format_json.write(s, NULL, o) < 0 || out_flush(o) < 0)
		abort();
	buf_done(&text);
	free(o);
}

static void report(const struct session *s)
{
	static const struct snapshot_spec spec;
	const struct report_options options = {.views = report_all_views(), .width = 60};
	struct snapshot *snap = must(snapshot_new(s, &spec));
	struct out *o = must(malloc(sizeof(*o)));
	struct buf text;

	if (snapshot_update(snap, 1) < 0)
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
	struct session *s = read_bytes(hatchet_read, (const char *)data, len, NULL);

	if (s) {
		write_and_read(&format_hatchet, s);
		write_and_read(&format_msgpack, s);
		write_json(s);
		report(s);
	}
	session_free(s);
	return 0;
}
