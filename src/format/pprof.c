/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The profile.proto of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto), by
 * hand: varints and strings with a length before them. A frame is a function and a location of the
 * same number. The file is gzip, as pprof wants it, but stored: this needs no library. */
#include "format/pprof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/export.h"
#include "format/protobuf.h"

enum { STRING_TYPE = 1, STRING_UNIT = 2, STRING_WRITER = 3, STRING_FRAMES = 4 };
/* of each frame: */
enum { STRING_NAME, STRING_RAW, STRING_FILE, STRINGS_A_FRAME };

#define UNIT_MAX 64

struct pprof {
	const struct session *s;
	struct export_stacks in;
	struct buf file, message, inner; /* inner: a message within a message */
	uint32_t *node_of;               /* by frame: export_frame_nodes() */
};

static void put_string(struct pprof *x, const char *text, size_t len)
{
	buf_clear(&x->message);
	export_put_text(&x->message, text, len);
	pb_message(&x->file, PROFILE_STRING, &x->message);
}

static void put_word(struct pprof *x, const char *text)
{
	put_string(x, text, strlen(text));
}

/* ---- the profile ---- */

static void put_type(struct pprof *x)
{
	buf_clear(&x->message);
	pb_u64(&x->message, TYPE_TYPE, STRING_TYPE);
	pb_u64(&x->message, TYPE_UNIT, STRING_UNIT);
	pb_message(&x->file, PROFILE_SAMPLE_TYPE, &x->message);
}

/* The leaf comes first. */
static int put_sample(struct pprof *x, uint32_t node)
{
	int r = export_path(x->s, node, &x->in.path);

	buf_clear(&x->message);
	buf_clear(&x->inner);
	for (size_t i = r < 0 ? 0 : x->in.path.n; i-- > 0;)
		pb_varint(&x->inner, x->s->nodes[x->in.path.nodes[i]].frame + UINT64_C(1));
	pb_message(&x->message, SAMPLE_LOCATION, &x->inner);
	buf_clear(&x->inner);
	pb_varint(&x->inner, x->in.whole[node]);
	pb_message(&x->message, SAMPLE_VALUE, &x->inner);
	pb_message(&x->file, PROFILE_SAMPLE, &x->message);
	return r;
}

static bool is_raw(struct pprof *x, uint32_t frame)
{
	uint32_t node = x->node_of[frame];

	return node == SESSION_NONE ||
	       export_name(&x->in.names, node) == export_raw_name(x->s, node);
}

static void put_frame(struct pprof *x, uint32_t frame)
{
	const struct session_frame *f = &x->s->frames[frame];
	uint64_t string = STRING_FRAMES + STRINGS_A_FRAME * (uint64_t)frame;

	buf_clear(&x->message);
	buf_clear(&x->inner);
	pb_u64(&x->inner, LINE_FUNCTION, frame + UINT64_C(1));
	pb_u64(&x->inner, LINE_LINE, f->line);
	pb_u64(&x->message, LOCATION_ID, frame + UINT64_C(1));
	pb_message(&x->message, LOCATION_LINE, &x->inner);
	pb_message(&x->file, PROFILE_LOCATION, &x->message);
	buf_clear(&x->message);
	pb_u64(&x->message, FUNCTION_ID, frame + UINT64_C(1));
	pb_u64(&x->message, FUNCTION_NAME, string + STRING_NAME);
	pb_u64(&x->message, FUNCTION_SYSTEM_NAME,
	       string + (is_raw(x, frame) ? STRING_NAME : STRING_RAW));
	if (f->file)
		pb_u64(&x->message, FUNCTION_FILE, string + STRING_FILE);
	pb_message(&x->file, PROFILE_FUNCTION, &x->message);
}

/* pprof writes a unit that it does not know behind the number: 42 is "42x1e-5ns". */
static const char *unit_of(const struct export_stacks *x, char text[UNIT_MAX])
{
	const struct metric *m = derive_metric(x->s, x->metric);
	char scale[EXPORT_SCALE_MAX];

	if (x->decimals) {
		snprintf(text, UNIT_MAX, "x%s%s", export_scale(x, scale), m->unit);
		return text;
	}
	if (!strcmp(m->unit, "ns"))
		return "nanoseconds";
	return !strcmp(m->unit, "B") ? "bytes" : "count";
}

