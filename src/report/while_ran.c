/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Unified memory beside the kernels that ran. */
#include "core/while_ran.h"
#include <errno.h>
#include <math.h>
#include "base/util.h"
#include "core/held.h"
#include "report/rows.h"
#include "report/while_ran.h"

#define TITLE   "Unified memory, by the kernels that ran when it moved"
#define NOTHING "(no kernel ran)"

/* title, metric that it answers to, form, which are left out first where there is no room (the highest), what it is, and
 * its meaning. */
/* clang-format off */
#define WHILE_COLUMNS(_)                                                                           \
	_("TO GPU",     TO_DEVICE,  BYTES, 0, row->amount[PAGES_TO_DEVICE], "bytes that moved to the device while it ran") \
	_("TO HOST",    TO_HOST,    BYTES, 1, row->amount[PAGES_TO_HOST],   "bytes that moved back while it ran")          \
	_("MOVES",      MIGRATIONS, COUNT, 3, row->n_moves,                 "how often pages moved while it ran")          \
	_("GPU FAULTS", GPU_FAULTS, COUNT, 2, row->amount[PAGES_MISSED],    "groups of pages that the device missed while it ran") \
	_("TO PEER",    TO_PEER,    BYTES, 4, row->amount[PAGES_TO_PEER] ? row->amount[PAGES_TO_PEER] : NAN,   "bytes that moved to another device while it ran")
/* clang-format on */

#define _(title_, metric_, form_, rank_, value, help_)                                             \
	ROWS_COLUMN(title_, metric_, form_, rank_, help_)
WHILE_COLUMNS(_)
#undef _

struct table {
	struct report *r;
	struct while_ran_list list;
	struct buf text;
};

static const struct while_ran *row_at(void *ctx, uint32_t row)
{
	return &((struct table *)ctx)->list.v[row];
}

/* Its own time is the tree's. */
static double value(void *ctx, uint32_t id, const struct number_ask *ask)
{
	const struct while_ran *row = row_at(ctx, id);

	switch (ask->metric->metric) {
#define _(title, metric, form, rank, value, help)                                                  \
	case METRIC_##metric:                                                                      \
		return (double)value;
		WHILE_COLUMNS(_)
#undef _
	default:
		return row->node == SNAP_NONE
			       ? NAN
			       : rows_node_at(((struct table *)ctx)->r, row->node, ask->metric);
	}
}

static const char *name(void *ctx, uint32_t id)
{
	uint32_t node = row_at(ctx, id)->node;

	return node == SNAP_NONE ? NOTHING : report_name(((struct table *)ctx)->r, node);
}

static const char *path(void *ctx, uint32_t id)
{
	struct table *t = ctx;
	uint32_t node = row_at(ctx, id)->node;

	return node == SNAP_NONE ? NOTHING : rows_path(t->r, node, &t->text);
}

static int put_rows(struct table *t)
{
	static const struct column_spec *const columns[] = {
#define _(title, metric, ...) &column_##metric,
		WHILE_COLUMNS(_)
#undef _
			& usual_columns[USUAL_TOTAL],
		&usual_columns[USUAL_CALLS]};
	static const struct row_kind kind = {.value = value,
					     .name = name,
					     .path = path,
					     .usual = columns,
					     .n_usual = ARRAY_SIZE(columns),
					     .own_columns = true,
					     .by_first = true};
	struct rows rows;
	int e = rows_init(&rows, t->r, &kind, t);

	for (uint32_t i = 0; i < t->list.n && e == 0; i++) {
		uint32_t node = t->list.v[i].node;

		if (node == SNAP_NONE ? !t->r->mask : numbers_counts(t->r->numbers, node))
			e = rows_add(&rows, i);
	}
	e = e ? e : rows_put(&rows);
	rows_done(&rows);
	return e;
}

int put_while_ran(struct report *r)
{
	struct table t = {.r = r};
	struct strips strips;
	int e = held_has_unified(r->s) ? strips_init(&strips, r->s) : -ENODATA;

	if (e < 0)
		return e == -ENODATA ? 0 : e;
	e = while_ran_make(&t.list, &strips, r->snap);
	if (e == 0 && t.list.n) {
		out_putc(r->out, '\n');
		rows_put_caption(r, TITLE);
		e = put_rows(&t);
	}
	while_ran_done(&t.list);
	strips_done(&strips);
	buf_done(&t.text);
	return e;
}
