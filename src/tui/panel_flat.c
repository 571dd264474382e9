/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/order.h"
#include "core/durations.h"
#include "tui/panel.h"
#include "tui/tui_impl.h"

/* Kernels, copies and sets by name, over all calling contexts. */
struct panel_flat {
	struct panel base;
	const struct snap_flat *v; /* the snapshot's, by time descending */
	size_t n;
	double total_ns;
	double *cumulative; /* time up to and with entry i, in the snapshot's order */
	uint32_t *order;    /* entries as rows */
	size_t cap_order, cap_cumulative;
	double *quantiles; /* of the session's frames, N_QUANTILES each; NULL: not asked for yet */
	bool any_bytes, any_flops, any_range;
	struct column_fit layout;
};

#define N_QUANTILES 3

static struct panel_flat *as_flat(struct panel *p)
{
	return (struct panel_flat *)p;
}

/* ---- values; i is an entry ---- */

static double value_self(struct panel *p, uint32_t i)
{
	return as_flat(p)->v[i].time_ns;
}

static double value_share(struct panel *p, uint32_t i)
{
	return as_flat(p)->v[i].time_ns / as_flat(p)->total_ns;
}

static double value_cumulative(struct panel *p, uint32_t i)
{
	return as_flat(p)->cumulative[i] / as_flat(p)->total_ns;
}

static double value_rate(struct panel *p, uint32_t i)
{
	return as_flat(p)->v[i].time_rate;
}

static double value_count(struct panel *p, uint32_t i)
{
	return as_flat(p)->v[i].count;
}

static double value_average(struct panel *p, uint32_t i)
{
	const struct snap_flat *f = &as_flat(p)->v[i];

	return f->count > 0 ? f->time_ns / f->count : NAN;
}

static double value_min(struct panel *p, uint32_t i)
{
	return as_flat(p)->v[i].min_ns;
}

static double value_max(struct panel *p, uint32_t i)
{
	return as_flat(p)->v[i].max_ns;
}

static double value_bytes(struct panel *p, uint32_t i)
{
	return as_flat(p)->v[i].bytes;
}

static double value_gbs(struct panel *p, uint32_t i)
{
	const struct snap_flat *f = &as_flat(p)->v[i];

	return f->time_ns > 0 ? f->bytes / f->time_ns : NAN;
}

static double value_flops(struct panel *p, uint32_t i)
{
	return as_flat(p)->v[i].flops;
}

static double value_tfs(struct panel *p, uint32_t i)
{
	const struct snap_flat *f = &as_flat(p)->v[i];

	return f->time_ns > 0 ? f->flops / f->time_ns / 1e3 : NAN;
}

/* Histograms are looked at when a column of them is. */
static double value_quantile(struct panel *p, unsigned k, uint32_t i)
{
	static const double shares[N_QUANTILES] = {0.5, 0.9, 0.99};
	const struct session *s = snapshot_session(p->tui->snap);
	struct panel_flat *pf = as_flat(p);
	uint32_t node = snapshot_node(p->tui->snap, pf->v[i].node)->session_node;
	double v;

	if (!pf->quantiles)
		pf->quantiles = durations_by_frame(p->tui->snap, shares, N_QUANTILES);
	if (!pf->quantiles)
		return NAN;
	/* Of all lanes, and a guess inside its bucket, but never beyond what was measured. */
	v = pf->quantiles[s->nodes[node].frame * N_QUANTILES + k];
	return isnan(v) ? NAN : fmax(fmin(v, pf->v[i].max_ns), pf->v[i].min_ns);
}

static bool no_quantiles(struct panel *p)
{
	return snapshot_session(p->tui->snap)->n_hists == 0;
}

static bool no_rate(struct panel *p)
{
	return !p->tui->options.live;
}

static bool no_bytes(struct panel *p)
{
	return !as_flat(p)->any_bytes;
}

static bool no_flops(struct panel *p)
{
	return !as_flat(p)->any_flops;
}

static bool no_range(struct panel *p)
{
	return !as_flat(p)->any_range;
}

#define QUANTILE(title_, help_, k_)                                                                \
	{.title = title_, .help = help_, .width = 6, .priority = 14 - (k_),                        \
	 .format = human_time_ns, .nth_value = value_quantile, .is_absent = no_quantiles, .k = (k_)}

static const struct column columns[] = {
	{"SELF", "time on the device", 7, 0, human_time_ns, value_self, NULL},
	{"%", "share of the total", 5, 1, human_percent, value_share, NULL},
	{"CUM%", "share of the total with all that are longer", 5, 4, human_percent,
	 value_cumulative, NULL},
	{"NOW/s", "time on the device in the last window, per second", 7, 7, human_time_ns,
	 value_rate, no_rate},
	{"CALLS", "executions", 6, 2, human_count, value_count, NULL},
	{"AVG", "time of one execution", 6, 3, human_time_ns, value_average, NULL},
	{"MIN", "shortest execution", 6, 9, human_time_ns, value_min, no_range},
	{"MAX", "longest execution", 6, 8, human_time_ns, value_max, no_range},
	QUANTILE("P50", "half of the executions were no longer", 0),
	QUANTILE("P90", "90 % of the executions were no longer", 1),
	QUANTILE("P99", "99 % of the executions were no longer", 2),
	{"BYTES", "bytes moved", 6, 10, human_bytes, value_bytes, no_bytes},
	{"GB/s", "bytes moved per time on the device", 5, 5, human_rate, value_gbs, no_bytes},
	{"FLOPS", "floating-point operations", 6, 11, human_count, value_flops, no_flops},
	{"TF/s", "floating-point operations per time on the device", 5, 6, human_rate, value_tfs,
	 no_flops},
};

