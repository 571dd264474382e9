/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as single scopes of warps: as a file of ours, once as it is and once with the right checksums; as a buffer of
 * Triton's Proton; as its Chrome trace. Of what was read statistics are made, and it is written in each way; our own files and
 * Chrome traces of it are read again. The corpus is tests/fuzz/corpus_warps.
 *
 *   make fuzz-warps      clang, until it is stopped */
#include "config.h" // IWYU pragma: keep

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/chrome.h"
#include "format/warps.h"
#include "harness.h"
#include "intra/warp_file.h"
#include "intra/warp_stats.h"

#define KINDS_MOST                                                                                 \
	(1 << 12) /* of what is looked at as statistics: names and places are the fuzzer's */

static void holds(bool what)
{
	if (!what)
		abort();
}

static int put(void *ctx, const void *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return ((struct buf *)ctx)->error;
}

typedef int (*trace_reader)(struct reader_input *in, struct warp_trace *t,
			    struct format_error *error);

static int as_warps(struct reader_input *in, struct warp_trace *t, struct format_error *error)
{
	struct warps_said said;

	return warps_read_trace(in, t, &said, error);
}

/* 0, or it was refused with a code and a reason. */
static int read_trace(trace_reader read, const void *data, size_t n, struct warp_trace *ret)
{
	struct reader_memory memory = {.data = data, .len = n};
	struct format_error error = {0};
	struct reader_input in;
	int r;

	holds(warp_trace_init(ret) == 0);
	reader_init_memory(&in, &memory);
	holds(reader_peek(&in) == 0);
	r = read(&in, ret, &error);
	holds(r == 0 || (error.code && *error.reason));
	return r;
}

/* Each scope is counted once. */
static void look_at_stats(const struct warp_trace *t)
{
	struct warp_stats s;
	uint64_t n = 0;

	holds(warp_stats_init(&s, t, 0, t->n_launches) == 0);
	for (size_t i = 0; i < s.n_stats; i++) {
		n += s.stats[i].n + s.stats[i].n_open;
		holds(s.stats[i].parent == WARP_TRACE_NO_PARENT || s.stats[i].parent < i);
		holds(s.stats[i].outliers + s.stats[i].n_outliers <= s.n_outliers);
	}
	holds(n == t->n_scopes);
	warp_stats_done(&s);
}

static void write_own(const struct warp_trace *t)
{
	struct buf file;
	struct warp_writer w = {.put = put, .ctx = &file};
	struct warp_trace back;

	buf_init(&file, 0);
	holds(warp_writer_begin(&w) == 0);
	for (size_t i = 0; i < t->n_launches; i++)
		holds(warp_writer_launch(&w, t, i) == 0);
	warp_writer_done(&w);
	holds(read_trace(as_warps, file.data, file.len, &back) == 0);
	holds(back.n_launches == t->n_launches && back.n_warps == t->n_warps &&
	      back.n_scopes == t->n_scopes);
	warp_trace_done(&back);
	buf_done(&file);
}

static void write_others(const struct warp_trace *t, const struct warps_write_options *o)
{
	struct out *out = must(malloc(sizeof(*out)));
	struct warp_trace back;
	struct buf text;
	int r;

	buf_init(&text, 0);
	out_to_buf(out, &text);
	r = warps_chrome(t, o, out);
	holds(out_flush(out) == 0 && (r == 0 || r == -ENODATA));
	holds(read_trace(chrome_read_warps, text.data, text.len, &back) == 0);
	warp_trace_done(&back);
	buf_clear(&text);
	r = warps_perfetto(t, o, out);
	holds(out_flush(out) == 0 && (r == 0 || r == -ENODATA));
	buf_done(&text);
	free(out);
}

static void use(const struct warp_trace *t)
{
	struct session *s = must(session_new());

	if (t->n_scopes < KINDS_MOST) {
		look_at_stats(t);
		write_others(t, &(struct warps_write_options){0});
		write_others(t, &(struct warps_write_options){.in_ns = true, .cost = 7});
		holds(warps_session(t, s) == 0);
		look_at(s);
	}
	write_own(t);
	session_free(s);
}

static void read_and_use(trace_reader read, const void *data, size_t n)
{
	struct warp_trace t;

	if (read_trace(read, data, n, &t) == 0)
		use(&t);
	warp_trace_done(&t);
}

/* As warp_file.h says. */
static uint64_t checksum(const uint8_t *piece, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325), word;

	for (size_t i = 0; i < n; i += i ? 8 : 16) {
		memcpy(&word, piece + i, 8);
		h = (h ^ le64toh(word)) * UINT64_C(0x100000001b3);
		h ^= h >> 32;
	}
	return h;
}

/* Nobody finds a checksum by chance. */
static void mend(uint8_t *data, size_t len)
{
	for (size_t at = 0, n; len - at >= sizeof(struct warp_file_piece); at += n) {
		struct warp_file_piece head;

		memcpy(&head, data + at, sizeof(head));
		n = sizeof(head) + (size_t)le32toh(head.bytes);
		if (n % 8 || n > len - at)
			return;
		head.checksum = htole64(checksum(data + at, n));
		memcpy(data + at, &head, sizeof(head));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *mended = must(malloc(len + 1));

	read_and_use(as_warps, data, len);
	read_and_use(chrome_read_warps, data, len);
	if (len)
		memcpy(mended, data, len);
	mend(mended, len);
	read_and_use(as_warps, mended, len);
	free(mended);
	return 0;
}
