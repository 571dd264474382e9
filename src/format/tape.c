/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The raw stream of a run, which is wire/wire.h on disk. */
#include <errno.h>
#include <string.h>

#include "format/format.h"
#include "wire/decode.h"

static ssize_t tape_bytes(void *ctx, void *data, size_t n)
{
	return reader_read(ctx, data, n);
}

static int tape_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	uint64_t offset = 0;
	int r = wire_read_tape(tape_bytes, in, in->namer, s, &offset);

	if (r < 0)
		return format_fail(error, r, offset, "%s",
				   r == -EBADMSG ? "not a tape of this version" : strerror(-r));
	return 0;
}

static bool tape_detect(const char *head, size_t n)
{
	return wire_is_tape(head, n);
}

const struct format format_tape = {
	.name = "tape",
	.suffix = ".tape",
	.help = "the raw stream of a run (record --tape)",
	.detect = tape_detect,
	.read = tape_read,
};
