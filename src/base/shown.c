/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/shown.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include "base/buf.h"
#include "base/util.h"

#define REPLACEMENT 0xfffd
#define MARKS_MAX   8 /* on one letter: more would run over the lines above and below */

/* Decode one UTF-8 sequence: its length, or 0 when it is not one. */
static unsigned decode(const unsigned char *p, const unsigned char *end, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned n = *p < 0x80   ? 1
		     : *p < 0xc2 ? 0
		     : *p < 0xe0 ? 2
		     : *p < 0xf0 ? 3
		     : *p < 0xf5 ? 4
				 : 0;
	uint32_t c;

	if (n == 0 || (size_t)(end - p) < n)
		return 0;
	c = n == 1 ? *p : *p & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret = c;
	return n;
}

bool shown_is_escaped(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{0, 0x1f},        {0x7f, 0x9f},       /* C0, DEL, C1 */
		{0x61c, 0x61c},   {0x180e, 0x180e},   /* marks of direction, no space at all */
		{0x200b, 0x200b}, {0x200e, 0x200f},   /* zero-width space, marks of direction */
		{0x2028, 0x202e}, {0x2060, 0x206f},   /* ends of lines, overrides, isolates */
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb},   /* byte order mark, interlinear notes */
		{0xfffe, 0xffff}, {0xe0000, 0xe007f}, /* no character, tags */
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}

static bool is_joiner(uint32_t c)
{
	return c == 0x200c || c == 0x200d;
}

/* Joiners are part of how some scripts and emoji are spelt; before anything else they only hide. */
static bool joins(const char *p, const char *end)
{
	uint32_t c;

	return p < end && decode((const unsigned char *)p, (const unsigned char *)end, &c) > 1 &&
	       !is_joiner(c) && !shown_is_escaped(c);
}

static void escape(struct shown *s, uint32_t c)
{
	int n = c < 0x20 || c == 0x7f
			? snprintf(s->escape, sizeof(s->escape), "^%c", (int)(c ^ 0x40))
			: snprintf(s->escape, sizeof(s->escape), "U+%04X", (unsigned)c);

	s->text = s->escape;
	s->c = 0;
	s->len = s->columns = (uint8_t)n;
	s->marks = 0;
}

static int width_of(uint32_t c)
{
	int columns = c < 0x80 ? 1 : wcwidth((wchar_t)c);

	return columns < 0 ? 1 : columns;
}

const char *shown_next(const char *p, const char *end, struct shown *s)
{
	uint32_t c;
	unsigned n = decode((const unsigned char *)p, (const unsigned char *)end, &c);
	int columns;

	if (n == 0) {
		s->text = "\xef\xbf\xbd";
		s->c = REPLACEMENT;
		s->len = 3;
		s->columns = 1;
		s->marks = 0;
		return p + 1;
	}
	columns = width_of(c);
	if (shown_is_escaped(c) || (is_joiner(c) && !joins(p + n, end)) ||
	    (columns == 0 && s->marks >= MARKS_MAX)) {
		escape(s, c);
		return p + n;
	}
	s->text = p;
	s->c = c;
	s->len = (uint8_t)n;
	s->columns = (uint8_t)columns;
	s->marks = columns ? 0 : s->marks + 1;
	return p + n;
}

/* Most names are ASCII, and there may be millions. */
static const char *skip_plain(const char *p, const char *end)
{
	while (p < end && *p >= ' ' && *p < 0x7f)
		p++;
	return p;
}

bool shown_is_same(const char *text, size_t len)
{
	const char *end = text + len, *at = text;
	struct shown s = {0};

	while ((at = skip_plain(at, end)) < end) {
		const char *next = shown_next(at, end, &s);

		if (s.text != at)
			return false;
		at = next;
	}
	return true;
}

size_t shown_columns(const char *text, size_t len)
{
	const char *end = text + len, *at = text;
	struct shown s = {0};
	size_t columns = 0;

	while (at < end) {
		const char *plain = skip_plain(at, end);

		if (plain > at)
			s.marks = 0;
		columns += (size_t)(plain - at);
		at = plain;
		if (at < end) {
			at = shown_next(at, end, &s);
			columns += s.columns;
		}
	}
	return columns;
}

size_t shown_fit(const char *text, size_t len, size_t columns)
{
	const char *end = text + len, *at = text;
	struct shown s = {0};

	while (at < end) {
		const char *next = shown_next(at, end, &s);

		if (s.columns > columns)
			break;
		columns -= s.columns;
		at = next;
	}
	return (size_t)(at - text);
}

void shown_put(struct buf *out, const char *text, size_t len)
{
	const char *end = text + len, *at = text;
	struct shown s = {0};

	while (at < end) {
		const char *plain = skip_plain(at, end);

		if (plain > at)
			s.marks = 0;
		buf_put(out, at, (size_t)(plain - at));
		at = plain;
		if (at < end) {
			at = shown_next(at, end, &s);
			buf_put(out, s.text, s.len);
		}
	}
}

void shown_put_lines(struct buf *out, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *stop = text;
		size_t n;

		while (stop < end && *stop != '\n' && *stop != '\t')
			stop++;
		n = (size_t)(stop - text);
		if (n && stop < end && *stop == '\n' && stop[-1] == '\r')
			n--;
		shown_put(out, text, n);
		if (stop < end)
			buf_putc(out, *stop++);
		text = stop;
	}
}

void shown_vprintf(struct buf *out, const char *format, va_list ap)
{
	char *text;
	int n = vasprintf(&text, format, ap);

	if (n < 0) {
		out->error = -ENOMEM;
		return;
	}
	shown_put(out, text, (size_t)n);
	free(text);
}