static void put_strings(struct pprof *x)
{
	const struct metric *m = derive_metric(x->s, x->in.metric);
	size_t bare = metric_bare_len(m->name);
	char unit[UNIT_MAX];

	put_word(x, "");
	put_string(x, m->name, bare ? bare : strlen(m->name));
	put_word(x, unit_of(&x->in, unit));
	put_word(x, PACKAGE_STRING); /* names are ours: stacks_are_ours() */
	for (uint32_t i = 0; i < x->s->n_frames; i++) {
		const struct session_frame *f = &x->s->frames[i];
		uint32_t node = x->node_of[i];

		put_word(x, node == SESSION_NONE ? "" : export_name(&x->in.names, node));
		put_word(x, is_raw(x, i) ? "" : export_raw_name(x->s, node));
		put_string(x, strtab_str(x->s->strings, f->file),
			   strtab_len(x->s->strings, f->file));
	}
}

static int put_profile(struct pprof *x)
{
	int r = 0;

	x->node_of = export_frame_nodes(&x->in);
	if (!x->node_of)
		return -ENOMEM;
	put_type(x);
	for (uint32_t i = 0; r == 0 && i < x->s->n_nodes; i++)
		if (x->in.whole[i])
			r = put_sample(x, i);
	for (uint32_t i = 0; r == 0 && i < x->s->n_frames; i++)
		put_frame(x, i);
	if (r == 0)
		put_strings(x);
	pb_u64(&x->file, PROFILE_TIME_NANOS, x->s->start_ns);
	if (x->s->end_ns > x->s->start_ns && x->s->start_ns)
		pb_u64(&x->file, PROFILE_DURATION_NANOS, x->s->end_ns - x->s->start_ns);
	pb_u64(&x->file, PROFILE_COMMENT, STRING_WRITER);
	return r < 0 ? r : x->file.error ? x->file.error : x->message.error;
}

/* ---- gzip ---- */

/* The CRC of RFC 1952, eight bits at a time. */
static uint32_t crc32_of(const char *data, size_t len)
{
	uint32_t table[256], crc = 0xffffffff;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (unsigned k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (size_t i = 0; i < len; i++)
		crc = crc >> 8 ^ table[(crc ^ (unsigned char)data[i]) & 255];
	return ~crc;
}

static void put_little(struct out *out, uint32_t v, unsigned n)
{
	for (; n > 0; n--, v >>= 8)
		out_putc(out, (char)v);
}

/* Blocks that are stored as they are (RFC 1951, 3.2.4). */
static void put_gzip(struct out *out, const char *data, size_t len)
{
	static const char head[10] = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff'};
	size_t at = 0, n;

	out_put(out, head, sizeof(head));
	do {
		n = MIN(len - at, (size_t)UINT16_MAX);
		out_putc(out, at + n == len);
		put_little(out, (uint32_t)n, 2);
		put_little(out, ~(uint32_t)n, 2);
		if (n)
			out_put(out, data + at, n);
		at += n;
	} while (at < len);
	put_little(out, crc32_of(data, len), 4);
	put_little(out, (uint32_t)len, 4);
}

static int pprof_write(const struct session *s, const struct write_options *options,
		       struct out *out)
{
	struct pprof x = {.s = s};
	int r = export_stacks_init(&x.in, s, options);

	buf_init(&x.file, 0);
	buf_init(&x.message, 0);
	buf_init(&x.inner, 0);
	if (r == 0)
		r = export_stacks_round(&x.in, INT64_MAX);
	if (r == 0)
		r = put_profile(&x);
	if (r == 0)
		put_gzip(out, x.file.data, x.file.len);
	buf_done(&x.file);
	buf_done(&x.message);
	buf_done(&x.inner);
	free(x.node_of);
	export_stacks_done(&x.in);
	return r < 0 ? r : out->error;
}

const struct format format_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.names = NAME_DEMANGLED,
	.help = "of and for pprof: a protobuf in gzip",
	.detect = pprof_detect,
	.read = pprof_read,
	.write = pprof_write,
};
