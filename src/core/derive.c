/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/derive.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/unset.h"
#include "base/util.h"
#include "core/hists.h"
#include "core/measured_work.h"
#include "core/metadata.h"
#include "core/parted.h"

/* A column made so far; raw ones have factor 0. */
struct made {
	struct derived key;
	bool all; /* counts what is not shown, too */
	double *v;
};

struct derive {
	struct snapshot *snap;
	const struct peaks *peaks;
	const uint8_t *removed, *shown;
	enum totals totals;
	struct made *made;
	size_t n_made, cap_made;
	uint64_t generation;
	struct hists *hists; /* NULL: not asked for yet */
	bool hists_fresh, hists_all;
	struct measured_metrics measured;
	char why[160];
};

const char *bound_word(enum bound bound)
{
	static const char *const words[BOUND_N] = {"neither", "compute", "memory"};

	return bound < BOUND_N ? words[bound] : words[BOUND_NEITHER];
}

const char *work_source_word(enum work_source source)
{
	static const char *const words[WORK_N_SOURCES] = {"given", "counted", "both"};

	return source < WORK_N_SOURCES ? words[source] : "";
}

const char *derived_word(const struct derived *m, double v)
{
	return m->op == DERIVED_BOUND    ? bound_word((enum bound)v)
	       : m->op == DERIVED_SOURCE ? work_source_word((enum work_source)v)
					 : NULL;
}

double derive_source(double given, double counted)
{
	if (isnan(given))
		return isnan(counted) ? NAN : WORK_COUNTED;
	return isnan(counted) ? WORK_GIVEN : WORK_OF_BOTH;
}

const struct metric *derive_metric(const struct session *s, uint32_t metric)
{
	static const struct metric any_flops = {.name = "flops of any width",
						.unit = "",
						.type = METRIC_F64,
						.scope = METRIC_INCLUSIVE,
						.add = METRIC_SUM,
						.weight = METRIC_NONE};

	return metric == METRIC_ANY_FLOPS ? &any_flops : metric_table_get(s->metrics, metric);
}

static const uint32_t flops_metrics[] = {METRIC_FLOPS, METRIC_FLOPS8, METRIC_FLOPS16,
					 METRIC_FLOPS32, METRIC_FLOPS64};

bool derive_part(uint32_t metric, size_t i, uint32_t *ret)
{
	if (i >= (metric == METRIC_ANY_FLOPS ? ARRAY_SIZE(flops_metrics) : 1))
		return false;
	*ret = metric == METRIC_ANY_FLOPS ? flops_metrics[i] : metric;
	return true;
}

uint32_t derive_flops(const struct session *s)
{
	uint32_t found = METRIC_FLOPS, n = 0, part;

	for (size_t i = 0; derive_part(METRIC_ANY_FLOPS, i, &part); i++) {
		if (!session_has_values(s, part))
			continue;
		found = part;
		n++;
	}
	return n > 1 ? METRIC_ANY_FLOPS : found;
}

/* hidden, by node: launch metadata, which is no work of the program. */
static bool is_measured(const struct session *s, const uint8_t *hidden, uint32_t metric)
{
	for (size_t i = 0; i < s->n_rows; i++)
		if (!(hidden && hidden[s->rows[i].node]) &&
		    session_row_number(s, &s->rows[i], metric) > 0)
			return true;
	return false;
}

uint32_t derive_time(const struct session *s)
{
	_cleanup_(freep) uint8_t *hidden = metadata_nodes(s);
	bool host = !is_measured(s, hidden, METRIC_TIME) && is_measured(s, hidden, METRIC_CPU_TIME);

	return host ? METRIC_CPU_TIME : METRIC_TIME;
}

bool derived_divisor(const struct derived *m, bool inclusive, struct derived *ret)
{
	*ret = (struct derived){.inclusive = inclusive, .factor = 1};
	switch (m->op) {
	case DERIVED_AVG:
		ret->metric = METRIC_COUNT;
		ret->plain = m->metric != METRIC_CPU_TIME;
		ret->op = ret->plain ? DERIVED_VALUE : DERIVED_LAUNCHED;
		ret->inclusive |= !ret->plain;
		return true;
	case DERIVED_SAMPLED:
		ret->metric = METRIC_SAMPLED;
		ret->op = DERIVED_VALUE;
		ret->plain = true;
		return true;
	case DERIVED_RATE:
		ret->op = DERIVED_WORK_TIME;
		ret->metric = m->metric;
		return true;
	default:
		return false;
	}
}

struct derived derived_dividend(const struct derived *m, bool inclusive)
{
	const bool is_rate = m->op == DERIVED_RATE;

	return (struct derived){.op = is_rate ? DERIVED_WORK : DERIVED_VALUE,
				.inclusive = inclusive,
				.plain = !is_rate,
				.metric = m->metric,
				.factor = 1};
}

double derived_quotient(const struct derived *m, double of, double by)
{
	switch (m->op) {
	case DERIVED_SHARE:
	case DERIVED_OF_PARENT:
		return of / by * 100;
	case DERIVED_AVG:
		return by > 0 ? of / by / m->factor : NAN;
	case DERIVED_SAMPLED:
		return by > 0 ? of / by * 100 : NAN;
	case DERIVED_RATE:
		return by > 0 ? of / by * (1e9 / m->factor) : NAN;
	default:
		return of / m->factor;
	}
}

/* ---- columns ---- */

struct derive *derive_new(struct snapshot *snap, const struct peaks *peaks)
{
	struct derive *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->snap = snap;
	d->peaks = peaks;
	d->generation = 1;
	return d;
}

static void drop_columns(struct derive *d)
{
	for (size_t i = 0; i < d->n_made; i++)
		free(d->made[i].v);
	d->n_made = 0;
}

struct derive *derive_free(struct derive *d)
{
	if (!d)
		return NULL;
	drop_columns(d);
	hists_free(d->hists);
	measured_metrics_done(&d->measured);
	free(d->made);
	free(d);
	return NULL;
}

