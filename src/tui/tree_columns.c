/* SPDX-License-Identifier: MIT */
/* Columns of the tree: numbers of the snapshot, and what follows from them. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "core/hists.h"
#include "core/session.h"
#include "tui/panel_tree.h"

static const struct snap_column *fetch_flops(struct snapshot *snap)
{
	static const uint32_t metrics[] = {METRIC_FLOPS, METRIC_FLOPS8, METRIC_FLOPS16,
					   METRIC_FLOPS32, METRIC_FLOPS64};

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		if (snapshot_has(snap, metrics[i]))
			return snapshot_flops(snap);
	return NULL;
}

static const struct snap_column *fetch(struct snapshot *snap, enum tree_source source)
{
	static const struct {
		uint32_t metric;
		bool inclusive;
	} plain[SRC_N] = {
		[SRC_TOTAL] = {METRIC_TIME, true},   [SRC_SELF] = {METRIC_TIME, false},
		[SRC_COUNT] = {METRIC_COUNT, true},  [SRC_MIN] = {METRIC_TIME_MIN, true},
		[SRC_MAX] = {METRIC_TIME_MAX, true}, [SRC_BYTES] = {METRIC_BYTES, true},
		[SRC_CPU] = {METRIC_CPU_TIME, true},
	};

	if (source == SRC_RATE)
		return snapshot_rate(snap, METRIC_TIME);
	if (source == SRC_FLOPS)
		return fetch_flops(snap);
	if (!snapshot_has(snap, plain[source].metric))
		return NULL;
	return snapshot_column(snap, plain[source].metric, plain[source].inclusive);
}

static const double *fetch_column(struct panel_tree *pt, enum tree_source source)
{
	const struct snap_column *c;

	c = fetch(pt->tree.snap, source);
	return c ? c->v : NULL;
}

static double get(struct panel *p, enum tree_source source, uint32_t id)
{
	struct panel_tree *pt = as_tree(p);

	if (!pt->fetched[source]) {
		pt->sources[source] = fetch_column(pt, source);
		pt->fetched[source] = true;
	}
	return pt->sources[source] && id < pt->tree.n_flags ? pt->sources[source][id] : NAN;
}

static double value_total(struct panel *p, uint32_t id)
{
	return get(p, SRC_TOTAL, id);
}

static double value_self(struct panel *p, uint32_t id)
{
	return get(p, SRC_SELF, id);
}

/* Of the view's root, or of the parent. */
static double value_share(struct panel *p, uint32_t id)
{
	const struct tree *tree = &as_tree(p)->tree;
	uint32_t whole = tree->root;

	if (p->tui->percent_of_parent && id != tree->root)
		whole = snapshot_node(p->tui->snap, id)->parent;
	return get(p, SRC_TOTAL, id) / get(p, SRC_TOTAL, whole);
}

static double value_rate(struct panel *p, uint32_t id)
{
	return get(p, SRC_RATE, id);
}

static double value_count(struct panel *p, uint32_t id)
{
	return get(p, SRC_COUNT, id);
}

static double value_average(struct panel *p, uint32_t id)
{
	double count = get(p, SRC_COUNT, id);

	return count > 0 ? get(p, SRC_TOTAL, id) / count : NAN;
}

static double value_min(struct panel *p, uint32_t id)
{
	return get(p, SRC_MIN, id);
}

static double value_max(struct panel *p, uint32_t id)
{
	return get(p, SRC_MAX, id);
}

/* Histograms of this picture, nothing summed up yet. */
static bool renew_quantiles(struct tree_quantiles *q, struct snapshot *snap)
{
	size_t n = MAX(snapshot_n(snap), 1u);

	if (q->hists && q->generation == snapshot_generation(snap))
		return true;
	if (!q->hists && !(q->hists = hists_new(snap)))
		return false;
	if (hists_update(q->hists, NULL) < 0 ||
	    array_reserve((void **)&q->v, &q->cap_v, n, sizeof(*q->v)) < 0 ||
	    array_reserve((void **)&q->known, &q->cap_known, n, sizeof(*q->known)) < 0)
		return false;
	memset(q->known, 0, n);
	q->generation = snapshot_generation(snap);
	return true;
}

/* From the histograms of a node and of what is below it. */
static void find_quantiles(struct tree_quantiles *q, uint32_t id)
{
	static const double shares[N_QUANTILES] = {0.5, 0.9, 0.99};

	hists_shares(q->hists, &id, 1, true, shares, N_QUANTILES, q->v[id]);
	q->known[id] = true;
}

static double value_quantile(struct panel *p, unsigned k, uint32_t id)
{
	struct tree_quantiles *q = &as_tree(p)->quantiles;

	if (!renew_quantiles(q, p->tui->snap))
		return NAN;
	if (!q->known[id])
		find_quantiles(q, id);
	return q->v[id][k];
}

static bool no_quantiles(struct panel *p)
{
	return snapshot_session(p->tui->snap)->n_hists == 0;
}

