/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/sorting.h"
#include <math.h>
#include <string.h>
#include <strings.h>

#define AFTER_ALL_WORDS "\xff" /* is in no UTF-8 */

int sorting_parse(struct sorting *o, const struct session *s, const char *sort)
{
	int r;

	*o = (struct sorting){.by_name = sort && !strcasecmp(sort, "name")};
	if (o->by_name || (sort && !*sort))
		return 0;
	if (!sort)
		sort = usual_columns[derive_time(s) == METRIC_TIME ? USUAL_TOTAL : USUAL_CPU].title;
	r = column_parse(s, sort, strlen(sort), &o->column);
	if (r < 0)
		return r;
	o->by_words = o->column.form == FORM_WORD && o->column.derived.op == DERIVED_VALUE;
	o->by_column = true;
	return 0;
}

struct walk_entry sorting_entry(const struct sorting *o, const struct session *s, uint32_t row,
				double value, const char *name)
{
	struct walk_entry e = {row, value, name};

	if (o->by_words)
		e.name = isnan(value) ? AFTER_ALL_WORDS : strtab_str(s->strings, (uint32_t)value);
	return e;
}

int (*sorting_compare(const struct sorting *o))(const void *a, const void *b)
{
	return o->by_words || o->by_name ? walk_compare_names
	       : o->by_column            ? walk_compare_keys
					 : NULL;
}
