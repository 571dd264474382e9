/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/folded.h"
#include "format/hatchet_kind.h"
#include "format/tokens.h"

#define LINE_MAX_BYTES ((size_t)64 << 20) /* of one stack */

struct folded {
	struct session *s;
	struct format_error *error;
	struct buf line, name;
	uint64_t offset; /* of the line */
	uint32_t lane;
	bool too_long;
};

/* The number behind the last blank. NULL: there is none. */
static const char *value_of(const char *line, size_t len)
{
	const char *p = line + len;
	unsigned digits = 0, points = 0;

	for (; p > line && ((p[-1] >= '0' && p[-1] <= '9') || p[-1] == '.'); p--)
		*(p[-1] == '.' ? &points : &digits) += 1;
	return digits && points < 2 && p - line >= 2 && (p[-1] == ' ' || p[-1] == '\t') ? p : NULL;
}

static size_t trim(const char *line, size_t len)
{
	while (len && strchr(" \t\r", line[len - 1]) && line[len - 1])
		len--;
	return len;
}

/* An object of JSON has ";" in its texts, too. */
static bool is_object(const char *p, size_t n)
{
	size_t at = text_begin(p, n), key;

	if (at == n || p[at] != '{')
		return false;
	key = at + 1 + text_blanks(p + at + 1, n - at - 1);
	return key < n && p[key] == '"';
}

/* Can a line that does not end in the head be a stack? Kernels have names of 18,000 characters. */
static bool is_long_line(const char *p, const char *end)
{
	if (is_object(p, (size_t)(end - p)))
		return false;
	if (memchr(p, ';', (size_t)(end - p)))
		return true;
	if (strchr("[{<\"", *p))
		return false;
	while (p < end && ((unsigned char)*p >= ' ' || *p == '\t' || *p == '\r'))
		p++;
	return p == end;
}

/* Text of which all lines in the head are stacks. */
bool folded_detect(const char *head, size_t n)
{
	const char *p = head, *end = head + n, *eol;
	unsigned lines = 0;
	size_t len;

	if (!n || memchr(head, 0, n) || (n > 1 && head[0] == '<' && strchr("?!", head[1])))
		return false;
	for (; p < end; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol && n == READER_HEAD)
			return lines || is_long_line(p, end);
		if (!eol)
			eol = end;
		len = trim(p, (size_t)(eol - p));
		if (len && !value_of(p, len))
			return false;
		lines += len > 0;
	}
	return lines > 0;
}

const char folded_special[5] = ";\n\r%", *const folded_escapes[4] = {"%3B", "%0A", "%0D", "%25"};

int folded_escape_at(const char *p, const char *end)
{
	for (size_t i = 0; end - p >= 3 && i < ARRAY_SIZE(folded_escapes); i++)
		if (!memcmp(p, folded_escapes[i], 3))
			return (int)i;
	return -1;
}

static void unescape(struct buf *name, const char *p, size_t len)
{
	const char *end = p + len;

	buf_clear(name);
	while (p < end) {
		int which = folded_escape_at(p, end);

		buf_putc(name, which < 0 ? *p : folded_special[which]);
		p += which < 0 ? 1 : 3;
	}
}

/* What the last frame of a stack is, nobody says: as in a Hatchet file, the name decides. */
static uint32_t child(struct folded *f, uint32_t parent, const char *p, size_t len)
{
	uint32_t name, frame;

	unescape(&f->name, p, len);
	f->too_long = f->too_long || f->name.error == -EFBIG;
	if (f->name.error)
		return SESSION_NONE;
	name = strtab_add(f->s->strings, f->name.data ? f->name.data : "", f->name.len);
	if (name == STRTAB_NONE)
		return SESSION_NONE;
	frame = session_frame_intern(f->s,
				     hatchet_guess_kind(strtab_str(f->s->strings, name),
							strtab_len(f->s->strings, name), 0),
				     name, SESSION_NONE, 0);
	return frame == SESSION_NONE ? frame : session_node_intern(f->s, parent, frame);
}

static uint32_t walk(struct folded *f, const char *p, const char *end)
{
	uint32_t node = SESSION_ROOT;
	const char *semicolon;

	/* The root's own value, and a root that other tools put above everything. */
	if (end - p == 4 && !memcmp(p, "ROOT", 4))
		return node;
	if (end - p > 5 && !memcmp(p, "ROOT;", 5))
		p += 5;
	for (; node != SESSION_NONE && p <= end; p = semicolon + 1) {
		semicolon = memchr(p, ';', (size_t)(end - p));
		if (!semicolon)
			semicolon = end;
		node = child(f, node, p, (size_t)(semicolon - p));
	}
	return node;
}

static int read_line(struct folded *f)
{
	size_t len = trim(f->line.data, f->line.len);
	const char *line = f->line.data, *value = value_of(line, len);
	union metric_value v;
	struct number number;
	uint32_t node;

	if (!len)
		return 0;
	if (!value)
		return format_fail(f->error, -EBADMSG, f->offset + 1,
				   "not folded stacks: a line does not end in a number");
	number_parse(value, (size_t)(line + len - value), &number);
	if (!number.is_int && !(number.f64 < 1.8e19))
		return format_fail(f->error, -EINVAL, f->offset + 1 + (uint64_t)(value - line),
				   "wrong shape: the value of a stack is too large");
	v.u64 = number.is_int ? number.u64 : (uint64_t)(number.f64 + 0.5);
	node = walk(f, line, line + trim(line, (size_t)(value - line)));
	if (f->too_long)
		return -EFBIG;
	if (node == SESSION_NONE || session_add(f->s, node, f->lane, 0, METRIC_TIME, v) < 0)
		return format_fail_code(f->error, -ENOMEM);
	return 0;
}

static int take(struct folded *f, const char *data, size_t n)
{
	const char *end = data + n, *eol;
	int r = 0;

	for (; r == 0 && data < end; data = eol + 1) {
		eol = memchr(data, '\n', (size_t)(end - data));
		if (!eol) {
			buf_put(&f->line, data, (size_t)(end - data));
			return f->line.error;
		}
		buf_put(&f->line, data, (size_t)(eol - data));
		r = f->line.error ? f->line.error : f->line.len ? read_line(f) : 0;
		f->offset += f->line.len + 1;
		buf_clear(&f->line);
	}
	return r;
}

static int take_all(struct folded *f, struct reader_input *in)
{
	_cleanup_(freep) char *chunk = malloc(65536);
	ssize_t n = chunk ? 1 : -ENOMEM;
	int r = 0;

	while (r == 0 && n > 0) {
		n = reader_read(in, chunk, 65536);
		if (n > 0)
			r = take(f, chunk, (size_t)n);
	}
	if (n < 0)
		return (int)n;
	return r == 0 && f->line.len ? read_line(f) : r;
}

int folded_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct folded f = {
		.s = s, .error = error, .lane = session_lane_intern(s, &session_nowhere)};
	int r;

	buf_init(&f.line, LINE_MAX_BYTES);
	buf_init(&f.name, FORMAT_NAME_MAX);
	r = f.lane == SESSION_NONE ? -ENOMEM : take_all(&f, in);
	if (r < 0 && !error->code)
		format_fail(error, r, f.offset + 1, "%s",
			    r == -EFBIG ? "a stack of more than 64 MiB, or a frame of more than 16"
					: strerror(-r));
	buf_done(&f.line);
	buf_done(&f.name);
	if (r == 0)
		r = session_note(s, SESSION_NONE, NOTE_INFO,
				 "folded stacks do not name their unit: shown as time in ns");
	s->ended = true;
	return r;
}
