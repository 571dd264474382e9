/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/draw.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <wctype.h>
#include "base/buf.h"
#include "base/util.h"
#include "naming/fit.h"
#include "naming/table.h"

#define MAX_WIDE 1024 /* characters of one piece of text; wider terminals see a gap */

struct pen pen_at(const struct canvas *canvas, int y, int x, int width)
{
	struct pen pen = {.canvas = canvas, .y = y, .x = MAX(x, 0)};

	pen.end = y < 0 || y >= canvas->rows ? pen.x : MIN(x + width, canvas->cols);
	return pen;
}

int pen_left(const struct pen *pen)
{
	return MAX(pen->end - pen->x, 0);
}

static void pen_set_role(const struct pen *pen, enum role role)
{
	const struct look *look = pen->canvas->look;

	if (pen->selected)
		role = ROLE_SELECTED;
	wattr_set(pen->canvas->win, look->attr[role] | (pen->underlined ? A_UNDERLINE : 0),
		  look->pair[role], NULL);
}

/* Write wide characters that are known to fit. */
static void pen_wide(struct pen *pen, enum role role, const wchar_t *text, size_t n, int columns)
{
	if (!n)
		return;
	pen_set_role(pen, role);
	mvwaddnwstr(pen->canvas->win, pen->y, pen->x, text, (int)n);
	pen->x += columns;
}

static void pen_text(struct pen *pen, enum role role, const char *text, size_t len)
{
	wchar_t wide[MAX_WIDE];
	int columns = text_fit(wide, ARRAY_SIZE(wide), text, len, 0, pen_left(pen), TEXT_CUT_END,
			       pen->canvas->look->ascii);

	pen_wide(pen, role, wide, wcslen(wide), columns);
}

void pen_put(struct pen *pen, enum role role, const char *text)
{
	pen_text(pen, role, text, strlen(text));
}

void pen_printf(struct pen *pen, enum role role, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	pen_put(pen, role, text);
}

void pen_skip(struct pen *pen, enum role role, int n)
{
	n = MIN(n, pen_left(pen));
	if (n <= 0)
		return;
	pen_set_role(pen, role);
	mvwprintw(pen->canvas->win, pen->y, pen->x, "%*s", n, "");
	pen->x += n;
}

void pen_fill(struct pen *pen, enum role role)
{
	pen_skip(pen, role, pen_left(pen));
}

void pen_right(struct pen *pen, enum role role, int width, const char *text)
{
	int columns = text_columns(text, strlen(text), pen->canvas->look->ascii);

	pen_skip(pen, role, width - columns);
	pen_put(pen, role, text);
}

void pen_field(struct pen *pen, enum role role, int width, const char *text)
{
	struct pen field = *pen;

	field.end = MIN(pen->end, pen->x + width);
	pen_put(&field, role, text);
	pen_fill(&field, role);
	pen->x = field.x;
}

void pen_repeat(struct pen *pen, enum role role, const char *glyph, int n)
{
	for (; n > 0 && pen_left(pen) > 0; n--)
		pen_put(pen, role, glyph);
}

void pen_bar(struct pen *pen, int width, double share)
{
	const struct glyphs *glyphs = pen->canvas->look->glyphs;
	int full = isnan(share) ? 0 : (int)lround(CLAMP(share, 0, 1) * width);

	pen_repeat(pen, ROLE_BAR, glyphs->bar, full);
	pen_repeat(pen, ROLE_BAR_REST, glyphs->bar_rest, width - full);
}

void pen_fine_bar(struct pen *pen, int width, double share)
{
	const struct glyphs *g = pen->canvas->look->glyphs;
	int steps = g->eighths[0] ? 8 : 1, end = MIN(pen->end, pen->x + width);
	int n = isnan(share) ? 0 : (int)lround(CLAMP(share, 0, 1) * width * steps);

	if (n == 0 && share >= 0.0005) /* what is little is more than nothing */
		n = 1;
	pen_repeat(pen, ROLE_BAR, g->bar, n / steps);
	if (n % steps)
		pen_put(pen, ROLE_BAR, g->eighths[n % steps - 1]);
	pen_skip(pen, ROLE_NORMAL, end - pen->x);
}