/* ---- rows ---- */

/* Totals over all entries, filtered out or not. */
static void sum_up(struct panel_flat *pf)
{
	pf->total_ns = 0;
	pf->any_bytes = pf->any_flops = pf->any_range = false;
	for (size_t i = 0; i < pf->n; i++) {
		if (!isnan(pf->v[i].time_ns))
			pf->total_ns += pf->v[i].time_ns;
		pf->cumulative[i] = pf->total_ns;
		pf->any_bytes |= !isnan(pf->v[i].bytes);
		pf->any_flops |= !isnan(pf->v[i].flops);
		pf->any_range |= !isnan(pf->v[i].max_ns);
	}
}

static const char *name_of(struct panel *p, uint32_t i)
{
	return snapshot_name(p->tui->snap, as_flat(p)->v[i].node, p->tui->names);
}

static bool passes(struct panel *p, uint32_t i, bool match_case)
{
	const char *filter = p->tui->filter;

	return !*filter || text_find(name_of(p, i), filter, match_case);
}

static void make_order(struct panel *p)
{
	struct panel_flat *pf = as_flat(p);
	_cleanup_(freep) struct order_entry *order = malloc((pf->n + 1) * sizeof(*order));
	bool match_case = text_is_smart_case(p->tui->filter);
	size_t n = 0;

	if (!order)
		return;
	for (uint32_t i = 0; i < pf->n; i++)
		if (passes(p, i, match_case))
			order[n++] = (struct order_entry){column_value(&columns[p->sort], p, i), i, 0};
	order_sort(order, n, p->ascending);
	for (size_t i = 0; i < n; i++)
		pf->order[i] = order[i].id;
	p->n_rows = n;
}

static void update(struct panel *p)
{
	struct panel_flat *pf = as_flat(p);

	p->n_rows = 0;
	free(pf->quantiles);
	pf->quantiles = NULL;
	pf->v = snapshot_flat(p->tui->snap, &pf->n);
	if (!pf->v ||
	    array_reserve((void **)&pf->order, &pf->cap_order, pf->n + 1, sizeof(*pf->order)) < 0 ||
	    array_reserve((void **)&pf->cumulative, &pf->cap_cumulative, pf->n + 1,
			  sizeof(*pf->cumulative)) < 0)
		return;
	sum_up(pf);
	make_order(p);
	fit_make(&pf->layout, p, &p->columns, p->width, (int)p->sort);
}

static const struct snap_flat *entry(struct panel *p, size_t row)
{
	return &as_flat(p)->v[as_flat(p)->order[row]];
}

static uint64_t row_key(struct panel *p, size_t row)
{
	return entry(p, row)->frame;
}

static const char *row_name(struct panel *p, size_t row)
{
	return name_of(p, as_flat(p)->order[row]);
}

static uint32_t row_node(struct panel *p, size_t row)
{
	return entry(p, row)->node;
}

static void draw_head(struct panel *p, struct pen *pen)
{
	fit_head(&as_flat(p)->layout, pen, &p->columns, p->ops->name, (int)p->sort,
		    p->ascending);
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_flat *pf = as_flat(p);
	const struct snap_flat *f = entry(p, row);
	struct pen_name name = {.text = row_name(p, row),
				.scroll = p->scroll,
				.needle = p->tui->search,
				.cut = TEXT_CUT_MIDDLE};

	fit_cells(&pf->layout, pen, p, &p->columns, pf->order[row]);
	pen_name(pen, kind_role(f->kind), &name);
}

static void explain(struct panel *p, struct buf *out)
{
	if (as_flat(p)->n && *p->tui->filter)
		buf_printf(out,
			   "no kernel, copy or set has '%s' in its name\nEsc clears the filter",
			   p->tui->filter);
	else
		tui_explain_empty(p->tui, out);
}

static void done(struct panel *p)
{
	free(as_flat(p)->order);
	free(as_flat(p)->cumulative);
	free(as_flat(p)->quantiles);
}

/* "Total" is the same as exclusive here. */
static bool request(struct panel *p, enum request request)
{
	if (request != REQ_SORT_TOTAL)
		return false;
	panel_sort(p, 0);
	return true;
}

const struct panel_ops panel_flat_ops = {
	.title = "Kernels",
	.tab = "Kern",
	.name = "NAME",
	.size = sizeof(struct panel_flat),
	.columns = {columns, ARRAY_SIZE(columns), 35},
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.row_node = row_node,
	.draw_head = draw_head,
	.draw_row = draw_row,
	.explain = explain,
	.request = request,
};
