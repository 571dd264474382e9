/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/number_sets.h"
#include <math.h>
#include <stdlib.h>
#include "base/util.h"

static bool is_inclusive(const struct number_set *set, bool wanted)
{
	return wanted && !set->only_own;
}

/* What the set is about, unless the metric says. */
static bool wants_inclusive(const struct number_set *set, const struct derived *m)
{
	return is_inclusive(set, m->is_said ? m->inclusive : m->inclusive && set->inclusive);
}

static uint32_t count(const struct number_set *set, bool inclusive)
{
	return inclusive ? set->n_outer : set->n;
}

/* ---- sums of columns ---- */

/* A mean over nodes needs what weighs each. */
static double weighted_mean(const double *v, const double *weight, const uint32_t *nodes,
			    uint32_t n)
{
	double sum = 0, weights = 0;

	for (uint32_t i = 0; i < n; i++) {
		double w = weight && !isnan(weight[nodes[i]]) ? weight[nodes[i]] : 1;

		if (isnan(v[nodes[i]]))
			continue;
		sum += v[nodes[i]] * w;
		weights += w;
	}
	return weights > 0 ? sum / weights : NAN;
}

static double sum(const double *v, const uint32_t *nodes, uint32_t n)
{
	double sum = 0;
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		double one = v[nodes[i]];

		if (isnan(one))
			continue;
		sum += one;
		any = true;
	}
	return any ? sum : NAN;
}

static double extreme(const double *v, const uint32_t *nodes, uint32_t n, enum metric_add add)
{
	double best = NAN;

	for (uint32_t i = 0; i < n; i++) {
		double one = v[nodes[i]];

		if (add == METRIC_LAST)
			best = isnan(one) ? best : one;
		else
			best = add == METRIC_MIN ? fmin(best, one) : fmax(best, one);
	}
	return best;
}

static const struct metric *metric_of(struct numbers *n, uint32_t metric)
{
	return metric_table_get(snapshot_session(numbers_snapshot(n))->metrics, metric);
}

/* m = NULL: it adds up. */
static double combine(struct numbers *n, const struct metric *m, const double *v,
		      const uint32_t *nodes, uint32_t n_nodes)
{
	if (!v)
		return NAN;
	if (!m || m->add == METRIC_SUM)
		return sum(v, nodes, n_nodes);
	if (m->add != METRIC_WMEAN)
		return extreme(v, nodes, n_nodes, m->add);
	return weighted_mean(
		v,
		m->weight == METRIC_NONE ? NULL : derive_raw(numbers_derive(n), m->weight, false),
		nodes, n_nodes);
}

static double quantile(struct numbers *n, double share, const struct number_set *set,
		       bool inclusive)
{
	struct hists *h = numbers_hists(n);
	double v = NAN;

	if (h)
		hists_shares(h, set->nodes, count(set, inclusive), inclusive, &share, 1, &v);
	return v;
}

double number_set_sum(struct numbers *n, unsigned which, const struct number_set *set)
{
	static const double shares[] = {0.5, 0.9, 0.99};
	bool inclusive = is_inclusive(set, which == NUMBER_TOTAL ||
						   (which != NUMBER_SELF && set->inclusive));
	uint32_t metric;

	if (which >= NUMBER_P50 && which <= NUMBER_P99)
		return quantile(n, shares[which - NUMBER_P50], set, inclusive);
	if (which == NUMBER_SELF || which == NUMBER_TOTAL)
		which = NUMBER_TIME;
	metric = numbers_metric(n, which);
	return combine(n, metric == METRIC_NONE ? NULL : metric_of(n, metric),
		       numbers_column(n, which, inclusive), set->nodes, count(set, inclusive));
}

/* ---- metrics made of others ---- */

static double raw(struct numbers *n, uint32_t metric, const struct number_set *set, bool inclusive)
{
	return combine(n, metric_of(n, metric), derive_raw(numbers_derive(n), metric, inclusive),
		       set->nodes, count(set, inclusive));
}

/* What all of them say; NaN: they differ. */
static double text(struct numbers *n, uint32_t metric, const struct number_set *set)
{
	const double *v = derive_raw(numbers_derive(n), metric, false);
	double said = NAN;

	for (uint32_t i = 0; v && i < set->n; i++) {
		double one = v[set->nodes[i]];

		if (isnan(one) || one == said)
			continue;
		if (!isnan(said))
			return NAN;
		said = one;
	}
	return said;
}

/* Seconds that the work would take at each roof add up, as the time does. */
static double roofline(struct numbers *n, enum derived_op op, const struct number_set *set,
		       bool inclusive)
{
	static const enum derived_op parts[] = {DERIVED_AT_COMPUTE, DERIVED_AT_MEMORY,
						DERIVED_AT_TIME};
	double v[ARRAY_SIZE(parts)];

	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct derived part = {
			.op = (uint8_t)parts[i], .inclusive = inclusive, .metric = METRIC_NONE};

		v[i] = combine(n, NULL, derive_column(numbers_derive(n), &part), set->nodes,
			       count(set, inclusive));
	}
	return derive_roofline(op, v[0], v[1], v[2]);
}

static double derived(struct numbers *n, const struct derived *m, const struct number_set *set,
		      const struct number_set *whole)
{
	bool inclusive = wants_inclusive(set, m);
	double v;

	if (m->op == DERIVED_QUANTILE)
		return quantile(n, m->share, set, inclusive) / m->factor;
	if (m->op == DERIVED_UTIL || m->op == DERIVED_BOUND)
		return roofline(n, m->op, set, inclusive);
	if (metric_of(n, m->metric)->type == METRIC_TEXT)
		return text(n, m->metric, set);
	v = raw(n, m->metric, set, inclusive);
	switch (m->op) {
	case DERIVED_SHARE:
	case DERIVED_OF_PARENT:
		return v / raw(n, m->metric, whole, wants_inclusive(whole, m)) * 100;
	case DERIVED_AVG:
		return v / raw(n, METRIC_COUNT, set, inclusive || m->metric == METRIC_CPU_TIME) /
		       m->factor;
	case DERIVED_RATE:
		return v / (raw(n, METRIC_TIME, set, inclusive) * 1e-9) / m->factor;
	default:
		return v / m->factor;
	}
}

double number_set_derived(struct numbers *n, unsigned which, const struct derived *m,
			  const struct number_set *set, const struct number_set *whole)
{
	bool is_before = (which - NUMBER_LIMIT) % 2;

	if (is_before && !numbers_before(n))
		return NAN;
	return derived(is_before ? numbers_before(n) : n, m, set, whole);
}

/* ---- what is known ---- */

bool number_cache_get(const struct number_cache *c, uint64_t known, unsigned which, uint32_t i,
		      double *ret)
{
	if (which >= NUMBER_SETS_N || !(known & UINT64_C(1) << which))
		return false;
	*ret = c->v[which][i];
	return true;
}

void number_cache_put(struct number_cache *c, uint64_t *known, unsigned which, uint32_t i, double v)
{
	if (which >= NUMBER_SETS_N ||
	    array_reserve((void **)&c->v[which], &c->cap[which], (size_t)i + 1, sizeof(v)) < 0)
		return;
	c->v[which][i] = v;
	*known |= UINT64_C(1) << which;
}

void number_cache_done(struct number_cache *c)
{
	for (unsigned i = 0; i < NUMBER_SETS_N; i++)
		free(c->v[i]);
}
