/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_COLUMNS_H
#define PROTON_TUI_COLUMNS_H
/* Columns of numbers before a name: which fit a width, and how they are drawn. */
#include <stdbool.h>
#include <stdint.h>
#include "base/human.h"
#include "core/column.h"
#include "tui/draw.h"

struct panel;
struct row_column;

/* A column of numbers. `i` is what the panel counts by: a node id, an index. */
struct column {
	const char *title, *help;
	uint8_t width;    /* without the blank before it */
	uint8_t priority; /* the lowest stay longest when the screen is narrow */
	void (*format)(char out[HUMAN_MAX], double v);
	double (*value)(struct panel *p, uint32_t i); /* NULL: ops->number() is asked */
	bool (*is_absent)(struct panel *p,
			  const struct column *c); /* no row has a value; or NULL */
	void (*print)(struct panel *p, double v, char out[COLUMN_TEXT]); /* instead of format */
	/* In so many columns at most, instead of all text: a picture. */
	void (*draw)(struct panel *p, struct pen *pen, double v, int width);
	struct row_column *of; /* instead of all these: a metric (tui/row_columns.h) */
	bool is_name;          /* the last column: rows are sorted by it, but it is not laid out */
	bool is_change;        /* of a time, with its sign */
	bool is_running; /* a sum over the rows before: the last are the largest, and draw no eye */
};

double column_value(const struct column *c, struct panel *p, uint32_t i); /* NaN = absent */
/* What rows are sorted by, the largest first: the value, or where a word stands from a to z. */
double column_order(const struct column *c, struct panel *p, uint32_t i);
/* How much row i has of what the panel is sorted by; of words no row has more than others, so
 * these are passed over for the first column. NaN = absent. */
double column_weight(struct panel *p, uint32_t i);
/* Does no row have a value? The column is left out. */
bool column_is_absent(struct panel *p, const struct column *c);
/* Is it worth an order of its own? A picture has that of the column whose numbers it draws. */
bool column_may_sort(struct panel *p, const struct column *c);

#define COMPARED_NAME 10 /* columns: A, B and their difference come before more of a name */

struct columns {
	const struct column *v;
	unsigned n;
	unsigned name_percent; /* of the width that columns leave to names; 0 = 45 */
	unsigned name_least; /* columns that those of priority 0 leave to names; 0: as others do */
};

/* Columns that the user has chosen for a panel, from left to right, by their titles: some come only
 * when the profile has their metric. */
#define COLUMN_TITLE 96
#define CHOICE_MAX   64 /* more than any screen shows */

struct column_choice {
	char titles[CHOICE_MAX][COLUMN_TITLE];
	unsigned n; /* 0: the panel chooses */
};

int columns_find(const struct columns *columns, const char *title); /* index, or -1 */

/* The columns that fit a width, in their order; the rest of the line is the name's. */
struct column_fit {
	uint16_t v[CHOICE_MAX];
	unsigned n;
	int name_width;
};

/* Those that matter most; sorted: the one that is never left out, or -1. */
void fit_make(struct column_fit *layout, struct panel *p, const struct columns *columns, int width,
	      int sorted);
/* Is a column among them, by its index? */
bool fit_has(const struct column_fit *layout, unsigned column);
/* Column titles and the name's. sorted = -1: no order is marked. */
void fit_head(const struct column_fit *layout, struct pen *pen, const struct columns *columns,
	      const char *name, int sorted, bool ascending);
/* The same up to where names begin, for what has something else there. */
void fit_titles(const struct column_fit *layout, struct pen *pen, const struct columns *columns,
		int sorted, bool ascending);
/* The numbers of a row. */
void fit_cells(const struct column_fit *layout, struct pen *pen, struct panel *p,
	       const struct columns *columns, uint32_t i);
/* As much room without numbers. */
void fit_blank(const struct column_fit *layout, struct pen *pen, const struct columns *columns);

#endif
