/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/number_sets.h"
#include <math.h>
#include <stdlib.h>
#include "base/unset.h"
#include "base/util.h"
#include "core/hists.h"

/* What the set is about, unless the metric says. Roofs are of the nodes alone where nothing is said. */
static bool wants_inclusive(const struct number_set *set, const struct derived *m)
{
	bool about = m->op == DERIVED_UTIL || m->op == DERIVED_BOUND ? m->inclusive : set->inclusive;

	return (m->is_said ? m->inclusive : about) && !set->only_own;
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

static double combine(struct numbers *n, const struct metric *m, const double *v,
		      const uint32_t *nodes, uint32_t n_nodes)
{
	if (!v)
		return NAN;
	if (m->add == METRIC_SUM)
		return sum(v, nodes, n_nodes);
	if (m->add != METRIC_WMEAN)
		return extreme(v, nodes, n_nodes, m->add);
	return weighted_mean(
		v,
		m->weight == METRIC_NONE ? NULL : derive_raw(numbers_derive(n), m->weight, false),
		nodes, n_nodes);
}

/* ---- metrics made of others ---- */

static double raw(struct numbers *n, uint32_t metric, const struct number_set *set, bool inclusive)
{
	const struct metric *m = derive_metric(snapshot_session(numbers_snapshot(n)), metric);

	if (!m)
		return NAN;
	/* What describes a node is not added up along a path. */
	inclusive = inclusive && m->scope != METRIC_PROPERTY;
	return combine(n, m, derive_used(numbers_derive(n), metric, inclusive), set->nodes,
		       count(set, inclusive));
}

static double quantile(struct numbers *n, double share, const struct number_set *set,
		       bool inclusive)
{
	struct hists *h = derive_hists(numbers_derive(n));
	double v = NAN;

	if (h)
		hists_shares(h, set->nodes, count(set, inclusive), inclusive, &share, 1, &v);
	return derived_percentile(v, raw(n, METRIC_TIME_MIN, set, inclusive),
				  raw(n, METRIC_TIME_MAX, set, inclusive));
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

		const double *column = derive_column(numbers_derive(n), &part);

		v[i] = column ? sum(column, set->nodes, count(set, inclusive)) : NAN;
	}
	return derive_roofline(op, v[0], v[1], v[2]);
}

/* An increase adds up as its metric does. */
static double now(struct numbers *n, uint32_t metric, const struct number_set *set, bool inclusive)
{
	const double *v = derive_now(numbers_derive(n), metric, inclusive);

	return v ? sum(v, set->nodes, count(set, inclusive)) : NAN;
}

/* What a value is divided by. */
static double divisor(struct numbers *n, const struct derived *m, const struct number_set *set,
		      const struct number_set *whole, bool inclusive)
{
	uint32_t by = derived_divisor(m);

	if (m->op == DERIVED_SHARE || m->op == DERIVED_OF_PARENT)
		return raw(n, m->metric, whole, wants_inclusive(whole, m));
	if (by == METRIC_NONE)
		return NAN;
	return raw(n, by, set, derived_divides_inclusive(m, inclusive));
}

static bool is_text(struct numbers *n, uint32_t metric)
{
	const struct metric *m = derive_metric(snapshot_session(numbers_snapshot(n)), metric);

	return m && m->type == METRIC_TEXT;
}

double number_set_value(struct numbers *n, bool before, const struct derived *m,
			const struct number_set *set, const struct number_set *whole)
{
	bool inclusive = wants_inclusive(set, m);

	if (before)
		n = numbers_before(n);
	if (!n)
		return NAN;
	if (m->op == DERIVED_QUANTILE)
		return quantile(n, m->share, set, inclusive) / m->factor;
	if (m->op == DERIVED_UTIL || m->op == DERIVED_BOUND)
		return roofline(n, m->op, set, inclusive);
	if (m->op == DERIVED_NOW)
		return now(n, m->metric, set, inclusive) / m->factor;
	if (is_text(n, m->metric))
		return text(n, m->metric, set);
	return derived_quotient(m, raw(n, m->metric, set, inclusive),
				divisor(n, m, set, whole, inclusive));
}

/* ---- what is known ---- */

void number_cache_clear(struct number_cache *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->slots[i].n = 0;
}

void number_cache_done(struct number_cache *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->slots[i].v);
	free(c->slots);
}

double *number_cache_at(struct number_cache *c, unsigned slot, uint32_t i)
{
	struct number_slot *s;

	if (array_reserve((void **)&c->slots, &c->cap, (size_t)slot + 1, sizeof(*c->slots)) < 0)
		return NULL;
	while (c->n <= slot)
		c->slots[c->n++] = (struct number_slot){0};
	s = &c->slots[slot];
	if (array_reserve((void **)&s->v, &s->cap, (size_t)i + 1, sizeof(*s->v)) < 0)
		return NULL;
	if (i >= s->n) {
		unset_all(s->v + s->n, i + 1 - s->n);
		s->n = (size_t)i + 1;
	}
	return &s->v[i];
}
