/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/words.h"
#include <string.h>
#include "base/util.h"
#include "report/table.h"

#define COLUMNS_MAX 32

/* Names want some room, and take what there is. */
static size_t column_width(const struct word_table *t, const struct word_column *c)
{
	size_t width = c->name ? NAME_ROOM : strlen(c->title);
	char text[CELL_MAX];

	for (size_t i = 0; !c->name && i < t->n_rows; i++) {
		c->print(t->ctx, i, text);
		width = MAX(width, name_width(text));
	}
	return width;
}

static void put_cell(struct out *out, const struct word_column *c, const char *text, size_t width,
		     bool last)
{
	if (!c->left)
		put_right(out, text, width);
	else
		put_left(out, text, last ? 0 : width);
	out_puts(out, last ? "\n" : "  ");
}

/* Does no row know anything of it? */
static bool is_unknown(const struct word_table *t, const struct word_column *c)
{
	char text[CELL_MAX];

	for (size_t i = 0; i < t->n_rows; i++) {
		if (c->name)
			return false;
		c->print(t->ctx, i, text);
		if (strcmp(text, "-") != 0)
			return false;
	}
	return true;
}

/* Columns that there is room for; no width: all that are wanted. */
struct fitting {
	size_t widths[COLUMNS_MAX];
	bool is_out[COLUMNS_MAX];
	unsigned n_out; /* for want of room */
	size_t last;    /* column of a line */
};

static size_t width_of(const struct word_table *t, const struct fitting *f)
{
	size_t width = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		width += f->is_out[c] ? 0 : f->widths[c] + 2;
	return width - 2;
}

/* The column to be left out; n_columns: all stay. */
static size_t least_wanted(const struct word_table *t, const struct fitting *f)
{
	size_t least = t->n_columns;

	for (size_t c = 0; c < t->n_columns; c++)
		if (!f->is_out[c] && t->columns[c].rank &&
		    (least == t->n_columns || t->columns[c].rank > t->columns[least].rank))
			least = c;
	return least;
}

static void fit(const struct word_table *t, size_t width, struct fitting *f)
{
	size_t c;

	for (c = 0; c < t->n_columns; c++) {
		f->widths[c] = column_width(t, &t->columns[c]);
		f->is_out[c] = t->is_known_only && is_unknown(t, &t->columns[c]);
	}
	while (width && width_of(t, f) > width && (c = least_wanted(t, f)) < t->n_columns) {
		f->is_out[c] = true;
		f->n_out++;
	}
	for (c = 0; c < t->n_columns; c++)
		if (!f->is_out[c])
			f->last = c;
}

static void put_titles(const struct word_table *t, const struct fitting *f, bool color,
		       struct out *out)
{
	if (color)
		out_puts(out, "\033[1m");
	for (size_t c = 0; c < t->n_columns; c++)
		if (!f->is_out[c])
			put_cell(out, &t->columns[c], t->columns[c].title, f->widths[c],
				 c == f->last);
	if (color)
		out_puts(out, "\033[0m");
}

static void put_row(const struct word_table *t, const struct fitting *f, size_t row,
		    const struct report_options *o, struct out *out)
{
	char text[CELL_MAX];

	for (size_t c = 0; c < t->n_columns; c++) {
		const struct word_column *column = &t->columns[c];

		if (f->is_out[c])
			continue;
		if (column->name) {
			put_name(out, column->name(t->ctx, row),
				 name_room(o, width_of(t, f) - f->widths[c]), o->ascii);
			out_putc(out, '\n');
			continue;
		}
		column->print(t->ctx, row, text);
		put_cell(out, column, text, f->widths[c], c == f->last);
	}
}

void put_words(const struct word_table *t, const struct report_options *o, struct out *out)
{
	struct fitting f = {.n_out = 0};

	if (!t->n_rows) {
		out_puts(out, "none\n");
		return;
	}
	fit(t, o->width, &f);
	put_titles(t, &f, o->color, out);
	for (size_t i = 0; i < t->n_rows; i++)
		put_row(t, &f, i, o, out);
	if (f.n_out)
		out_printf(out, "(%u more %s in wider lines)\n", f.n_out,
			   f.n_out == 1 ? "column" : "columns");
}
