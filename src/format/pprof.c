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

/* Strings by number: "", name and unit of each sample type, the writer, three of each frame. */
enum { STRING_TYPES = 1 };
enum { STRING_TYPE, STRING_UNIT, STRINGS_A_TYPE };
enum { STRING_NAME, STRING_RAW, STRING_FILE, STRINGS_A_FRAME };

#define UNIT_MAX 64

struct pprof {
	const struct session *s;
	struct export_weights in;
	struct export_names names;
	struct export_path path;
	struct buf file, message, inner; /* inner: a message within a message */
	uint32_t *node_of;               /* by frame: export_frame_nodes() */
};

static uint64_t type_string(size_t i)
{
	return STRING_TYPES + STRINGS_A_TYPE * (uint64_t)i;
}

static uint64_t writer_string(const struct pprof *x)
{
	return type_string(x->in.n);
}

static uint64_t frame_string(const struct pprof *x, uint32_t frame)
{
	return writer_string(x) + 1 + STRINGS_A_FRAME * (uint64_t)frame;
}

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

static void put_types(struct pprof *x)
{
	uint32_t time = derive_time(x->s);

	for (size_t i = 0; i < x->in.n; i++) {
		buf_clear(&x->message);
		pb_u64(&x->message, TYPE_TYPE, type_string(i) + STRING_TYPE);
		pb_u64(&x->message, TYPE_UNIT, type_string(i) + STRING_UNIT);
		pb_message(&x->file, PROFILE_SAMPLE_TYPE, &x->message);
		/* Without it, pprof begins with the last one. */
		if (x->in.v[i].metric == time)
			pb_u64(&x->file, PROFILE_DEFAULT_TYPE, type_string(i) + STRING_TYPE);
	}
}

static bool has_values(const struct pprof *x, uint32_t node)
{
	for (size_t i = 0; i < x->in.n; i++)
		if (x->in.v[i].whole[node])
			return true;
	return false;
}

/* The leaf comes first. */
static int put_sample(struct pprof *x, uint32_t node)
{
	int r = export_path(x->s, node, &x->path);

	buf_clear(&x->message);
	buf_clear(&x->inner);
	for (size_t i = r < 0 ? 0 : x->path.n; i-- > 0;)
		pb_varint(&x->inner, x->s->nodes[x->path.nodes[i]].frame + UINT64_C(1));
	pb_message(&x->message, SAMPLE_LOCATION, &x->inner);
	buf_clear(&x->inner);
	for (size_t i = 0; i < x->in.n; i++)
		pb_varint(&x->inner, x->in.v[i].whole[node]);
	pb_message(&x->message, SAMPLE_VALUE, &x->inner);
	pb_message(&x->file, PROFILE_SAMPLE, &x->message);
	return r;
}

static bool is_raw(struct pprof *x, uint32_t frame)
{
	uint32_t node = x->node_of[frame];

	return node == SESSION_NONE || export_name(&x->names, node) == export_raw_name(x->s, node);
}

static void put_frame(struct pprof *x, uint32_t frame)
{
	const struct session_frame *f = &x->s->frames[frame];
	uint64_t string = frame_string(x, frame);

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

/* The unit of a metric: what it says, or what stands in parentheses behind its name. Returns its length,
 * and how much of the name is left without it. */
static size_t unit_in(const struct metric *m, const char **ret, size_t *ret_bare)
{
	size_t len = strlen(m->name), bare = metric_bare_len(m->name), n = 0;
	const char *open = m->name + bare;

	/* Not "(exc)" and "(pty)", which say how it adds up. */
	if (bare && len - bare > 3 && !strncmp(open, " (", 2) && strcmp(open, " (exc)") != 0 &&
	    strcmp(open, " (pty)") != 0)
		n = strcspn(open + 2, "()");
	*ret_bare = n && open[n + 2] == ')' && !open[n + 3] ? bare : len;
	*ret = *m->unit || *ret_bare == len ? m->unit : open + 2;
	return *ret == m->unit ? strlen(m->unit) : n;
}

/* pprof writes a unit that it does not know behind the number: 42 is "42x1e-5ns". */
static void put_type_strings(struct pprof *x, const struct export_stacks *stacks)
{
	const struct metric *m = derive_metric(x->s, stacks->metric);
	char scale[EXPORT_SCALE_MAX], text[UNIT_MAX];
	const char *unit;
	size_t bare, n = unit_in(m, &unit, &bare);

	put_string(x, m->name, bare);
	if (stacks->decimals) {
		snprintf(text, sizeof(text), "x%s%.*s", export_scale(stacks, scale),
			 (int)MIN(n, 40u), unit);
		put_word(x, text);
	} else if (n == 2 && !memcmp(unit, "ns", 2)) {
		put_word(x, "nanoseconds");
	} else if (n == 1 && *unit == 'B') {
		put_word(x, "bytes");
	} else if (n) {
		put_string(x, unit, n);
	} else {
		put_word(x, "count");
	}
}

static void put_strings(struct pprof *x)
{
	put_word(x, "");
	for (size_t i = 0; i < x->in.n; i++)
		put_type_strings(x, &x->in.v[i]);
	put_word(x, PACKAGE_STRING); /* names are ours: stacks_are_ours() */
	for (uint32_t i = 0; i < x->s->n_frames; i++) {
		const struct session_frame *f = &x->s->frames[i];
		uint32_t node = x->node_of[i];

		put_word(x, node == SESSION_NONE ? "" : export_name(&x->names, node));
		put_word(x, is_raw(x, i) ? "" : export_raw_name(x->s, node));
		put_string(x, strtab_str(x->s->strings, f->file),
			   strtab_len(x->s->strings, f->file));
	}
}

static int put_profile(struct pprof *x)
{
	int r = 0;

	x->node_of = export_frame_nodes(x->s, x->in.v[0].hidden);
	if (!x->node_of)
		return -ENOMEM;
	put_types(x);
	for (uint32_t i = 0; r == 0 && i < x->s->n_nodes; i++)
		if (has_values(x, i))
			r = put_sample(x, i);
	for (uint32_t i = 0; r == 0 && i < x->s->n_frames; i++)
		put_frame(x, i);
	if (r == 0)
		put_strings(x);
	pb_u64(&x->file, PROFILE_TIME_NANOS, x->s->start_ns);
	if (x->s->end_ns > x->s->start_ns && x->s->start_ns)
		pb_u64(&x->file, PROFILE_DURATION_NANOS, x->s->end_ns - x->s->start_ns);
	pb_u64(&x->file, PROFILE_COMMENT, writer_string(x));
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
	int r = export_weights_init(&x.in, s, options);

	buf_init(&x.file, 0);
	buf_init(&x.message, 0);
	buf_init(&x.inner, 0);
	if (r == 0)
		r = export_stacks_limit(x.in.v, x.in.n);
	if (r == 0)
		r = export_weights_round(&x.in, INT64_MAX);
	if (r == 0)
		r = export_names_init(&x.names, s, options);
	if (r == 0)
		r = put_profile(&x);
	if (r == 0)
		put_gzip(out, x.file.data, x.file.len);
	buf_done(&x.file);
	buf_done(&x.message);
	buf_done(&x.inner);
	free(x.node_of);
	free(x.path.nodes);
	export_names_done(&x.names);
	export_weights_done(&x.in);
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
