/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes are a frame stream, whole, in pieces or as a tape, and all three give the
 * same session, which can be exported and shown. Built with -fsanitize=fuzzer it looks for new
 * inputs; by itself it runs the files and folders that it is given once each.
 *
 *   make fuzz-wire      clang, until it is stopped */
#include "config.h" // IWYU pragma: keep

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"
#include "format/format.h"
#include "format/hatchet.h"
#include "report/report.h"
#include "wire/decode.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* The stream in pieces whose sizes follow from its content; max = len: in one piece. */
static struct session *feed(const uint8_t *data, size_t len, size_t max)
{
	struct session *s = must(session_new());
	struct wire_decoder *d = must(wire_decoder_new(s));
	uint64_t seed = hash_bytes(data, len);
	size_t at = 0, n;

	while (at < len) {
		seed = hash_u64(seed + at);
		n = max < len ? seed % max + 1 : len;
		n = MIN(n, len - at);
		/* A copy of exact size, so that a read past its end is seen. */
		uint8_t *piece = must(malloc(n));
		memcpy(piece, data + at, n);
		if (wire_decoder_feed(d, piece, n) < 0)
			abort();
		free(piece);
		at += n;
	}
	if (wire_decoder_feed(d, NULL, 0) < 0)
		abort();
	wire_decoder_free(d);
	return s;
}

/* A tape: its header, then the stream. */
struct tape {
	struct wire_tape_header head;
	const uint8_t *data;
	size_t len, at;
};

static ssize_t tape_read(void *ctx, void *data, size_t n)
{
	struct tape *t = ctx;

	n = MIN(n, 1 + (t->at * 31 + t->len) % 5000);
	if (t->at < sizeof(t->head)) {
		n = MIN(n, sizeof(t->head) - t->at);
		memcpy(data, (const char *)&t->head + t->at, n);
	} else {
		n = MIN(n, t->len - (t->at - sizeof(t->head)));
		if (n)
			memcpy(data, t->data + (t->at - sizeof(t->head)), n);
	}
	t->at += n;
	return (ssize_t)n;
}

static struct session *play(const uint8_t *data, size_t len)
{
	struct tape t = {.head = {.magic = WIRE_TAPE_MAGIC,
				  .version = WIRE_VERSION,
				  .header_size = sizeof(t.head)},
			 .data = data,
			 .len = len};
	struct session *s = must(session_new());
	uint64_t offset;

	/* Its own header, where it has one that is taken. */
	if (len >= sizeof(t.head) && wire_is_tape(data, len)) {
		memcpy(&t.head, data, sizeof(t.head));
		t.data += sizeof(t.head);
		t.len -= sizeof(t.head);
	}
	if (wire_read_tape(tape_read, &t, NULL, s, &offset) < 0)
		return session_free(s);
	if (offset != sizeof(t.head) + t.len)
		abort();
	return s;
}

static int discard(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
	return 0;
}

static void export(const struct session *s)
{
	static const struct snapshot_spec spec = {.group = GROUP_STREAM};
	const struct report_options options = {.views = report_all_views(), .width = 60};
	struct snapshot *snap = must(snapshot_new(s, &spec));
	struct out *o = must(malloc(sizeof(*o)));

	out_init(o, discard, NULL);
	if (format_json.write(s, NULL, o) < 0 || format_hatchet.write(s, NULL, o) < 0 ||
	    snapshot_update(snap, 1) < 0 || report_text(snap, &options, o) < 0 || out_flush(o) < 0)
		abort();
	snapshot_free(snap);
	free(o);
}

/* Pieces must not matter. */
static void same(const struct session *a, const struct session *b)
{
	if (a->n_nodes != b->n_nodes || a->n_rows != b->n_rows || a->n_lanes != b->n_lanes ||
	    a->n_processes != b->n_processes || a->generation != b->generation ||
	    strtab_count(a->strings) != strtab_count(b->strings) ||
	    memcmp(a->losses, b->losses, sizeof(a->losses)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct session *whole = feed(data, len, len), *pieces = feed(data, len, 100), *tape;

	same(whole, pieces);
	export(pieces);
	session_free(pieces);
	session_free(whole);
	tape = play(data, len);
	if (tape)
		export(tape);
	session_free(tape);
	return 0;
}
