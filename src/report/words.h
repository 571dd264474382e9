/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_WORDS_H
#define PROTON_REPORT_WORDS_H
/* A table whose cells are words: each column is as wide as what stands in it.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include "report/report.h"

#define CELL_MAX 256

struct word_column {
	const char *title;
	bool left;
	void (*print)(const void *ctx, size_t row, char out[CELL_MAX]);
	unsigned rank; /* where there is no room the highest is left out first; 0: it stays */
	/* In place of print(), of the last column: however long, and cut where a line has a width. */
	const char *(*name)(const void *ctx, size_t row);
};

struct word_table {
	const struct word_column *columns;
	size_t n_columns, n_rows;
	const void *ctx;    /* of print() */
	bool is_known_only; /* without columns of which no row knows anything ("-") */
};

/* "none" where there are no rows; behind them how many columns there was no room for. */
void put_words(const struct word_table *t, const struct report_options *o, struct out *out);

#endif
