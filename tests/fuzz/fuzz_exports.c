/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes are given to each reader but Hatchet's (which has its own target), and
 * what was read is written in every format. The corpus is tests/fuzz/corpus_exports. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* Some names are readable otherwise, and some as they are. */
static char *other_name(const char *raw, enum frame_kind kind, unsigned level)
{
	return (raw[0] + kind + level) % 2 ? strdup(raw + 1) : NULL;
}

static const struct naming other_naming = {.name = other_name};

static void write_all(const struct session *s)
{
	const struct write_options options = {.names = (enum name_mode)(s->n_nodes % NAME_N),
					      .naming = &other_naming};
	struct out *o = must(malloc(sizeof(*o)));
	struct buf text;
	int r;

	buf_init(&text, 0);
	for (size_t i = 0; formats[i]; i++) {
		if (!formats[i]->write)
			continue;
		buf_clear(&text);
		out_to_buf(o, &text);
		r = formats[i]->write(s, &options, o);
		if (r == -ENODATA && !s->n_intervals)
			continue;
		if (r < 0 || out_flush(o) < 0)
			abort();
	}
	buf_done(&text);
	free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	for (size_t i = 0; formats[i]; i++) {
		struct session *s;

		if (!formats[i]->read || formats[i] == &format_hatchet)
			continue;
		formats[i]->detect((const char *)data, MIN(len, READER_HEAD));
		s = read_bytes(formats[i]->read, (const char *)data, len, NULL);
		if (s)
			write_all(s);
		session_free(s);
	}
	return 0;
}
