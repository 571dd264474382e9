/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/text.h"
#include <string.h>
#include "base/shown.h"
#include "base/util.h"

#define REPLACEMENT 0xfffd

static void glyph_escape(struct text_glyph *g, const struct shown *s)
{
	for (g->n = 0; g->n < s->len; g->n++)
		g->wc[g->n] = (wchar_t)s->text[g->n];
	g->columns = s->columns;
}

/* One at a time: how many marks a letter may have is the screen's own limit. */
const char *text_next(const char *p, const char *end, bool ascii, struct text_glyph *ret)
{
	struct shown s = {0};
	const char *next = shown_next(p, end, &s);
	uint32_t c = s.c;
	int columns;

	if (c == 0) {
		glyph_escape(ret, &s);
		return next;
	}
	columns = c < 0x80 ? 1 : ascii ? -1 : wcwidth((wchar_t)c);
	if (columns < 0) {
		c = ascii || wcwidth(REPLACEMENT) != 1 ? '?' : REPLACEMENT;
		columns = 1;
	}
	ret->wc[0] = (wchar_t)c;
	ret->n = 1;
	ret->columns = (uint8_t)columns;
	return next;
}

int text_columns(const char *s, size_t len, bool ascii)
{
	const char *end = s + len;
	struct text_glyph g;
	int columns = 0;

	while (s < end) {
		s = text_next(s, end, ascii, &g);
		columns += g.columns;
	}
	return columns;
}

/* A string being written in columns. */
struct fit {
	wchar_t *out;
	size_t n, cap;
	int columns;
};

/* Add a glyph; false: it does not fit into the limit. */
static bool fit_add(struct fit *f, const struct text_glyph *g, int limit)
{
	if (f->columns + g->columns > limit || f->n + g->n >= f->cap)
		return false;
	if (g->columns == 0 && f->n == 0) /* a mark without its letter would land on a neighbour */
		return true;
	wmemcpy(f->out + f->n, g->wc, g->n);
	f->n += g->n;
	f->columns += g->columns;
	return true;
}

/* Copy from column `from` of the string on, up to `limit` columns written in all. */
static void fit_copy(struct fit *f, const char *s, const char *end, int from, int limit, bool ascii)
{
	struct text_glyph g;

	for (int at = 0; s < end; at += g.columns) {
		s = text_next(s, end, ascii, &g);
		if (at >= from && !fit_add(f, &g, limit))
			return;
	}
}

#define TAIL_WIDTH 8 /* columns from which a text that is cut in the middle has an end */

/* How much of its end a text keeps that is cut in the middle: of few columns its number ("lay…3"). */
static int tail_of(const char *s, size_t len, int width)
{
	int digits = 0;

	if (width >= TAIL_WIDTH)
		return (width - 1) / 3;
	while ((size_t)digits < len && s[len - 1 - (size_t)digits] >= '0' &&
	       s[len - 1 - (size_t)digits] <= '9')
		digits++;
	return digits <= width - 3 ? digits : 0;
}

int text_fit(wchar_t *out, size_t cap, const char *s, size_t len, int skip, int width,
	     enum text_cut cut, bool ascii)
{
	struct fit f = {out, 0, cap, 0};
	struct text_glyph dots = {{ascii || wcwidth(0x2026) != 1 ? L'~' : 0x2026}, 1, 1};
	const char *end = s + len;
	int total, tail;

	if (width <= 0 || cap < 2) {
		if (cap)
			out[0] = 0;
		return 0;
	}
	total = text_columns(s, len, ascii);
	tail = cut == TEXT_CUT_MIDDLE && skip == 0 ? tail_of(s, len, width) : 0;
	if (total - skip <= width) {
		fit_copy(&f, s, end, skip, width, ascii);
	} else {
		fit_copy(&f, s, end, skip, width - 1 - tail, ascii);
		fit_add(&f, &dots, width);
		if (tail)
			fit_copy(&f, s, end, total - tail, width, ascii);
	}
	out[f.n] = 0;
	return f.columns;
}

bool text_is_smart_case(const char *needle)
{
	for (; *needle; needle++)
		if (*needle >= 'A' && *needle <= 'Z')
			return true;
	return false;
}

const char *text_find(const char *haystack, const char *needle, bool match_case)
{
	return match_case ? strstr(haystack, needle) : strcasestr(haystack, needle);
}

/* The place after an escape sequence that begins at p. */
static const char *skip_escape(const char *p, const char *end)
{
	if (++p >= end)
		return end;
	if (*p == '[') { /* parameters, then one final letter */
		for (p++; p < end && (*p < 0x40 || *p > 0x7e); p++)
			;
	} else if (*p == ']') { /* a string up to BEL or ESC \ */
		for (p++; p < end && *p != '\a' && *p != 27; p++)
			;
		if (p + 1 < end && *p == 27)
			p++;
	}
	return p < end ? p + 1 : end;
}

/* What follows the last carriage return that has something after it. */
static const char *last_overwrite(const char *s, size_t len)
{
	while (len && s[len - 1] == '\r')
		len--;
	for (const char *p = s + len; p > s; p--)
		if (p[-1] == '\r')
			return p;
	return s;
}

size_t text_plain(char *out, size_t cap, const char *s, size_t len)
{
	const char *p = last_overwrite(s, len), *end = s + len;
	size_t n = 0;

	while (p < end && n + 1 < cap) {
		if (*p == 27) {
			p = skip_escape(p, end);
		} else if (*p == '\t') {
			do
				out[n++] = ' ';
			while (n % 8 && n + 1 < cap);
			p++;
		} else if (*p == '\r' || *p == '\a') {
			p++;
		} else {
			out[n++] = *p++;
		}
	}
	if (cap)
		out[n] = 0;
	return n;
}
