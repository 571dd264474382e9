/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/columns.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/shown.h"
#include "tui/chart.h"
#include "tui/row_past.h"
#include "tui/usage.h"

#define PICTURES_MIN_WIDTH 120 /* of the screen */

int columns_find(const struct columns *columns, const char *title)
{
	for (unsigned i = 0; i < columns->n; i++)
		if (column_is_titled(columns->v[i].title, title, strlen(title)))
			return (int)i;
	return -1;
}

double column_value(const struct column *c, struct panel *p, uint32_t i)
{
	if (c->of)
		return row_value(p, c->of, i);
	return c->value ? c->value(p, i) : p->ops->number(p, c, i);
}

double column_order(const struct column *c, struct panel *p, uint32_t i)
{
	double v = column_value(c, p, i);

	return c->of ? row_order(p, c->of, v) : v;
}

static bool is_number(const struct column *c)
{
	return !c->is_name && !(c->of && c->of->spec.form == FORM_WORD);
}

double column_weight(struct panel *p, uint32_t i)
{
	const struct column *c = &p->columns.v[p->sort];

	return column_value(is_number(c) ? c : &p->columns.v[0], p, i);
}

bool column_is_absent(struct panel *p, const struct column *c)
{
	return c->of ? row_is_absent(p, c->of) : c->is_absent && c->is_absent(p, c);
}

/* ---- which fit ---- */

/* A name gets its share of the width, and 18 columns where there are any. */
static int name_min(const struct columns *columns, int width)
{
	int percent = columns->name_percent ? (int)columns->name_percent : 45;

	return MAX(width * percent / 100, MIN(18, width - 10));
}

/* Made for an order or a choice: nobody else asks for it. */
static bool is_spare(const struct column *c)
{
	return c->of && c->of->is_spare;
}

static bool may_show(struct panel *p, const struct column *c)
{
	return !c->is_name && !column_is_absent(p, c);
}

static bool is_picture(const struct column *c)
{
	return c->draw || (c->of && column_is_picture(&c->of->spec));
}

bool column_may_sort(struct panel *p, const struct column *c)
{
	return !column_is_absent(p, c) && !is_picture(c);
}

/* Where there is little room, numbers say more than pictures do that nobody asked for. */

static bool is_luxury(const struct column *c, int width)
{
	return c->of && is_picture(c) && !c->of->is_asked && width < PICTURES_MIN_WIDTH;
}

void fit_make(struct column_fit *layout, struct panel *p, const struct columns *columns, int width,
	      int sorted)
{
	int left = width - 2; /* a mark before, a blank before the name */
	int name = name_min(columns, width);
	int least = columns->name_least ? MIN((int)columns->name_least, name) : name;
	_cleanup_(freep) bool *take = calloc(columns->n + 1u, sizeof(*take));
	unsigned n = 0;

	for (int priority = -1; take && priority < 256; priority++) {
		for (unsigned i = 0; i < columns->n; i++) {
			const struct column *c = &columns->v[i];
			int rank = (int)i == sorted ? -1 : c->priority;

			if (rank != priority || (rank >= 0 && is_spare(c)) || is_luxury(c, width) ||
			    !may_show(p, c))
				continue;
			if (c->width + 1 > left - (rank > 0 ? name : least) || n == CHOICE_MAX)
				goto full;
			left -= c->width + 1;
			take[i] = true;
			n++;
		}
	}
full:
	layout->n = 0;
	layout->name_width = width - 2;
	for (unsigned i = 0; take && i < columns->n; i++) {
		if (!take[i])
			continue;
		layout->v[layout->n++] = (uint16_t)i;
		layout->name_width -= columns->v[i].width + 1;
	}
}

bool fit_has(const struct column_fit *layout, unsigned column)
{
	unsigned k = 0;

	while (k < layout->n && layout->v[k] != column)
		k++;
	return k < layout->n;
}

/* ---- drawing ---- */

static int name_column(const struct columns *columns)
{
	for (unsigned i = 0; i < columns->n; i++)
		if (columns->v[i].is_name)
			return (int)i;
	return -1;
}

/* Names are sorted from a to z at first, which is up, as numbers are from the largest, which is down:
 * when the order is the other one, the arrow is as well. */
static void put_name(struct pen *pen, const struct columns *columns, const char *name, int sorted,
		     bool ascending)
{
	const struct glyphs *glyphs = pen->canvas->look->glyphs;
	int column = name_column(columns), x = pen->x;
	bool mark = column >= 0 && column == sorted;

	if (mark)
		pen_put(pen, ROLE_HEAD_SORT, ascending ? glyphs->descending : glyphs->ascending);
	pen_put(pen, mark ? ROLE_HEAD_SORT : ROLE_HEAD, name);
	if (column >= 0)
		pen_hit(pen, x, HIT_SORT, column);
}

