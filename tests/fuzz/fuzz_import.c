/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes are given to the readers of what other tools write, as what they look like
 * and as a Chrome trace in any case. What was read is a session that can be looked at and written.
 * The corpus is tests/fuzz/corpus_import.
 *
 *   make fuzz-import      clang, until it is stopped */
#include "config.h" // IWYU pragma: keep

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/snapshot.h"
#include "format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

typedef int (*read_function)(struct reader_input *in, struct session *s, struct format_error *error);

static struct session *read_bytes(read_function read, const char *data, size_t len)
{
	struct reader_memory memory = {data, len, 0};
	struct format_error error = {0};
	struct session *s = session_new();
	struct reader_input in;

	if (!s)
		abort();
	reader_init_memory(&in, &memory);
	if (read(&in, s, &error) == 0)
		return s;
	if (!error.code || !error.reason[0])
		abort();
	return session_free(s);
}

static void write_hatchet(const struct session *s)
{
	struct out *o = malloc(sizeof(*o));
	struct buf text;

	if (!o)
		abort();
	buf_init(&text, 0);
	out_to_buf(o, &text);
	if (format_hatchet.write(s, NULL, o) < 0 || out_flush(o) < 0)
		abort();
	/* What was written is read again, whatever was in it. */
	session_free(read_bytes(format_hatchet.read, text.data, text.len));
	buf_done(&text);
	free(o);
}

static void look(const struct session *s)
{
	static const struct snapshot_spec spec;
	struct snapshot *snap = snapshot_new(s, &spec);

	if (!snap || snapshot_update(snap, 1) < 0)
		abort();
	snapshot_free(snap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const read_function reads[] = {format_read, format_chrome.read};

	for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
		struct session *s = read_bytes(reads[i], (const char *)data, len);

		if (!s)
			continue;
		look(s);
		write_hatchet(s);
		session_free(s);
	}
	return 0;
}