static double value_bytes(struct panel *p, uint32_t id)
{
	return get(p, SRC_BYTES, id);
}

/* Bytes a nanosecond are gigabytes a second. */
static double value_gbs(struct panel *p, uint32_t id)
{
	double time = get(p, SRC_TOTAL, id);

	return time > 0 ? get(p, SRC_BYTES, id) / time : NAN;
}

static double value_flops(struct panel *p, uint32_t id)
{
	return get(p, SRC_FLOPS, id);
}

static double value_tfs(struct panel *p, uint32_t id)
{
	double time = get(p, SRC_TOTAL, id);

	return time > 0 ? get(p, SRC_FLOPS, id) / time / 1e3 : NAN;
}

static double value_cpu(struct panel *p, uint32_t id)
{
	return get(p, SRC_CPU, id);
}

/* Exclusive, so that all nodes make the whole. */
static double value_cpu_share(struct panel *p, uint32_t id)
{
	struct panel_tree *pt = as_tree(p);

	if (isnan(pt->cpu_total)) {
		pt->cpu_total = 0;
		for (uint32_t i = 0; i < pt->tree.n_flags; i++)
			if (!isnan(get(p, SRC_CPU, i)))
				pt->cpu_total += get(p, SRC_CPU, i);
	}
	return pt->cpu_total > 0 ? get(p, SRC_CPU, id) / pt->cpu_total : NAN;
}

bool tree_has_no_time(struct panel *p)
{
	return isnan(get(p, SRC_TOTAL, 0));
}

static bool no_self(struct panel *p)
{
	return tree_has_no_time(p);
}

static bool no_count(struct panel *p)
{
	return isnan(get(p, SRC_COUNT, 0));
}

static bool no_range(struct panel *p)
{
	return isnan(get(p, SRC_MIN, 0));
}

static bool no_rate(struct panel *p)
{
	return !p->tui->options.live || tree_has_no_time(p);
}

static bool no_bytes(struct panel *p)
{
	return isnan(get(p, SRC_BYTES, 0));
}

static bool no_flops(struct panel *p)
{
	return isnan(get(p, SRC_FLOPS, 0));
}

/* Exclusive, so that the root does not tell. */
static bool no_cpu(struct panel *p)
{
	struct panel_tree *pt = as_tree(p);

	get(p, SRC_CPU, 0);
	if (!pt->sources[SRC_CPU])
		return true;
	if (pt->cpu_seen != SNAP_NONE && !isnan(get(p, SRC_CPU, pt->cpu_seen)))
		return false;
	for (uint32_t id = 0; id < pt->tree.n_flags; id++)
		if (!isnan(get(p, SRC_CPU, id))) {
			pt->cpu_seen = id;
			return false;
		}
	return true;
}

/* Beside time on the device it would be one percentage too many. */
static bool no_cpu_share(struct panel *p)
{
	return !tree_has_no_time(p) || no_cpu(p);
}

#define QUANTILE(title_, help_, k_)                                                                \
	{.title = title_, .help = help_, .width = 6, .priority = 14 - (k_),                        \
	 .format = human_time_ns, .nth_value = value_quantile, .is_absent = no_quantiles, .k = (k_)}

static void format_rate_ns(char out[HUMAN_MAX], double ns_per_second)
{
	human_time_ns(out, ns_per_second);
}

static const struct column columns[] = {
	{"TOTAL", "time on the device, with everything below", 7, 0, human_time_ns, value_total,
	 tree_has_no_time},
	{"%", "share of the total, or of the parent", 5, 1, human_percent, value_share,
	 tree_has_no_time},
	{"NOW/s", "time on the device in the last window, per second", 7, 2, format_rate_ns,
	 value_rate, no_rate},
	{"SELF", "time on the device, without what is below", 7, 9, human_time_ns, value_self,
	 no_self},
	{"CALLS", "executions", 6, 3, human_count, value_count, no_count},
	{"AVG", "time of one execution", 6, 6, human_time_ns, value_average, no_count},
	{"MIN", "shortest execution", 6, 11, human_time_ns, value_min, no_range},
	{"MAX", "longest execution", 6, 10, human_time_ns, value_max, no_range},
	QUANTILE("P50", "half of the executions were no longer", 0),
	QUANTILE("P90", "90 % of the executions were no longer", 1),
	QUANTILE("P99", "99 % of the executions were no longer", 2),
	{"BYTES", "bytes moved", 6, 7, human_bytes, value_bytes, no_bytes},
	{"GB/s", "bytes moved per time on the device", 5, 4, human_rate, value_gbs, no_bytes},
	{"FLOPS", "floating-point operations", 6, 8, human_count, value_flops, no_flops},
	{"TF/s", "floating-point operations per time on the device", 5, 5, human_rate, value_tfs,
	 no_flops},
	{"CPU", "time on the host, without what is below", 7, 2, human_time_ns, value_cpu, no_cpu},
	{"CPU%", "share of all time on the host", 5, 2, human_percent, value_cpu_share,
	 no_cpu_share},
};

