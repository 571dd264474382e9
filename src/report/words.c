/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/words.h"
#include <string.h>
#include "base/util.h"
#include "report/table.h"

#define COLUMNS_MAX 16

static size_t column_width(const struct word_table *t, const struct word_column *c)
{
	size_t width = strlen(c->title);
	char text[CELL_MAX];

	for (size_t i = 0; i < t->n_rows; i++) {
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

static void put_titles(const struct word_table *t, const size_t *widths, bool color,
		       struct out *out)
{
	if (color)
		out_puts(out, "\033[1m");
	for (size_t c = 0; c < t->n_columns; c++)
		put_cell(out, &t->columns[c], t->columns[c].title, widths[c],
			 c + 1 == t->n_columns);
	if (color)
		out_puts(out, "\033[0m");
}

void put_words(const struct word_table *t, const struct report_options *o, struct out *out)
{
	size_t widths[COLUMNS_MAX];
	char text[CELL_MAX];

	if (!t->n_rows) {
		out_puts(out, "none\n");
		return;
	}
	for (size_t c = 0; c < t->n_columns; c++)
		widths[c] = column_width(t, &t->columns[c]);
	put_titles(t, widths, o->color, out);
	for (size_t i = 0; i < t->n_rows; i++)
		for (size_t c = 0; c < t->n_columns; c++) {
			t->columns[c].print(t->ctx, i, text);
			put_cell(out, &t->columns[c], text, widths[c], c + 1 == t->n_columns);
		}
}