void derive_masks(struct derive *d, const uint8_t *removed, const uint8_t *shown,
		  enum totals totals)
{
	drop_columns(d);
	d->removed = removed;
	d->shown = shown;
	d->totals = totals;
	d->generation++;
	d->hists_fresh = false;
}

const char *derive_why(const struct derive *d)
{
	return *d->why ? d->why : NULL;
}

static bool same_key(const struct derived *a, const struct derived *b)
{
	return a->op == b->op && a->inclusive == b->inclusive && a->metric == b->metric &&
	       a->factor == b->factor && a->share == b->share;
}

static double *column_find(const struct derive *d, const struct derived *key, bool all)
{
	for (size_t i = 0; i < d->n_made; i++)
		if (d->made[i].all == all && same_key(&d->made[i].key, key))
			return d->made[i].v;
	return NULL;
}

/* A new column, all absent, which d owns. */
static double *column_new(struct derive *d, const struct derived *key, bool all)
{
	uint32_t n = snapshot_n(d->snap);
	double *v;

	if (ARRAY_ROOM(d->made, d->cap_made, d->n_made + 1) < 0)
		return NULL;
	v = malloc(MAX(n, 1u) * sizeof(*v));
	if (!v)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		v[i] = NAN;
	d->made[d->n_made++] = (struct made){*key, all, v};
	return v;
}

static bool counts(const struct derive *d, uint32_t node, bool all)
{
	return (!d->removed || d->removed[node]) && (all || !d->shown || d->shown[node]);
}

/* By node: does what is not counted part what a program says of it? *ret is malloc'd; NULL: nothing is.
 * Triton's viewer does not ask. What the snapshot hides, it has parted itself. */
static int find_parted(struct derive *d, bool all, uint8_t **ret)
{
	const struct snap_node *nodes = snapshot_nodes(d->snap);
	uint32_t n = snapshot_n(d->snap);
	const struct snap_column *time;
	uint8_t *parted;
	int r;

	*ret = NULL;
	if (d->totals == TOTALS_UPSTREAM || (!d->removed && (all || !d->shown)))
		return 0;
	time = snapshot_column(d->snap, METRIC_TIME, false);
	parted = time ? malloc(MAX(n, 1u)) : NULL;
	if (!parted)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		parted[i] = !counts(d, i, all) && !nodes[i].metadata && !isnan(time->v[i]);
	r = snapshot_mark_above(d->snap, parted);
	if (r == 0)
		*ret = parted;
	else
		free(parted);
	return r;
}

/* From the last node to the first: each into its parent. */
static int roll_up(struct derive *d, const struct metric *m, double *v)
{
	const struct snap_column *weight = m->add == METRIC_WMEAN && m->weight != METRIC_NONE
						   ? snapshot_column(d->snap, m->weight, false)
						   : NULL;
	uint32_t n = snapshot_n(d->snap), i;
	_cleanup_(freep) double *w = malloc(MAX(n, 1u) * sizeof(*w));

	if (!w)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		w[i] = weight && !isnan(weight->v[i]) ? weight->v[i] : 1;
	for (i = n; i-- > 1;) {
		uint32_t parent = snapshot_node(d->snap, i)->parent;

		metric_add_number(m, &v[parent], &w[parent], v[i], w[i]);
	}
	return 0;
}

/* Add each node's value to its parent's: from the last node on, since parents come first. */
static void add_to_parents(const struct derive *d, double *v)
{
	const uint32_t *parents = snapshot_parents(d->snap);

	for (uint32_t id = snapshot_n(d->snap); id-- > 1;)
		add_present(&v[parents[id]], v[id]);
}

static bool is_used(struct derive *d, uint32_t metric)
{
	uint32_t part;

	for (size_t i = 0; derive_part(metric, i, &part); i++)
		if (snapshot_has(d->snap, part))
			return true;
	return false;
}

static const double *raw(struct derive *d, uint32_t metric, bool inclusive, bool all);

/* The sum over all widths; where only one is used, its own column. */
static const double *any_flops(struct derive *d, bool inclusive, bool all)
{
	const struct derived key = {
		.op = DERIVED_VALUE, .inclusive = inclusive, .metric = METRIC_ANY_FLOPS};
	const double *of[ARRAY_SIZE(flops_metrics)];
	double *v = column_find(d, &key, all);
	size_t n = 0;

	if (v)
		return v;
	for (size_t i = 0; i < ARRAY_SIZE(flops_metrics); i++) {
		of[n] = is_used(d, flops_metrics[i]) ? raw(d, flops_metrics[i], inclusive, all)
						     : NULL;
		n += of[n] != NULL;
	}
	if (n == 1)
		return of[0];
	v = column_new(d, &key, all);
	for (size_t i = 0; v && i < n; i++)
		for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
			add_present(&v[id], of[i][id]);
	return v;
}

/* Is what was measured at a node with what was measured below? Triton's viewer does not ask. */
static bool is_nested(const struct derive *d, uint32_t metric)
{
	return metric == METRIC_CPU_TIME && d->totals != TOTALS_UPSTREAM;
}

/* Own time on the host of nodes that count. Rolled up, it is elapsed time, and never less than what is
 * below: of a scope that is still open, only that has come. */