const struct columns tree_columns = {columns, ARRAY_SIZE(columns), 45};

/* ---- metrics that only this profile has: columns made when they appear ---- */

static double value_extra(struct panel *p, unsigned k, uint32_t id)
{
	struct panel_tree *pt = as_tree(p);
	const struct snap_column *c = snapshot_column(p->tui->snap, pt->extra[k].metric, true);

	return c && id < pt->tree.n_flags ? c->v[id] : NAN;
}

/* A column's function is told the row only, so that each extra column has its own. */
#define EXTRA(k)                                                                                   \
	static double value_extra_##k(struct panel *p, uint32_t id)                                \
	{                                                                                          \
		return value_extra(p, k, id);                                                      \
	}
EXTRA(0)
EXTRA(1)
EXTRA(2)
EXTRA(3)
EXTRA(4)
EXTRA(5)

static double (*const extra_values[MAX_EXTRA])(struct panel *, uint32_t) = {
	value_extra_0, value_extra_1, value_extra_2, value_extra_3, value_extra_4, value_extra_5,
};

static void format_plain(char out[HUMAN_MAX], double v)
{
	if (fabs(v) < 100 && v != floor(v))
		human_rate(out, v);
	else
		human_count(out, v);
}

/* A title from a metric's name: without its unit, as long as the column is wide. */
void tree_extra_title(char *out, size_t size, const char *name)
{
	size_t n = strcspn(name, "(");

	while (n > 0 && name[n - 1] == ' ')
		n--;
	snprintf(out, size, "%.*s", (int)n, name);
}

void (*tree_extra_format(const struct metric *m))(char[HUMAN_MAX], double)
{
	return !strcmp(m->unit, "ns") ? human_time_ns
	       : !strcmp(m->unit, "B") ? human_bytes
				       : format_plain;
}

static void add_extra(struct panel_tree *pt, uint32_t metric, const struct metric *m)
{
	unsigned k = pt->n_extra++;
	struct column *c = &pt->columns[ARRAY_SIZE(columns) + k];

	pt->extra[k].metric = metric;
	tree_extra_title(pt->extra[k].title, sizeof(pt->extra[k].title), m->name);
	*c = (struct column){
		.title = pt->extra[k].title,
		.help = m->name,
		.width = (uint8_t)MAX(strlen(pt->extra[k].title), 7u),
		.priority = (uint8_t)(20 + k),
		.format = tree_extra_format(m),
		.value = extra_values[k],
	};
	pt->base.columns.n = ARRAY_SIZE(columns) + pt->n_extra;
}

void tree_columns_init(struct panel_tree *pt)
{
	pt->n_metrics = METRIC_N_BUILTIN;
	pt->cpu_total = NAN;
	memcpy(pt->columns, columns, sizeof(columns));
	pt->base.columns.v = pt->columns;
}

void tree_columns_done(struct panel_tree *pt)
{
	hists_free(pt->quantiles.hists);
	free(pt->quantiles.v);
	free(pt->quantiles.known);
	free(pt->limit);
}

/* The nodes of a snapshot that reach the limit; NULL: out of memory, or it cannot be told. */
static uint8_t *reach_limit(const struct least *least, struct snapshot *snap)
{
	uint8_t *mask = filter_all(snap);

	if (mask && least_apply(least, mask, snap) < 0) {
		free(mask);
		return NULL;
	}
	return mask;
}

void tree_columns_limit(struct panel_tree *pt)
{
	const struct tui *t = pt->base.tui;
	_cleanup_(freep) uint8_t *other = NULL;

	free(pt->limit);
	pt->limit = least_any(&t->least) ? reach_limit(&t->least, t->snap) : NULL;
	if (pt->limit && t->options.before)
		other = reach_limit(&t->least, t->options.before);
	for (uint32_t i = 0; other && i < snapshot_n(t->snap); i++)
		pt->limit[i] |= other[i];
	pt->tree.limit = pt->limit;
	pt->tree.n_limit = snapshot_n(t->snap);
}

void tree_columns_update(struct panel_tree *pt)
{
	const struct metric_table *table = snapshot_session(pt->tree.snap)->metrics;
	uint32_t n = metric_table_count(table);

	memset(pt->fetched, 0, sizeof(pt->fetched));
	pt->cpu_total = NAN;
	metric_columns_update(&pt->metric);
	if (pt->base.metrics) /* those asked for, and no others */
		return;
	for (; pt->n_metrics < n && pt->n_extra < MAX_EXTRA; pt->n_metrics++) {
		const struct metric *m = metric_table_get(table, pt->n_metrics);

		if (m->type != METRIC_TEXT)
			add_extra(pt, pt->n_metrics, m);
	}
}

const char *panel_tree_sort_name(unsigned i)
{
	return i < ARRAY_SIZE(columns) ? columns[i].title : NULL;
}
