/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_ROW_VALUES_H
#define PROTON_TUI_ROW_VALUES_H
/* What a column of metrics (tui/row_columns.h) has in a row: a number, on one side of a comparison or
 * from both, and its text. Panels answer for their rows by ops->value(). */
#include "core/column.h"
#include "core/number_sets.h"
#include "tui/alphabet.h"

struct panel;

/* What a row is asked for. */
struct row_ask {
	struct number_ask of;
	struct derived_terms *terms; /* for rows that are nodes */
};

enum row_part { PART_NOW, PART_BEFORE, PART_DELTA, PART_RATIO, PART_STATUS };

struct row_column {
	struct column_spec spec;
	struct derived of_parent; /* what it is when shares are of the row above */
	char *title;
	char *head;      /* above the column, shorter; NULL: the title */
	bool is_counted; /* by hardware: the title is a metric of CUPTI's */
	bool is_missing; /* a running program has no such metric yet */
	bool is_asked;   /* by name: it stays, though no row has a value */
	bool is_spare;   /* made for an order or a choice: shown for these alone */
	bool is_empty;   /* no row had a value when they were measured */
	bool was_there;  /* it had values when nothing was reset */
	uint8_t part;
	unsigned slot; /* the first of ROW_SLOTS */
	struct derived_terms terms[2];
	struct alphabet words; /* of a metric that has words for values */
};

/* What the column is sorted by: of a change, its size. NaN = absent. */
double row_value(struct panel *p, struct row_column *c, uint32_t i);
/* The same for an order: a word's value is that of its place from a to z. */
double row_order(struct panel *p, struct row_column *c, double value);
void row_print(struct panel *p, struct row_column *c, uint32_t i, char out[COLUMN_TEXT]);
/* Does any row have a value of it? As the panel's rows are asked for it. */
bool row_has(struct panel *p, const struct derived *metric);
/* Does no row have a value? */
bool row_is_absent(struct panel *p, struct row_column *c);

#endif