static int host_time(struct derive *d, bool inclusive, bool all, double *v)
{
	uint32_t n = snapshot_n(d->snap);

	if (snapshot_own_time(d->snap, v) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (!counts(d, i, all))
			v[i] = NAN;
	if (inclusive)
		add_to_parents(d, v);
	else if (snapshot_is_reset(d->snap)) /* scopes that were open then bring time from before */
		for (uint32_t i = 0; i < n; i++)
			v[i] = NAN;
	return 0;
}

/* Own values of the nodes that count. */
static int copy_own(struct derive *d, uint32_t metric, bool all, const double *own, double *v)
{
	_cleanup_(freep) uint8_t *parted = NULL;

	if (parted_metric(snapshot_session(d->snap), metric) && find_parted(d, all, &parted) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		if (counts(d, i, all) && !(parted && parted[i]))
			v[i] = own[i];
	return 0;
}

static const double *raw(struct derive *d, uint32_t metric, bool inclusive, bool all)
{
	const struct derived key = {.op = DERIVED_VALUE, .inclusive = inclusive, .metric = metric};
	const struct metric *m = metric_table_get(snapshot_session(d->snap)->metrics, metric);
	bool masked = d->removed || (d->shown && !all);
	const struct snap_column *own;
	double *v;

	if (metric == METRIC_ANY_FLOPS)
		return any_flops(d, inclusive, all);
	v = column_find(d, &key, all);
	if (v || !m)
		return v;
	if (is_nested(d, metric)) {
		v = column_new(d, &key, all);
		return v && host_time(d, inclusive, all, v) == 0 ? v : NULL;
	}
	if (!masked && (!inclusive || m->scope == METRIC_INCLUSIVE)) {
		own = snapshot_column(d->snap, metric, inclusive);
		return own ? own->v : NULL;
	}
	own = snapshot_column(d->snap, metric, false);
	v = own ? column_new(d, &key, all) : NULL;
	if (!v || copy_own(d, metric, all, own->v, v) < 0)
		return NULL;
	if (inclusive && m->type != METRIC_TEXT && roll_up(d, m, v) < 0)
		return NULL;
	return v;
}

const double *derive_raw(struct derive *d, uint32_t metric, bool inclusive)
{
	return raw(d, metric, inclusive, d->totals == TOTALS_OF_ALL);
}

const double *derive_used(struct derive *d, uint32_t metric, bool inclusive)
{
	return is_used(d, metric) ? derive_raw(d, metric, inclusive) : NULL;
}

/* The snapshot has inclusive rates only: subtract those of the children to get a node's own. */
static void own_rates(const struct derive *d, const double *rate, const double *own, double *v)
{
	const uint32_t *parents = snapshot_parents(d->snap);
	uint32_t n = snapshot_n(d->snap);

	for (uint32_t id = 0; id < n; id++)
		v[id] = rate[id];
	for (uint32_t id = 1; id < n; id++)
		if (!isnan(rate[id]))
			v[parents[id]] -= rate[id];
	for (uint32_t id = 0; id < n; id++)
		if (isnan(own[id]))
			v[id] = NAN;
}

const double *derive_now(struct derive *d, uint32_t metric, bool inclusive)
{
	const struct derived key = {.op = DERIVED_NOW, .inclusive = inclusive, .metric = metric};
	const struct snap_column *rate = snapshot_rate(d->snap, metric);
	const double *own;
	double *v = column_find(d, &key, false);

	if (v || !rate)
		return v;
	if (inclusive && !d->removed && !d->shown)
		return rate->v;
	own = derive_raw(d, metric, false);
	v = own ? column_new(d, &key, false) : NULL;
	if (!v)
		return NULL;
	own_rates(d, rate->v, own, v);
	if (inclusive)
		add_to_parents(d, v);
	return v;
}

/* ---- what is made of raw columns ---- */

/* In the unit asked for. Triton's viewer goes through seconds, which matters for rounding. */
static double in_unit(const struct derive *d, const struct derived *m, double value, double count)
{
	if (d->totals == TOTALS_UPSTREAM && !m->plain &&
	    (m->metric == METRIC_TIME || m->metric == METRIC_CPU_TIME))
		return value * 1e-9 / count / (1 / (1e9 / m->factor));
	return value / count / m->factor;
}

static void make_value(const struct derive *d, const struct derived *m, const double *a, double *v)
{
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		v[i] = in_unit(d, m, a[i], 1);
}

/* What exclusive shares are a share of. */
static double sum_of(const struct derive *d, const double *v)
{
	double sum = 0;

	for (uint32_t i = 0; v && i < snapshot_n(d->snap); i++)
		sum += isnan(v[i]) ? 0 : v[i];
	return sum;
}

static void make_share(const struct derive *d, const struct derived *m, const double *a, double *v)
{
	double all = m->inclusive ? a[0] : sum_of(d, a);

	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		v[i] = a[i] / all * 100;
}

static void make_of_parent(const struct derive *d, const double *a, double *v)
{
	v[0] = a[0] / a[0] * 100;
	for (uint32_t i = 1; i < snapshot_n(d->snap); i++)
		v[i] = a[i] / a[snapshot_node(d->snap, i)->parent] * 100;
}

/* A mean or a rate. */
static double quotient(const struct derive *d, const struct derived *m, double of, double by)
{
	if (d->totals != TOTALS_UPSTREAM || m->op == DERIVED_SAMPLED)
		return derived_quotient(m, of, by);
	return m->op == DERIVED_RATE ? of / (by * 1e-9) / m->factor : in_unit(d, m, of, by);
}

/* A value is of what is below its node, too: a program gives its operations to a scope, and kernels
 * within have the time. *ret_has: by node, NULL for Triton's viewer, which takes all time there is. */
static int find_worked(struct derive *d, uint32_t metric, bool all, bool **ret_has)
{
	const uint32_t *parents = snapshot_parents(d->snap);
	uint32_t n = snapshot_n(d->snap);
	const double *of;

	if (d->totals == TOTALS_UPSTREAM)
		return 0;
	*ret_has = calloc(MAX(n, 1u), sizeof(**ret_has));
	if (!*ret_has)
		return -ENOMEM;
	if (!is_used(d, metric))
		return 0;
	of = raw(d, metric, false, all);
	if (!of)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++)
		(*ret_has)[id] = !isnan(of[id]) || (id && (*ret_has)[parents[id]]);
	return 0;
}

/* Below groups, the work that a scope's number is of may be in other branches than the scope. A group has a
 * rate of what it has of both; for the root, which has all, they are found as without groups. Does that
 * make a difference? Not where what has the number has the time, too, as copies. */
static bool is_scattered(struct derive *d, const double *of, const double *time)
{
	uint32_t n = snapshot_n(d->snap), id = 0;

	if (snapshot_group(d->snap) == GROUP_NONE || d->totals == TOTALS_UPSTREAM)
		return false;
	while (id < n && (isnan(of[id]) || !isnan(time[id])))
		id++;
	return id < n;
}

/* By node: has it a value, wherever it is? malloc'd; NULL: out of memory. */
static uint8_t *mark_values(const struct derive *d, const double *v)
{
	uint32_t n = snapshot_n(d->snap);
	uint8_t *marks = malloc(MAX(n, 1u));

	for (uint32_t id = 0; marks && id < n; id++)
		marks[id] = !isnan(v[id]);
	return marks;
}

/* Has it, or what is around it in whatever group, values of the metric? malloc'd. */
static bool *find_worked_anywhere(struct derive *d, uint32_t metric, bool all)
{
	const double *of = is_used(d, metric) ? raw(d, metric, false, all) : NULL;
	_cleanup_(freep) uint8_t *marks = of ? mark_values(d, of) : NULL;
	uint32_t n = snapshot_n(d->snap);
	bool *has = calloc(MAX(n, 1u), sizeof(*has));

	if (has && marks && snapshot_mark_below(d->snap, marks) < 0) {
		free(has);
		return NULL;
	}
	for (uint32_t i = 0; has && marks && i < n; i++)
		has[i] = marks[i];
	return has;
}

/* ---- what hardware counters say ---- */

static const double *column(struct derive *d, const struct derived *m, bool all);

/* May counters tell of the metric? Triton's viewer knows nothing of them. */
static bool is_counted(struct derive *d, uint32_t metric)
{
	if (d->totals == TOTALS_UPSTREAM ||
	    (metric != METRIC_BYTES && metric != METRIC_ANY_FLOPS &&
	     !(metric >= METRIC_FLOPS8 && metric <= METRIC_FLOPS64)))
		return false;
	return measured_metrics_update(&d->measured, snapshot_session(d->snap)) == 0 &&
	       d->measured.time != METRIC_NONE && snapshot_has(d->snap, d->measured.time);
}

/* By node: does the profile itself say how much its work is? Who gives operations of one width gives all.
 * malloc'd. */
static bool *find_given(struct derive *d, uint32_t metric, bool all)
{
	return find_worked_anywhere(d, metric == METRIC_BYTES ? METRIC_BYTES : METRIC_ANY_FLOPS,
				    all);
}

/* Of DERIVED_MEASURED what was counted, of DERIVED_MEASURED_TIME how long what has that ran. */
static int make_measured(struct derive *d, const struct derived *m, bool all, double *v)
{
	const struct session *s = snapshot_session(d->snap);
	_cleanup_(freep) bool *given = find_given(d, m->metric, all);
	uint32_t n = snapshot_n(d->snap);
	struct measured_work work;

	if (!given)
		return -ENOMEM;
	for (size_t row = 0; row < s->n_rows; row++) {
		uint32_t node = snapshot_row_node(d->snap, row);

		if (node >= n || snapshot_node(d->snap, node)->hidden || !counts(d, node, all) ||
		    given[node] || !measured_work_of(&d->measured, s, &s->rows[row], &work))
			continue;
		if (!isnan(measured_amount(&work, m->metric)))
			add_present(&v[node], m->op == DERIVED_MEASURED
						      ? measured_amount(&work, m->metric)
						      : work.time_ns);
	}
	if (m->inclusive)
		add_to_parents(d, v);
	return 0;
}

static const double *measured_column(struct derive *d, enum derived_op op, const struct derived *m,
				     bool all)
{
	const struct derived key = {
		.op = (uint8_t)op, .inclusive = m->inclusive, .metric = m->metric, .factor = 1};

	return column(d, &key, all);
}

/* To what the profile itself says. */
static int add_measured(struct derive *d, enum derived_op op, const struct derived *m, bool all,
			double *v)
{
	const double *measured;

	if (!is_counted(d, m->metric))
		return 0;
	measured = measured_column(d, op, m, all);
	for (uint32_t id = 0; measured && id < snapshot_n(d->snap); id++)
		add_present(&v[id], measured[id]);
	return measured ? 0 : -ENOMEM;
}

/* ---- rates ---- */

static double sum_marked(const struct derive *d, const double *v, const uint8_t *marks)
{
	double sum = NAN;

	for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
		if (marks[id])
			add_present(&sum, v[id]);
	return sum;
}

/* By node: has it, or what is below it in whatever group, time on a device? malloc'd. */
static uint8_t *find_timed(struct derive *d, bool all)
{
	const double *time = raw(d, METRIC_TIME, false, all);
	_cleanup_(freep) uint8_t *above = time ? mark_values(d, time) : NULL;
	uint8_t *timed = time ? mark_values(d, time) : NULL;

	if (!above || !timed || snapshot_mark_above(d->snap, above) < 0) {
		free(timed);
		return NULL;
	}
	for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
		timed[id] |= above[id];
	return timed;
}

/* All time of what has values of the metric, in whatever group they are. */
static int find_root_time(struct derive *d, const double *of, const double *time, double *v)
{
	_cleanup_(freep) uint8_t *marks = NULL;

	if (!is_scattered(d, of, time))
		return 0;
	marks = mark_values(d, of);
	if (!marks || snapshot_mark_below(d->snap, marks) < 0)
		return -ENOMEM;
	v[0] = sum_marked(d, time, marks);
	return 0;
}

/* All values of what has time, it or what is below it, in whatever group that is. */
static int find_root_work(struct derive *d, const double *of, const double *time, bool all,
			  double *v)
{
	_cleanup_(freep) uint8_t *timed = NULL;

	if (!time || !is_scattered(d, of, time))
		return 0;
	timed = find_timed(d, all);
	if (!timed)
		return -ENOMEM;
	v[0] = sum_marked(d, of, timed);
	return 0;
}

static int make_work_time(struct derive *d, const struct derived *m, bool all, double *v)
{
	const double *time = raw(d, METRIC_TIME, false, all), *of;
	_cleanup_(freep) bool *has = NULL;

	if (!time || find_worked(d, m->metric, all, &has) < 0)
		return -ENOMEM;
	for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
		if (!has || has[id])
			v[id] = time[id];
	if (m->inclusive) {
		add_to_parents(d, v);
		of = has && is_used(d, m->metric) ? raw(d, m->metric, false, all) : NULL;
		if (of && find_root_time(d, of, time, v) < 0)
			return -ENOMEM;
	}
	return add_measured(d, DERIVED_MEASURED_TIME, m, all, v);
}

/* By node: has neither it nor anything below it time on a device? NULL: out of memory, or all that have
 * values of the metric have time. Triton's viewer does not ask. */
static const double *time_where_some_has_none(struct derive *d, const double *of, bool all)
{
	const double *time = d->totals == TOTALS_UPSTREAM ? NULL : raw(d, METRIC_TIME, true, all);
	uint32_t n = snapshot_n(d->snap), id = 0;

	while (time && id < n && !(isnan(time[id]) && !isnan(of[id])))
		id++;
	return id < n ? time : NULL;
}

static int make_work(struct derive *d, const struct derived *m, bool all, double *v)
{
	const double *of = raw(d, m->metric, false, all), *time;

	if (!of)
		return -ENOMEM;
	time = time_where_some_has_none(d, of, all);
	for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
		if (!time || !isnan(time[id]))
			v[id] = of[id];
	if (m->inclusive) {
		add_to_parents(d, v);
		if (find_root_work(d, of, raw(d, METRIC_TIME, false, all), all, v) < 0)
			return -ENOMEM;
	}
	return add_measured(d, DERIVED_MEASURED, m, all, v);
}

/* Nearly always that is the metric as it is. */
static const double *work_as_it_is(struct derive *d, const struct derived *m, bool all)
{
	const double *of = raw(d, m->metric, false, all);

	return of && !is_counted(d, m->metric) && !time_where_some_has_none(d, of, all)
		       ? raw(d, m->metric, m->inclusive, all)
		       : NULL;
}

static int make_quotient(struct derive *d, const struct derived *m, bool all, double *v)
{
	const struct derived dividend = derived_dividend(m, m->inclusive);
	struct derived divisor;
	const double *a = column(d, &dividend, all), *by;

	derived_divisor(m, m->inclusive, &divisor);
	by = column(d, &divisor, all);
	if (!a || !by)
		return -ENOMEM;
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		v[i] = quotient(d, m, a[i], by[i]);
	return 0;
}

/* Time on the host is of all that was launched meanwhile. */
static int make_launched(struct derive *d, const double *count, bool all, double *v)
{
	_cleanup_(freep) uint8_t *parted = NULL;
	const uint8_t *also = d->totals == TOTALS_UPSTREAM ? NULL : snapshot_parted(d->snap);

	if (find_parted(d, all, &parted) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		if (!(parted && parted[i]) && !(also && also[i]))
			v[i] = count[i];
	return 0;
}

static int make_now(struct derive *d, const struct derived *m, double *v)
{
	const double *now = derive_now(d, m->metric, m->inclusive);

	for (uint32_t i = 0; now && i < snapshot_n(d->snap); i++)
		v[i] = now[i] / m->factor;
	return 0;
}

/* ---- percentiles ---- */

/* Which nodes count, as core/hists.h takes it; NULL: all do, or *ret_r says why it is not known. */
static uint8_t *make_kept(const struct derive *d, bool all, int *ret_r)
{
	uint32_t n = snapshot_n(d->snap);
	uint8_t *kept = NULL;

	*ret_r = 0;
	if (!d->removed && (all || !d->shown))
		return NULL;
	kept = malloc(MAX(n, 1u));
	*ret_r = kept ? 0 : -ENOMEM;
	for (uint32_t i = 0; kept && i < n; i++)
		kept[i] = counts(d, i, all);
	return kept;
}

static struct hists *hists_of(struct derive *d, bool all)
{
	_cleanup_(freep) uint8_t *kept = NULL;
	int r;

	if (!d->hists)
		d->hists = hists_new(d->snap);
	if (!d->hists || (d->hists_fresh && d->hists_all == all))
		return d->hists;
	kept = make_kept(d, all, &r);
	d->hists_fresh = r == 0 && hists_update(d->hists, kept) == 0;
	d->hists_all = all;
	return d->hists_fresh ? d->hists : NULL;
}

struct hists *derive_hists(struct derive *d)
{
	return hists_of(d, d->totals == TOTALS_OF_ALL);
}

static int make_quantile(struct derive *d, const struct derived *m, bool all, double *v)
{
	struct hists *h = hists_of(d, all);

	if (!h)
		return -ENOMEM;
	hists_quantiles(h, m->share, m->inclusive, v);
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		v[i] /= m->factor;
	return 0;
}

/* ---- roofline ---- */

/* By node: seconds that its work would take at the peak rate of each kind (NaN: no such work), and those
 * that what has such work took: as rates divide, so that a rate by its peak is the share that is told. */
struct roofs {
	double *compute, *memory, *computing, *moving;
	double *given, *counted;               /* seconds of what has either, by who says it */
	const bool *has_flops, *has_bytes;     /* NULL: all time is of both, in Triton's viewer */
	const bool *given_flops, *given_bytes; /* NULL: nothing was counted */
	const uint8_t *time_alone;             /* what else it has does not count */
	bool *on_device;
	bool for_root; /* all is added to the first */
};

enum { ROOFS_COLUMNS = 6 };

static void say_why(struct derive *d, uint32_t device, const char *what)
{
	const struct session *s = snapshot_session(d->snap);
	const struct session_device *dev;

	if (*d->why)
		return;
	if (device >= s->n_devices) {
		snprintf(d->why, sizeof(d->why), "%s are not of a known device", what);
		return;
	}
	dev = &s->devices[device];
	snprintf(d->why, sizeof(d->why),
		 "no peak for %s of %.40s %.40s is known (--peaks gives one)", what,
		 strtab_str(s->strings, dev->type), strtab_str(s->strings, dev->arch));
}

/* Add one value of a row to the time at the roof that it counts for. */
static void roof_value(struct derive *d, struct roofs *r, uint32_t node, uint32_t device,
		       uint32_t metric, double value)
{
	const struct session *s = snapshot_session(d->snap);
	uint32_t at = r->for_root ? 0 : node;
	double peak, *to = metric == METRIC_BYTES ? &r->memory[at] : &r->compute[at];

	if (metric == METRIC_TIME) {
		bool computes = !r->has_flops || r->has_flops[node];
		bool moves = !r->has_bytes || r->has_bytes[node];

		if (computes)
			add_present(&r->computing[at], value * 1e-9);
		if (moves)
			add_present(&r->moving[at], value * 1e-9);
		if (computes || moves)
			add_present(&r->given[at], value * 1e-9);
		return;
	}
	if (!d->peaks || value == 0)
		peak = value == 0 ? 1 : NAN;
	else if (metric == METRIC_BYTES)
		peak = peaks_bandwidth(d->peaks, s, device);
	else
		peak = peaks_flops(d->peaks, s, device, metric - METRIC_FLOPS8);
	if (isnan(peak)) {
		say_why(d, device, metric == METRIC_BYTES ? "bytes" : "operations");
		return;
	}
	add_present(to, value / peak);
}

static uint32_t row_device(const struct session *s, const struct session_row *row)
{
	uint32_t device = session_lane_at(s, row->lane)->device;

	/* Metrics that a program gave name no device. If there is only one, take that. */
	return device == SESSION_NONE && s->n_devices == 1 ? 0 : device;
}

/* What was counted of kernels of which nobody else says how much they do. */
static void roof_measured(struct derive *d, struct roofs *r, uint32_t node,
			  const struct session_row *row)
{
	const struct session *s = snapshot_session(d->snap);
	uint32_t at = r->for_root ? 0 : node, device = row_device(s, row);
	struct measured_work work;
	bool computes, moves;

	if (!r->given_flops || !measured_work_of(&d->measured, s, row, &work))
		return;
	computes = !r->given_flops[node] && !isnan(measured_amount(&work, METRIC_ANY_FLOPS));
	moves = !r->given_bytes[node] && !isnan(measured_amount(&work, METRIC_BYTES));
	for (unsigned i = 0; computes && i < PEAK_WIDTHS; i++)
		roof_value(d, r, node, device, METRIC_FLOPS8 + i, work.flops[i]);
	if (computes)
		add_present(&r->computing[at], work.time_ns * 1e-9);
	if (moves) {
		roof_value(d, r, node, device, METRIC_BYTES, work.bytes);
		add_present(&r->moving[at], work.time_ns * 1e-9);
	}
	if (computes || moves)
		add_present(&r->counted[at], work.time_ns * 1e-9);
}

static void roof_row(struct derive *d, struct roofs *r, uint32_t node,
		     const struct session_row *row)
{
	const struct session *s = snapshot_session(d->snap);
	const struct session_set *set = &s->sets[row->set];
	bool on_device = session_lane_at(s, row->lane)->device != SESSION_NONE;

	r->on_device[node] |= on_device;
	roof_measured(d, r, node, row);
	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t metric = set->metrics[i];

		if (!s->present[row->values + i] ||
		    (metric != METRIC_TIME && metric != METRIC_BYTES &&
		     (metric < METRIC_FLOPS8 || metric > METRIC_FLOPS64)))
			continue;
		if (r->time_alone[node] && metric != METRIC_TIME)
			continue;
		roof_value(d, r, node, row_device(s, row), metric,
			   metric_number(metric_table_get(s->metrics, metric),
					 s->values[row->values + i]));
	}
}

static void roofs_roll_up(const struct derive *d, struct roofs *r)
{
	const uint32_t *parents = snapshot_parents(d->snap);

	add_to_parents(d, r->compute);
	add_to_parents(d, r->memory);
	add_to_parents(d, r->computing);
	add_to_parents(d, r->moving);
	add_to_parents(d, r->given);
	add_to_parents(d, r->counted);
	for (uint32_t id = snapshot_n(d->snap); id-- > 1;)
		r->on_device[parents[id]] |= r->on_device[id];
}

double derive_roofline(enum derived_op op, double compute, double memory)
{
	double util = fmax(compute, memory);

	if (op == DERIVED_UTIL || isnan(util))
		return util;
	if (util < BOUND_AT_LEAST)
		return BOUND_NEITHER;
	return !(compute < memory) ? BOUND_COMPUTE : BOUND_MEMORY;
}

static double roofs_value(const struct roofs *r, enum derived_op op, uint32_t node)
{
	switch (op) {
	case DERIVED_AT_COMPUTE:
		return r->compute[node];
	case DERIVED_COMPUTING:
		return r->computing[node];
	case DERIVED_AT_MEMORY:
		return r->memory[node];
	case DERIVED_MOVING:
		return r->moving[node];
	case DERIVED_GIVEN:
		return r->given[node];
	case DERIVED_COUNTED:
		return r->counted[node];
	case DERIVED_SOURCE:
		return derive_source(r->given[node], r->counted[node]);
	default:
		return derive_roofline(op, r->compute[node] / r->computing[node],
				       r->memory[node] / r->moving[node]);
	}
}

static void roofs_result(const struct derive *d, const struct derived *m, const struct roofs *r,
			 double *v)
{
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++) {
		if (r->on_device[i])
			v[i] = roofs_value(r, m->op, i);
	}
}

