/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* How evenly the work is spread over ranks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "report/ranks.h"
#include "report/report_impl.h"

/* The first column that was asked for, or the time. METRIC_NONE: it is made of others. */
static int choose_metric(const struct report *r, uint32_t *ret)
{
	const char *words = r->o->columns;
	struct column_spec column;

	*ret = derive_time(r->s);
	if (!words)
		return 0;
	if (column_parse(r->s, words, column_word_len(r->s, words), &column) < 0)
		return -EINVAL;
	if (column.derived.op != DERIVED_VALUE || !column.derived.plain)
		return -EDOM;
	*ret = column.derived.metric == METRIC_ANY_FLOPS ? derive_flops(r->s)
							 : column.derived.metric;
	return 0;
}

/* Which rows of the session expressions leave; malloc'd. NULL: no memory. */
static uint8_t *rows_counted(const struct report *r)
{
	uint8_t *counted = malloc(MAX(r->s->n_rows, (size_t)1));

	for (size_t i = 0; counted && i < r->s->n_rows; i++) {
		uint32_t node = snapshot_row_node(r->snap, i);

		counted[i] = node != SNAP_NONE && numbers_counts(r->numbers, node);
	}
	return counted;
}

int view_ranks(struct report *r)
{
	_cleanup_(freep) uint8_t *counted = rows_counted(r);
	uint32_t metric;
	int e = counted ? choose_metric(r, &metric) : -ENOMEM;

	if (e < 0)
		return e;
	e = report_ranks(r->s, metric, counted, r->o, r->out);
	return e == -EINVAL ? -EDOM : e;
}