void pen_hit(const struct pen *pen, int x, enum hit_kind kind, int value)
{
	hits_add(pen->canvas->hits, &(struct hit){pen->y, x, pen->x, kind, value});
}

void pen_lines(struct pen *pen, const bool *last, uint32_t levels, uint32_t depth)
{
	const struct glyphs *g = pen->canvas->look->glyphs;

	if (depth > levels) { /* too deep for lines: its depth, then its own branch */
		char number[24];

		snprintf(number, sizeof(number), "%s%u ", g->ellipsis, depth);
		pen_field(pen, ROLE_DIM, depth > 999 ? 6 : 4, number);
		pen_put(pen, ROLE_DIM, last[0] ? g->corner : g->tee);
		return;
	}
	while (depth-- > 0)
		pen_put(pen, ROLE_DIM,
			depth == 0    ? last[0] ? g->corner : g->tee
			: last[depth] ? g->gap
				      : g->pass);
}

/* Where a needle lies in wide text, or NULL. */
static const wchar_t *wide_find(const wchar_t *text, const wchar_t *needle, bool match_case)
{
	size_t n = wcslen(needle);

	if (match_case)
		return wcsstr(text, needle);
	for (; *text; text++)
		if (!wcsncasecmp(text, needle, n))
			return text;
	return NULL;
}

static int wide_columns(const wchar_t *text, size_t n)
{
	int columns = 0;

	for (size_t i = 0; i < n; i++)
		columns += MAX(wcwidth(text[i]), 0);
	return columns;
}

/* Write text in two roles: matches of the needle, and the rest. */
static void pen_matches(struct pen *pen, enum role role, const wchar_t *text, const char *needle)
{
	wchar_t wide[128];
	bool match_case = text_is_smart_case(needle);
	const wchar_t *hit;
	size_t n;

	text_fit(wide, ARRAY_SIZE(wide), needle, strlen(needle), 0, ARRAY_SIZE(wide), TEXT_CUT_END,
		 pen->canvas->look->ascii);
	n = wcslen(wide);
	while (n && (hit = wide_find(text, wide, match_case))) {
		size_t before = (size_t)(hit - text);

		pen_wide(pen, role, text, before, wide_columns(text, before));
		pen_wide(pen, ROLE_MATCH, hit, n, wide_columns(hit, n));
		text = hit + n;
	}
	pen_wide(pen, role, text, wcslen(text), wide_columns(text, wcslen(text)));
}

const char *draw_dots(bool ascii)
{
	return ascii ? "~" : "\xe2\x80\xa6";
}

const char *canvas_dots(const struct canvas *canvas)
{
	return draw_dots(canvas->look->ascii);
}

/* A name for what remains of the line. */
static const char *fit(const struct pen *pen, const char *name, struct buf *scratch)
{
	size_t columns = (size_t)MAX(pen_left(pen), 0);

	if (pen->canvas->names)
		return name_table_get(pen->canvas->names, name, columns);
	return fit_name(name, columns, canvas_dots(pen->canvas), scratch);
}

void pen_name(struct pen *pen, enum role role, const struct pen_name *name)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = name->text;
	wchar_t wide[MAX_WIDE];
	bool selected = pen->selected;
	int columns;

	if (name->cut == TEXT_CUT_MIDDLE && !name->scroll)
		text = fit(pen, text, &scratch);
	columns = text_fit(wide, ARRAY_SIZE(wide), text, strlen(text), name->scroll, pen_left(pen),
			   name->cut, pen->canvas->look->ascii);

	if (!name->needle || !*name->needle) {
		pen_wide(pen, role, wide, wcslen(wide), columns);
		return;
	}
	if (selected) { /* a match stands out of the selected row too */
		role = ROLE_SELECTED;
		pen->selected = false;
	}
	pen_matches(pen, role, wide, name->needle);
	pen->selected = selected;
}