static void roof_rows(struct derive *d, struct roofs *r, bool all)
{
	const struct session *s = snapshot_session(d->snap);
	uint32_t n = snapshot_n(d->snap);

	for (size_t row = 0; row < s->n_rows; row++) {
		uint32_t node = snapshot_row_node(d->snap, row);

		if (node < n && !snapshot_node(d->snap, node)->hidden && counts(d, node, all))
			roof_row(d, r, node, &s->rows[row]);
	}
}

/* By node: is what a program says of it parted, or is there no time to divide it by (timed; NULL: nobody
 * asks)? malloc'd. */
static uint8_t *find_time_alone(struct derive *d, const uint8_t *timed, bool all)
{
	_cleanup_(freep) uint8_t *parted = NULL;
	const uint8_t *also = snapshot_parted(d->snap);
	uint32_t n = snapshot_n(d->snap);
	uint8_t *alone = calloc(MAX(n, 1u), 1);

	if (!alone || find_parted(d, all, &parted) < 0) {
		free(alone);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		alone[i] = (parted && parted[i]) || (also && also[i]) || (timed && !timed[i]);
	return alone;
}

/* As without groups: find_root_work(), find_root_time(). */
static int root_roofline(struct derive *d, bool all, struct roofs *of)
{
	_cleanup_(freep) bool *has_flops = NULL, *has_bytes = NULL;
	_cleanup_(freep) uint8_t *alone = NULL, *timed = find_timed(d, all);
	struct roofs r = *of;

	has_flops = find_worked_anywhere(d, METRIC_ANY_FLOPS, all);
	has_bytes = find_worked_anywhere(d, METRIC_BYTES, all);
	alone = timed ? find_time_alone(d, timed, all) : NULL;
	if (!has_flops || !has_bytes || !alone)
		return -ENOMEM;
	for (unsigned i = 0; i < ROOFS_COLUMNS; i++) /* they are one after another */
		r.compute[i * snapshot_n(d->snap)] = NAN;
	r.has_flops = has_flops;
	r.has_bytes = has_bytes;
	r.time_alone = alone;
	r.for_root = true;
	roof_rows(d, &r, all);
	return 0;
}

static int make_roofline(struct derive *d, const struct derived *m, bool all, double *v)
{
	uint32_t n = snapshot_n(d->snap), i;
	_cleanup_(freep) double *numbers = malloc(MAX(n, 1u) * ROOFS_COLUMNS * sizeof(*numbers));
	_cleanup_(freep) bool *flags = calloc(MAX(n, 1u), sizeof(*flags));
	_cleanup_(freep) bool *has_flops = NULL, *has_bytes = NULL;
	_cleanup_(freep) bool *given_flops = NULL, *given_bytes = NULL;
	_cleanup_(freep) uint8_t *timed = NULL, *alone = NULL;
	const double *time = d->totals == TOTALS_UPSTREAM ? NULL : raw(d, METRIC_TIME, true, all);
	struct roofs r;

	timed = time ? mark_values(d, time) : NULL;
	alone = time && !timed ? NULL : find_time_alone(d, timed, all);
	if (!numbers || !flags || !alone)
		return -ENOMEM;
	for (i = 0; i < ROOFS_COLUMNS * n; i++)
		numbers[i] = NAN;
	if (find_worked(d, METRIC_ANY_FLOPS, all, &has_flops) < 0 ||
	    find_worked(d, METRIC_BYTES, all, &has_bytes) < 0)
		return -ENOMEM;
	if (is_counted(d, METRIC_BYTES)) {
		given_flops = find_given(d, METRIC_ANY_FLOPS, all);
		given_bytes = find_given(d, METRIC_BYTES, all);
		if (!given_flops || !given_bytes)
			return -ENOMEM;
	}
	r = (struct roofs){.compute = numbers,
			   .memory = numbers + n,
			   .computing = numbers + 2 * n,
			   .moving = numbers + 3 * n,
			   .given = numbers + 4 * n,
			   .counted = numbers + 5 * n,
			   .has_flops = has_flops,
			   .has_bytes = has_bytes,
			   .given_flops = given_flops,
			   .given_bytes = given_bytes,
			   .time_alone = alone,
			   .on_device = flags};
	roof_rows(d, &r, all);
	if (m->inclusive)
		roofs_roll_up(d, &r);
	if (m->inclusive && has_flops && snapshot_group(d->snap) != GROUP_NONE &&
	    root_roofline(d, all, &r) < 0)
		return -ENOMEM;
	roofs_result(d, m, &r, v);
	return 0;
}

static int make(struct derive *d, const struct derived *m, bool all, double *v)
{
	const double *a = NULL;

	if (m->metric != METRIC_NONE) {
		a = raw(d, m->metric, m->inclusive, all);
		if (!a)
			return -ENOMEM;
	}
	switch (m->op) {
	case DERIVED_SHARE:
		make_share(d, m, a, v);
		return 0;
	case DERIVED_OF_PARENT:
		make_of_parent(d, a, v);
		return 0;
	case DERIVED_AVG:
	case DERIVED_SAMPLED:
	case DERIVED_RATE:
		return make_quotient(d, m, all, v);
	case DERIVED_NOW:
		return make_now(d, m, v);
	case DERIVED_WORK:
		return make_work(d, m, all, v);
	case DERIVED_WORK_TIME:
		return make_work_time(d, m, all, v);
	case DERIVED_LAUNCHED:
		return make_launched(d, a, all, v);
	case DERIVED_QUANTILE:
		return make_quantile(d, m, all, v);
	case DERIVED_UTIL:
	case DERIVED_BOUND:
	case DERIVED_AT_COMPUTE:
	case DERIVED_COMPUTING:
	case DERIVED_AT_MEMORY:
	case DERIVED_MOVING:
	case DERIVED_SOURCE:
	case DERIVED_GIVEN:
	case DERIVED_COUNTED:
		return make_roofline(d, m, all, v);
	case DERIVED_MEASURED:
	case DERIVED_MEASURED_TIME:
		return make_measured(d, m, all, v);
	default:
		make_value(d, m, a, v);
		return 0;
	}
}

static bool is_raw(const struct derived *m)
{
	return m->op == DERIVED_VALUE && m->plain;
}

static bool counts_all(const struct derive *d, const struct derived *m)
{
	return d->totals == TOTALS_OF_ALL || (d->totals == TOTALS_UPSTREAM && !is_raw(m));
}

static const double *column(struct derive *d, const struct derived *m, bool all)
{
	const double *as_it_is;
	double *v;

	if (is_raw(m))
		return raw(d, m->metric, m->inclusive, all);
	v = column_find(d, m, all);
	if (v)
		return v;
	as_it_is = m->op == DERIVED_WORK ? work_as_it_is(d, m, all) : NULL;
	if (as_it_is)
		return as_it_is;
	v = column_new(d, m, all);
	if (!v || make(d, m, all, v) < 0)
		return NULL;
	return v;
}

const double *derive_column(struct derive *d, const struct derived *m)
{
	return column(d, m, counts_all(d, m));
}

bool derive_has_terms(struct derive *d, const struct derived *m)
{
	return is_used(d, m->metric) || (m->op == DERIVED_RATE && is_counted(d, m->metric));
}

/* What is divided, or by what; NULL: no row has any of it. */
static const double *term_column(struct derive *d, const struct derived *by)
{
	return by->plain ? derive_used(d, by->metric, by->inclusive) : derive_column(d, by);
}

static bool has_values(struct derive *d, const double *v, bool at_root)
{
	uint32_t n = snapshot_n(d->snap), i = 0;

	if (!v || !n)
		return false;
	if (at_root)
		return !isnan(v[0]);
	while (i < n && isnan(v[i]))
		i++;
	return i < n;
}

bool derive_has(struct derive *d, const struct derived *m)
{
	const struct metric *metric = derive_metric(snapshot_session(d->snap), m->metric);
	struct derived by, dividend;

	if (m->op == DERIVED_QUANTILE)
		return snapshot_session(d->snap)->n_hists > 0 &&
		       has_values(d, derive_used(d, METRIC_TIME, true), true);
	if (m->metric == METRIC_NONE)
		return true;
	if (!metric || !derive_has_terms(d, m))
		return false;
	dividend = derived_dividend(m, m->inclusive);
	if (!has_values(d,
			m->op == DERIVED_RATE ? derive_column(d, &dividend)
					      : derive_raw(d, m->metric, m->inclusive),
			m->inclusive && metric->scope == METRIC_INCLUSIVE))
		return false;
	return !derived_divisor(m, m->inclusive, &by) ||
	       has_values(d, term_column(d, &by), by.inclusive);
}

#define NEARLY_ALL 0.99

double derive_rate_part(struct derive *d, const struct derived *rate, uint32_t node)
{
	const double *all, *of;
	struct derived part;
	double share;

	if (rate->op != DERIVED_RATE || !derived_divisor(rate, true, &part) ||
	    !derive_has_terms(d, rate) || node >= snapshot_n(d->snap))
		return NAN;
	all = derive_used(d, METRIC_TIME, true);
	of = derive_column(d, &part);
	share = all && of ? of[node] / all[node] : NAN;
	return share < NEARLY_ALL ? share : NAN;
}

/* ---- one node ---- */

/* A column of percentiles that is filled node by node, as they are asked for. Its factor is 0. */
static double *some_quantiles(struct derive *d, const struct derived *m)
{
	const struct derived key = {
		.op = DERIVED_QUANTILE, .inclusive = m->inclusive, .share = m->share};
	double *v = column_find(d, &key, false);

	if (!v && (v = column_new(d, &key, false)))
		unset_all(v, snapshot_n(d->snap));
	return v;
}

static double quantile_at(struct derive *d, const struct derived *m, uint32_t node)
{
	double *v = some_quantiles(d, m);
	struct hists *h;

	if (!v || !is_unset(v[node]))
		return v ? v[node] : NAN;
	h = derive_hists(d);
	v[node] = h ? hists_share(h, &node, 1, m->inclusive, m->share) : NAN;
	return v[node];
}

static void fetch(struct derive *d, const struct derived *m, struct derived_terms *t)
{
	const struct derived dividend = derived_dividend(m, m->inclusive);
	struct derived by;

	*t = (struct derived_terms){.generation = d->generation, .all = NAN};
	if (m->op == DERIVED_QUANTILE)
		return;
	if (m->op == DERIVED_NOW)
		t->of = derive_now(d, m->metric, m->inclusive);
	else if (m->metric == METRIC_NONE)
		t->of = derive_column(d, m);
	else
		t->of = derive_has_terms(d, m) ? term_column(d, &dividend) : NULL;
	if (derived_divisor(m, m->inclusive, &by))
		t->by = term_column(d, &by);
	if (m->op == DERIVED_SHARE && !m->inclusive)
		t->all = sum_of(d, t->of);
}

/* What a value is divided by. */
static double term_by(const struct derive *d, const struct derived *m,
		      const struct derived_terms *t, uint32_t node, uint32_t whole)
{
	uint32_t parent;

	if (m->op == DERIVED_SHARE)
		return m->inclusive ? t->of[whole] : t->all;
	if (m->op != DERIVED_OF_PARENT)
		return t->by ? t->by[node] : NAN;
	parent = snapshot_parents(d->snap)[node];
	return t->of[parent == SNAP_NONE ? node : parent];
}

double derive_at(struct derive *d, const struct derived *m, struct derived_terms *t, uint32_t node,
		 uint32_t whole)
{
	if (node >= snapshot_n(d->snap))
		return NAN;
	if (t->generation != d->generation)
		fetch(d, m, t);
	if (m->op == DERIVED_QUANTILE)
		return quantile_at(d, m, node) / m->factor;
	if (!t->of)
		return NAN;
	if (m->metric == METRIC_NONE) /* util, bound: the column has the result itself */
		return t->of[node];
	return derived_quotient(m, t->of[node], term_by(d, m, t, node, whole));
}
