/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What the host does: scopes by time, and where it waits for the GPU. */
#include <errno.h>
#include <math.h>
#include "base/util.h"
#include "core/host.h"
#include "report/rows.h"

#define OF_HOST(op_, inclusive_)                                                                   \
	{                                                                                          \
		.op = DERIVED_##op_, .inclusive = inclusive_, .is_said = true, .plain = true,      \
		.metric = METRIC_CPU_TIME, .factor = 1                                             \
	}

/* clang-format off */
static const struct column_spec
	own_column = {"OWN", "time on the host, without scopes and waits within",
		      OF_HOST(VALUE, false), FORM_TIME, 7, 0},
	on_cpu_column = {"ON-CPU", "on a processor in the scope itself, in busy waits too (--cpu-time)",
			 {.op = DERIVED_VALUE, .metric = METRIC_ON_CPU, .factor = 1}, FORM_TIME, 7, 3},
	share_column = {"%", "share of all of it", OF_HOST(SHARE, false), FORM_PERCENT, 5, 1},
	left_column = {"LEFT", "what the filter leaves of it, as HOST in the tree",
		       {.op = DERIVED_WORK, .metric = METRIC_CPU_TIME, .factor = 1}, FORM_TIME, 7, 0},
	time_column = {"TIME", "time on the host, with scopes and waits within",
		       OF_HOST(VALUE, true), FORM_TIME, 7, 2},
	calls_column = {"CALLS", "times that it waited",
			{.op = DERIVED_VALUE, .metric = METRIC_CPU_COUNT, .factor = 1}, FORM_COUNT, 7, 3},
	avg_column = {"AVG", "time of one, from its beginning to its end",
		      OF_HOST(AVG, true), FORM_TIME, 7, 4};
/* clang-format on */

/* One of its tables. A row is a frame of the host, or a node of the snapshot. */
struct host_table {
	struct report *r;
	const struct host *host; /* NULL: rows are nodes */
	const double *elapsed, *entered;
	double sum;   /* of the first column, of all rows */
	double whole; /* what limits are shares of */
	bool by_own, by_left;
};

static struct host_row row_at(const struct host_table *t, uint32_t row)
{
	if (t->host)
		return t->host->rows[row];
	return (struct host_row){.node = row,
				 .whole = t->elapsed[row],
				 .left = t->elapsed[row],
				 .count = t->entered ? t->entered[row] : NAN,
				 .on_cpu = NAN};
}

static double first_value(const struct host_table *t, const struct host_row *row)
{
	if (t->by_left)
		return row->left;
	return t->by_own ? row->own : row->whole;
}

static double value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	const struct host_table *t = ctx;
	const struct derived *m = ask->metric;
	const struct host_row r = row_at(t, row);

	if (m->metric == METRIC_CPU_COUNT)
		return r.count;
	if (m->metric == METRIC_ON_CPU)
		return r.on_cpu;
	switch (m->op) {
	case DERIVED_SHARE:
		return first_value(t, &r) / t->sum * 100;
	case DERIVED_WORK:
		return r.left;
	case DERIVED_AVG:
		return r.count > 0 ? r.whole / r.count : NAN;
	default:
		return m->inclusive ? r.whole : r.own;
	}
}

static double whole(void *ctx, const struct number_ask *ask)
{
	(void)ask; /* the limit is one of the first column */
	return ((const struct host_table *)ctx)->whole;
}

static uint32_t node_at(void *ctx, uint32_t row)
{
	return row_at(ctx, row).node;
}

/* ---- tables ---- */

static const struct column_spec *const own_columns[] = {
	&own_column,  &share_column, &on_cpu_column, &usual_columns[USUAL_ENTERED],
	&time_column, &avg_column};
static const struct column_spec *const left_columns[] = {
	&left_column, &usual_columns[USUAL_ENTERED], &time_column, &avg_column};
static const struct column_spec *const elapsed_columns[] = {
	&time_column, &usual_columns[USUAL_ENTERED], &avg_column};
static const struct column_spec *const wait_columns[] = {&time_column, &share_column, &calls_column,
							 &avg_column};

