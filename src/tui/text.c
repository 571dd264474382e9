/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/text.h"
#include <stdio.h>
#include <string.h>
#include "base/util.h"

#define REPLACEMENT 0xfffd

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

/* Marks that move other characters around or hide: a name must not rewrite the line it is in. */
static bool is_treacherous(uint32_t c)
{
	return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0x80 && c < 0xa0);
}

static void glyph_set(struct text_glyph *g, const char *s)
{
	g->n = 0;
	for (; *s && g->n < ARRAY_SIZE(g->wc); s++)
		g->wc[g->n++] = (wchar_t)(unsigned char)*s;
	g->columns = g->n;
}

static void glyph_escape(struct text_glyph *g, uint32_t c)
{
	char s[16];

	if (c < 0x20 || c == 0x7f)
		snprintf(s, sizeof(s), "^%c", (int)(c ^ 0x40));
	else
		snprintf(s, sizeof(s), c > 0xffff ? "U+%05X" : "U+%04X", (unsigned)c);
	glyph_set(g, s);
}

const char *text_next(const char *p, const char *end, bool ascii, struct text_glyph *ret)
{
	uint32_t c;
	unsigned n = decode((const unsigned char *)p, (const unsigned char *)end, &c);
	int columns;

	if (n == 0) {
		c = REPLACEMENT;
		n = 1;
	}
	if (c < 0x20 || c == 0x7f || is_treacherous(c)) {
		glyph_escape(ret, c);
		return p + n;
	}
	columns = c < 0x80 ? 1 : ascii ? -1 : wcwidth((wchar_t)c);
	if (columns < 0) {
		c = ascii || wcwidth(REPLACEMENT) != 1 ? '?' : REPLACEMENT;
		columns = 1;
	}
	ret->wc[0] = (wchar_t)c;
	ret->n = 1;
	ret->columns = (uint8_t)columns;
	return p + n;
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
	tail = cut == TEXT_CUT_MIDDLE && skip == 0 && width >= 8 ? (width - 1) / 3 : 0;
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
