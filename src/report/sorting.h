/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_SORTING_H
#define PROTON_REPORT_SORTING_H
/* What the rows of a report are sorted by: a column, the largest first; words and names from a to z.
 *
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/column.h"
#include "report/walk.h"

struct sorting {
	struct column_spec column;
	bool by_column, by_words, by_name; /* none of them: as the rows came */
};

/* sort: the name of a column; "name"; "": as they came; NULL: the time on
 * devices, or if there is none on the host. 0 or what column_parse() says. */
int sorting_parse(struct sorting *o, const struct session *s, const char *sort);
/* An entry of a row with this value in the column and this name; both only where they are asked for. */
struct walk_entry sorting_entry(const struct sorting *o, const struct session *s, uint32_t row,
				double value, const char *name);
/* NULL: nothing is sorted. */
int (*sorting_compare(const struct sorting *o))(const void *a, const void *b);

#endif