void fit_titles(const struct column_fit *layout, struct pen *pen, const struct columns *columns,
		int sorted, bool ascending)
{
	const struct glyphs *glyphs = pen->canvas->look->glyphs;

	for (unsigned i = 0; i < layout->n; i++) {
		const struct column *c = &columns->v[layout->v[i]];
		char title[COLUMN_TITLE + 8];
		bool mark = layout->v[i] == sorted;

		snprintf(title, sizeof(title), "%s%s",
			 mark ? ascending ? glyphs->ascending : glyphs->descending : "",
			 c->of && c->of->head ? c->of->head : c->title);
		pen_right(pen, mark ? ROLE_HEAD_SORT : ROLE_HEAD, c->width + 1, title);
		if (sorted >= 0)
			pen_hit(pen, pen->x - c->width - 1, HIT_SORT, layout->v[i]);
	}
	pen_skip(pen, ROLE_HEAD, 2);
}

void fit_head(const struct column_fit *layout, struct pen *pen, const struct columns *columns,
	      const char *name, int sorted, bool ascending)
{
	fit_titles(layout, pen, columns, sorted, ascending);
	put_name(pen, columns, name, sorted, ascending);
	pen_fill(pen, ROLE_HEAD);
}

/* +1: more is worse; -1: more is better; 0: who knows. */
static int worse_sign(const struct column *c)
{
	if (!c->of)
		return c->is_change;
	if (c->of->part != PART_DELTA && c->of->part != PART_RATIO)
		return 0;
	return c->of->spec.form == FORM_TIME ? 1 : c->of->spec.derived.op == DERIVED_RATE ? -1 : 0;
}

/* A tenth of the whole draws the eye; so does a change, whose text begins with its sign. */
static enum role cell_role(const struct column *c, double v, const char *text)
{
	int worse = worse_sign(c), sign = *text == '+' ? 1 : *text == '-' && text[1] ? -1 : 0;

	if (worse && sign)
		return sign == worse ? ROLE_WORSE : ROLE_BETTER;
	if (isnan(v))
		return ROLE_DIM;
	if (c->of && c->of->spec.form == FORM_PERCENT && c->of->part == PART_NOW)
		return v >= 10 ? ROLE_HOT : ROLE_NUMBER;
	if (c->is_running || (c->format != human_percent && c->format != usage_percent))
		return ROLE_NUMBER;
	return v >= 0.1 ? ROLE_HOT : ROLE_NUMBER;
}

/* A word may be shorter; of numbers a wrong one is worse than none. */
static void cut_cell(const struct column *c, char text[COLUMN_TEXT])
{
	if (c->print || (c->of && c->of->spec.form == FORM_WORD))
		text[shown_fit(text, strlen(text), c->width)] = '\0';
	else
		snprintf(text, COLUMN_TEXT, "%.*s", c->width, "##############################");
}

static void print_cell(const struct column *c, struct panel *p, uint32_t i, double v,
		       char text[COLUMN_TEXT])
{
	if (c->of)
		row_print(p, c->of, i, text);
	else if (c->print)
		c->print(p, v, text);
	else
		c->format(text, v);
}

static void draw_picture(struct pen *pen, struct panel *p, const struct column *c, uint32_t i)
{
	float past[PAST_WINDOWS];

	if (c->draw)
		c->draw(p, pen, column_value(c, p, i), c->width);
	else if (c->of->spec.form == FORM_BAR)
		pen_fine_bar(pen, c->width, column_value(c, p, i) / 100);
	else if (row_past_read(p->rows, p, i, past))
		chart_pairs(pen, past, PAST_WINDOWS);
}

void fit_cells(const struct column_fit *layout, struct pen *pen, struct panel *p,
	       const struct columns *columns, uint32_t i)
{
	char text[COLUMN_TEXT];

	for (unsigned k = 0; k < layout->n; k++) {
		const struct column *c = &columns->v[layout->v[k]];
		double v;

		if (is_picture(c)) {
			int end = pen->x + c->width + (k > 0);

			pen_skip(pen, ROLE_NORMAL, k > 0);
			draw_picture(pen, p, c, i);
			pen_skip(pen, ROLE_NORMAL, end - pen->x);
			continue;
		}
		v = column_value(c, p, i);
		print_cell(c, p, i, v, text);
		if (text_columns(text, strlen(text), false) > c->width)
			cut_cell(c, text);
		pen_right(pen, cell_role(c, v, text), c->width + (k > 0), text);
	}
	pen_skip(pen, ROLE_NORMAL, layout->n ? 2 : 1);
}

void fit_blank(const struct column_fit *layout, struct pen *pen, const struct columns *columns)
{
	for (unsigned k = 0; k < layout->n; k++)
		pen_skip(pen, ROLE_NORMAL, columns->v[layout->v[k]].width + (k > 0));
	pen_skip(pen, ROLE_NORMAL, layout->n ? 2 : 1);
}
