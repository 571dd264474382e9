/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes are given to the readers of what other tools write, as what they look
 * like, packed, and as a Chrome trace in any case. What was read is a session that can be looked at
 * and written. What is a file of annotations is joined with a trace. The corpus is
 * tests/fuzz/corpus_import.
 *
 *   make fuzz-import      clang, until it is stopped */
#include "config.h" // IWYU pragma: keep

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "format/annotations.h"
#include "format/gunzip.h"
#include "harness.h"

static void use(struct session *s)
{
	if (s) {
		look_at(s);
		write_and_read(&format_hatchet, s);
	}
	session_free(s);
}

#ifdef HAVE_ZLIB
/* As gzip packs what cannot be made smaller: blocks of up to 65,535 bytes as they are. */
static void pack(const uint8_t *data, size_t len, struct buf *ret)
{
	static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	uint32_t tail[] = {(uint32_t)crc32(0, data, (uInt)len), (uint32_t)len};
	size_t at = 0, n;

	buf_init(ret, 0);
	buf_put(ret, head, sizeof(head));
	do {
		n = MIN(len - at, 65535);
		buf_putc(ret, at + n == len);
		buf_put(ret, &(uint16_t){(uint16_t)n}, 2);
		buf_put(ret, &(uint16_t){(uint16_t)~n}, 2);
		buf_put(ret, data + at, n);
		at += n;
	} while (at < len);
	buf_put(ret, tail, sizeof(tail));
	if (ret->error)
		abort();
}

/* What is packed is read, or refused, for the same reason. */
static void read_packed(const uint8_t *data, size_t len, const struct session *plain,
			const struct format_error *plain_error)
{
	struct format_error error = {0};
	struct session *s;
	struct buf packed;

	pack(data, len, &packed);
	s = read_bytes(format_read, packed.data, packed.len, &error);
	if (!s != !plain || (s && s->n_nodes != plain->n_nodes) ||
	    error.code != plain_error->code || strcmp(error.reason, plain_error->reason) != 0 ||
	    error.offset != plain_error->offset)
		abort();
	session_free(s);
	buf_done(&packed);
}
#endif

/* What it says of the nodes 1, 2 and 3 of graphs. */
static void join(const uint8_t *data, size_t len)
{
#define WORK(node, ts)                                                                             \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": " ts ", \"dur\": 1, "       \
	"\"args\": {\"graph node id\": " node ", \"name\": \"a\"}}"
	static const char trace[] = "{\"traceEvents\": [" WORK("1", "1") "," WORK(
		"2", "2") "," WORK("1", "3") "," WORK("3", "4") "]}";
#undef WORK
	struct reader_memory memory = {(const char *)data, len, 0};
	struct format_error error = {0};
	struct annotations *a = NULL;
	struct reader_input in;
	struct session *s;

	reader_init_memory(&in, &memory);
	if (annotations_read(&in, &a, &error) < 0) {
		if (!error.code || !error.reason[0])
			abort();
		return;
	}
	s = must(session_new());
	memory = (struct reader_memory){trace, sizeof(trace) - 1, 0};
	reader_init_memory(&in, &memory);
	in.annotations = a;
	if (format_read(&in, s, &error) < 0 ||
	    (annotations_settle(a, s, "trace", &error) < 0 && !error.reason[0]))
		abort();
	annotations_free(a);
	use(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct format_error error = {0};
	struct session *s = read_bytes(format_read, (const char *)data, len, &error);

#ifdef HAVE_ZLIB
	/* What is packed twice is refused. On a broken page SQLite looks at memory that nobody
	 * wrote: what it says of one may change. */
	if (!gunzip_detect((const char *)data, len) &&
	    !format_sqlite.detect((const char *)data, len))
		read_packed(data, len, s, &error);
#endif
	use(s);
	join(data, len);
	use(read_bytes(format_chrome.read, (const char *)data, len, NULL));
	return 0;
}
