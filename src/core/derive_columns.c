/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Raw metrics over the nodes that count, and where columns are kept. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/derive_impl.h"
#include "core/hists.h"
#include "core/parted.h"

static const uint32_t flops_metrics[] = {METRIC_FLOPS, METRIC_FLOPS8, METRIC_FLOPS16,
					 METRIC_FLOPS32, METRIC_FLOPS64};

bool derive_part(uint32_t metric, size_t i, uint32_t *ret)
{
	if (i >= (metric == METRIC_ANY_FLOPS ? ARRAY_SIZE(flops_metrics) : 1))
		return false;
	*ret = metric == METRIC_ANY_FLOPS ? flops_metrics[i] : metric;
	return true;
}

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

double *derive_column_find(const struct derive *d, const struct derived *key, bool all)
{
	for (size_t i = 0; i < d->n_made; i++)
		if (d->made[i].all == all && same_key(&d->made[i].key, key))
			return d->made[i].v;
	return NULL;
}

/* A new column, all absent, which d owns. */
double *derive_column_new(struct derive *d, const struct derived *key, bool all)
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

bool derive_counts(const struct derive *d, uint32_t node, bool all)
{
	return (!d->removed || d->removed[node]) && (all || !d->shown || d->shown[node]);
}

/* By node: does what is not counted part what a program says of it? *ret is malloc'd; NULL: nothing is.
 * Triton's viewer does not ask. What the snapshot hides, it has parted itself. */
int derive_find_parted(struct derive *d, bool all, uint8_t **ret)
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
		parted[i] = !derive_counts(d, i, all) && !nodes[i].metadata && !isnan(time->v[i]);
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
void derive_add_to_parents(const struct derive *d, double *v)
{
	const uint32_t *parents = snapshot_parents(d->snap);

	for (uint32_t id = snapshot_n(d->snap); id-- > 1;)
		add_present(&v[parents[id]], v[id]);
}

bool derive_is_used(struct derive *d, uint32_t metric)
{
	uint32_t part;

	for (size_t i = 0; derive_part(metric, i, &part); i++)
		if (snapshot_has(d->snap, part))
			return true;
	return false;
}

/* The sum over all widths; where only one is used, its own column. */
static const double *any_flops(struct derive *d, bool inclusive, bool all)
{
	const struct derived key = {
		.op = DERIVED_VALUE, .inclusive = inclusive, .metric = METRIC_ANY_FLOPS};
	const double *of[ARRAY_SIZE(flops_metrics)];
	double *v = derive_column_find(d, &key, all);
	size_t n = 0;

	if (v)
		return v;
	for (size_t i = 0; i < ARRAY_SIZE(flops_metrics); i++) {
		of[n] = derive_is_used(d, flops_metrics[i])
				? derive_raw_of(d, flops_metrics[i], inclusive, all)
				: NULL;
		n += of[n] != NULL;
	}
	if (n == 1)
		return of[0];
	v = derive_column_new(d, &key, all);
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
		if (!derive_counts(d, i, all))
			v[i] = NAN;
	if (inclusive)
		derive_add_to_parents(d, v);
	else if (snapshot_is_reset(d->snap)) /* scopes that were open then bring time from before */
		for (uint32_t i = 0; i < n; i++)
			v[i] = NAN;
	return 0;
}

/* Own values of the nodes that count. */
static int copy_own(struct derive *d, uint32_t metric, bool all, const double *own, double *v)
{
	_cleanup_(freep) uint8_t *parted = NULL;

	if (parted_metric(snapshot_session(d->snap), metric) &&
	    derive_find_parted(d, all, &parted) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		if (derive_counts(d, i, all) && !(parted && parted[i]))
			v[i] = own[i];
	return 0;
}

const double *derive_raw_of(struct derive *d, uint32_t metric, bool inclusive, bool all)
{
	const struct derived key = {.op = DERIVED_VALUE, .inclusive = inclusive, .metric = metric};
	const struct metric *m = metric_table_get(snapshot_session(d->snap)->metrics, metric);
	bool masked = d->removed || (d->shown && !all);
	const struct snap_column *own;
	double *v;

	if (metric == METRIC_ANY_FLOPS)
		return any_flops(d, inclusive, all);
	v = derive_column_find(d, &key, all);
	if (v || !m)
		return v;
	if (is_nested(d, metric)) {
		v = derive_column_new(d, &key, all);
		return v && host_time(d, inclusive, all, v) == 0 ? v : NULL;
	}
	if (!masked && (!inclusive || m->scope == METRIC_INCLUSIVE)) {
		own = snapshot_column(d->snap, metric, inclusive);
		return own ? own->v : NULL;
	}
	own = snapshot_column(d->snap, metric, false);
	v = own ? derive_column_new(d, &key, all) : NULL;
	if (!v || copy_own(d, metric, all, own->v, v) < 0)
		return NULL;
	if (inclusive && m->type != METRIC_TEXT && roll_up(d, m, v) < 0)
		return NULL;
	return v;
}

const double *derive_raw(struct derive *d, uint32_t metric, bool inclusive)
{
	return derive_raw_of(d, metric, inclusive, d->totals == TOTALS_OF_ALL);
}

const double *derive_used(struct derive *d, uint32_t metric, bool inclusive)
{
	return derive_is_used(d, metric) ? derive_raw(d, metric, inclusive) : NULL;
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
	double *v = derive_column_find(d, &key, false);

	if (v || !rate)
		return v;
	if (inclusive && !d->removed && !d->shown)
		return rate->v;
	own = derive_raw(d, metric, false);
	v = own ? derive_column_new(d, &key, false) : NULL;
	if (!v)
		return NULL;
	own_rates(d, rate->v, own, v);
	if (inclusive)
		derive_add_to_parents(d, v);
	return v;
}