#define KIND(columns, by_path_)                                                                    \
	{                                                                                          \
		.value = value, .whole = whole, .node = node_at, .by_path = by_path_,              \
		.usual = columns, .n_usual = ARRAY_SIZE(columns), .own_columns = true,             \
		.by_first = true                                                                   \
	}
static const struct row_kind own_kind = KIND(own_columns, false),
			     left_kind = KIND(left_columns, false),
			     elapsed_kind = KIND(elapsed_columns, false),
			     wait_kind = KIND(wait_columns, false),
			     waiting_kind = KIND(wait_columns, true);

static bool is_wait(const struct report *r, uint32_t node)
{
	return snapshot_node(r->snap, node)->kind == FRAME_SYNC;
}

static bool is_row(const struct host_table *t, uint32_t row, bool waits)
{
	uint32_t node = t->host ? t->host->rows[row].node : row;

	if (node == SNAP_NONE || is_wait(t->r, node) != waits)
		return false;
	return t->host || (!isnan(t->elapsed[node]) && numbers_counts(t->r->numbers, node));
}

static uint32_t n_rows(const struct host_table *t)
{
	return t->host ? t->host->n : snapshot_n(t->r->snap);
}

static int put_table(struct host_table *t, const struct row_kind *kind, bool waits)
{
	struct rows rows;
	int e;

	for (uint32_t i = 0; i < n_rows(t); i++)
		if (is_row(t, i, waits)) {
			const struct host_row row = row_at(t, i);

			t->sum += first_value(t, &row);
		}
	if (!(t->whole > 0))
		t->whole = t->sum;
	e = rows_init(&rows, t->r, kind, t);
	for (uint32_t i = 0; i < n_rows(t) && e == 0; i++)
		if (is_row(t, i, waits))
			e = rows_add(&rows, i);
	if (e == 0)
		e = rows_put(&rows);
	rows_done(&rows);
	return e;
}

/* Own time is what nested scopes leave: an expression leaves out some of these. */
static int put_scopes(struct report *r, const struct host *host)
{
	bool by_left = r->o->include || r->o->exclude;
	bool by_own = host_has_all_times(r->s) && !by_left;
	const double *time = derive_raw(numbers_derive(r->numbers), METRIC_CPU_TIME, true);
	struct host_table t = {.r = r, .host = host, .by_own = by_own, .by_left = by_left};

	if (!time)
		return -ENOMEM;
	if (!by_own)
		t.whole = time[0]; /* what is nested is in it once */
	if (by_left)
		rows_put_caption(r, HOST_BY_LEFT);
	else
		rows_put_caption(r, by_own ? HOST_BY_OWN : HOST_BY_TIME);
	if (by_left)
		return put_table(&t, &left_kind, false);
	return put_table(&t, by_own ? &own_kind : &elapsed_kind, false);
}

static int put_waits(struct report *r, const struct host *host)
{
	struct host_table by_kind = {.r = r, .host = host};
	struct host_table by_context = {
		.r = r, .elapsed = host_elapsed(r->snap), .entered = host_entered(r->snap)};
	int e;

	out_putc(r->out, '\n');
	rows_put_caption(r, "Waits for the GPU, not in copies");
	if (!host_has_wait(r->s)) {
		rows_put_caption(r, "none (proton top and record see them with --sync)");
		return 0;
	}
	e = put_table(&by_kind, &wait_kind, true);
	if (e < 0 || !by_context.elapsed)
		return e < 0 ? e : -ENOMEM;
	out_putc(r->out, '\n');
	rows_put_caption(r, "Calling contexts that wait");
	return put_table(&by_context, &waiting_kind, true);
}

int view_host(struct report *r)
{
	struct host host = {0};
	int e = host_update(&host, r->numbers, r->numbers);

	if (e == 0 && host.n == 0)
		out_puts(r->out, "none\n");
	else if (e == 0)
		e = put_scopes(r, &host);
	if (e == 0 && host.n)
		e = put_waits(r, &host);
	host_done(&host);
	return e;
}
