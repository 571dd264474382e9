/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Calls of the GPU's library: the time of the host in them, by function and by calling context. */
#include <errno.h>
#include <math.h>
#include "base/util.h"
#include "core/calls.h"
#include "report/rows.h"

/* clang-format off */
#define SPEC(title_, value, op_, metric_, form_, human, width, rank_, help_)                       \
	{.title = title_, .help = help_, .form = FORM_##form_, .priority = rank_,                  \
	 .derived = ROWS_DERIVED(op_, metric_, 1)},
/* clang-format on */
static const struct column_spec specs[] = {CALLS_COLUMNS(SPEC)};
static const struct column_spec *const usual[] = {&specs[0], &specs[1], &specs[2],
						  &specs[3], &specs[4], &specs[5]};
_Static_assert(ARRAY_SIZE(specs) == ARRAY_SIZE(usual), "all of them");

/* One of its tables. A row is one of calls, or a node of the snapshot. */
struct call_table {
	struct report *r;
	const struct calls *calls; /* NULL: rows are nodes */
	double sum_ns;
};

static struct call_row row_at(const struct call_table *t, uint32_t i)
{
	struct call_row row = {.node = i, .time_ns = NAN};

	if (t->calls)
		return t->calls->rows[i];
	calls_at(t->r->numbers, i, &row);
	return row;
}

static double value(void *ctx, uint32_t i, const struct number_ask *ask)
{
	const struct call_table *t = ctx;
	const struct call_row at = row_at(t, i), *row = &at;
	const double CALLS_SHARE = row->time_ns / t->sum_ns * 100;

#define _(title, value, op_, metric_, ...)                                                         \
	if (ask->metric->op == DERIVED_##op_ && ask->metric->metric == METRIC_##metric_)           \
		return value;
	CALLS_COLUMNS(_)
#undef _
	return NAN;
}

static double whole(void *ctx, const struct number_ask *ask)
{
	(void)ask; /* the limit is one of the first column */
	return ((const struct call_table *)ctx)->sum_ns;
}

static uint32_t node(void *ctx, uint32_t i)
{
	return row_at(ctx, i).node;
}

static int put_rows(struct call_table *t, const struct row_kind *kind)
{
	uint32_t n = t->calls ? (uint32_t)t->calls->n : snapshot_n(t->r->snap);
	struct rows rows;
	int e = rows_init(&rows, t->r, kind, t);

	for (uint32_t i = 0; i < n && e == 0; i++)
		if (!isnan(row_at(t, i).time_ns))
			e = rows_add(&rows, i);
	if (e == 0)
		e = rows_put(&rows);
	rows_done(&rows);
	return e;
}

#define KIND(by_path_)                                                                             \
	{                                                                                          \
		.value = value, .whole = whole, .node = node, .by_path = by_path_, .usual = usual, \
		.n_usual = ARRAY_SIZE(usual), .own_columns = true, .by_first = true                \
	}

static int put_calls(struct report *r, const struct calls *calls)
{
	static const struct row_kind by_function = KIND(false), by_context = KIND(true);
	struct call_table t = {.r = r, .calls = calls}, of = {.r = r};
	int e;

	for (size_t i = 0; i < calls->n; i++)
		t.sum_ns += calls->rows[i].time_ns;
	of.sum_ns = t.sum_ns;
	rows_put_caption(r, CALLS_TITLE);
	e = put_rows(&t, &by_function);
	if (e < 0)
		return e;
	out_putc(r->out, '\n');
	rows_put_caption(r, CALLS_OF_TITLE);
	return put_rows(&of, &by_context);
}

int view_api(struct report *r)
{
	struct calls calls = {0};
	int e = calls_update(&calls, r->numbers);

	if (e == 0 && calls.n)
		e = put_calls(r, &calls);
	else if (e == 0)
		out_puts(r->out, calls_are_known(r->s) ? "none\n" : CALLS_NONE "\n");
	if (e == 0 && calls.n && !calls_are_known(r->s))
		rows_put_caption(r, CALLS_WAITS_ALONE);
	calls_done(&calls);
	return e;
}
