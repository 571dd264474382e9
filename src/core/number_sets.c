/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/number_sets.h"
#include <math.h>
#include <stdlib.h>
#include "base/unset.h"
#include "base/util.h"
#include "core/hists.h"

/* Is the inclusive value asked for? As the metric says; else as the set does, but for util, bound and
 * source as the metric was parsed. */
static bool wants_inclusive(const struct number_set *set, const struct derived *m)
{
	bool about = derived_is_roofline(m) ? m->inclusive : set->inclusive;

	return (m->is_said ? m->inclusive : about) && !set->only_own;
}

static uint32_t count(const struct number_set *set, bool inclusive)
{
	return inclusive ? set->n_outer : set->n;
}

/* ---- sums of columns ---- */

/* Each node's value counts by its weight, or as 1 where that is absent. */
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
	double sum = NAN;

	for (uint32_t i = 0; i < n; i++)
		add_present(&sum, v[nodes[i]]);
	return sum;
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
	if (metric_add_plain(m->add) == METRIC_SUM)
		return sum(v, nodes, n_nodes);
	if (m->add != METRIC_WMEAN)
		return extreme(v, nodes, n_nodes, m->add);
	return weighted_mean(
		v,
		m->weight == METRIC_NONE ? NULL : derive_raw(numbers_derive(n), m->weight, false),
		nodes, n_nodes);
}

/* ---- the cache ---- */

static void slots_done(struct number_slots *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].v);
	free(s->v);
}

void number_cache_done(struct number_cache *c)
{
	slots_done(&c->sums);
	slots_done(&c->others);
}

static void slots_clear(struct number_slots *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->v[i].n = 0;
}

void number_cache_clear(struct number_cache *c)
{
	slots_clear(&c->sums);
	slots_clear(&c->others);
}

static int slot_grow(struct number_slots *s, size_t slot, uint32_t i)
{
	struct number_slot *at;

	if (ARRAY_ROOM(s->v, s->cap, slot + 1) < 0)
		return -1;
	while (s->n <= slot)
		s->v[s->n++] = (struct number_slot){0};
	at = &s->v[slot];
	if (ARRAY_ROOM(at->v, at->cap, (size_t)i + 1) < 0)
		return -1;
	unset_all(at->v + at->n, i + 1 - at->n);
	at->n = (size_t)i + 1;
	return 0;
}

/* The place of a value in the cache; NULL: out of memory. */
static double *place(struct number_slots *s, size_t slot, uint32_t i)
{
	if ((slot >= s->n || i >= s->v[slot].n) && slot_grow(s, slot, i) < 0)
		return NULL;
	return &s->v[slot].v[i];
}

/* ---- metrics as they are ---- */

/* Whose numbers are asked for, and the cache that keeps the answer. */
struct asking {
	struct numbers *n;
	struct number_cache *cache;
	bool before;
};

/* What of a metric is summed. */
enum sum_kind { SUM_VALUE, SUM_NOW, SUM_WORK, SUM_WORK_TIME, SUM_LAUNCHED, SUM_KINDS };

static double sum_raw(struct numbers *n, uint32_t metric, const struct number_set *set,
		      bool inclusive)
{
	const struct metric *m = derive_metric(snapshot_session(numbers_snapshot(n)), metric);

	if (!m)
		return NAN;
	/* Properties are not added up along a path. */
	inclusive = inclusive && m->scope != METRIC_PROPERTY;
	return combine(n, m, derive_used(numbers_derive(n), metric, inclusive), set->nodes,
		       count(set, inclusive));
}

/* Rates of several nodes add up. */
static double sum_now(struct numbers *n, uint32_t metric, const struct number_set *set,
		      bool inclusive)
{
	const double *v = derive_now(numbers_derive(n), metric, inclusive);

	return v ? sum(v, set->nodes, count(set, inclusive)) : NAN;
}

static double sum_derived(struct numbers *n, enum derived_op op, uint32_t metric,
			  const struct number_set *set, bool inclusive)
{
	const struct derived m = {
		.op = (uint8_t)op, .inclusive = inclusive, .metric = metric, .factor = 1};
	const double *v = derive_column(numbers_derive(n), &m);

	return v ? sum(v, set->nodes, count(set, inclusive)) : NAN;
}

static double sum_work(struct numbers *n, uint32_t metric, const struct number_set *set,
		       bool inclusive)
{
	return sum_derived(n, DERIVED_WORK, metric, set, inclusive);
}

/* Times of work add up as times do. */
static double sum_work_time(struct numbers *n, uint32_t metric, const struct number_set *set,
			    bool inclusive)
{
	return sum_derived(n, DERIVED_WORK_TIME, metric, set, inclusive);
}

/* Of the whole set, or of nothing. */
static double sum_launched(struct numbers *n, uint32_t metric, const struct number_set *set,
			   bool inclusive)
{
	double all = sum_raw(n, metric, set, inclusive);
	double known = sum_derived(n, DERIVED_LAUNCHED, metric, set, inclusive);

	return known == all ? known : NAN;
}

static size_t sum_slot(uint32_t metric, bool inclusive, enum sum_kind kind, bool before)
{
	size_t slot = metric == METRIC_ANY_FLOPS ? 0 : (size_t)metric + 1;

	return (slot * SUM_KINDS + kind) * 4 + inclusive * 2 + before;
}

void number_cache_tell(struct number_cache *c, uint32_t metric, uint32_t i, double sum)
{
	double *known = place(&c->sums, sum_slot(metric, false, SUM_VALUE, false), i);

	if (known)
		*known = sum;
}

static double summed(const struct asking *a, uint32_t metric, const struct number_row *row,
		     bool inclusive, enum sum_kind kind)
{
	static double (*const sums[SUM_KINDS])(struct numbers * n, uint32_t metric,
					       const struct number_set *set,
					       bool inclusive) = {[SUM_VALUE] = sum_raw,
								  [SUM_NOW] = sum_now,
								  [SUM_WORK] = sum_work,
								  [SUM_WORK_TIME] = sum_work_time,
								  [SUM_LAUNCHED] = sum_launched};
	double *known =
		place(&a->cache->sums, sum_slot(metric, inclusive, kind, a->before), row->i);
	double v;

	if (known && !is_unset(*known))
		return *known;
	v = sums[kind](a->n, metric, &row->set, inclusive);
	if (known)
		*known = v;
	return v;
}

/* ---- metrics made of others ---- */

static double quantile(const struct asking *a, double share, const struct number_row *row,
		       bool inclusive)
{
	struct hists *h = derive_hists(numbers_derive(a->n));

	return h ? hists_share(h, row->set.nodes, count(&row->set, inclusive), inclusive, share)
		 : NAN;
}

/* The text that all nodes of the set have; NaN: there are different ones. */
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

/* Seconds that the work would take at each roof add up, as times do. */
static double roofline(struct numbers *n, enum derived_op op, const struct number_set *set,
		       bool inclusive)
{
	static const enum derived_op parts[] = {DERIVED_AT_COMPUTE, DERIVED_COMPUTING,
						DERIVED_AT_MEMORY,  DERIVED_MOVING,
						DERIVED_GIVEN,      DERIVED_COUNTED};
	double v[ARRAY_SIZE(parts)];

	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct derived part = {
			.op = (uint8_t)parts[i], .inclusive = inclusive, .metric = METRIC_NONE};

		const double *column = derive_column(numbers_derive(n), &part);

		v[i] = column ? sum(column, set->nodes, count(set, inclusive)) : NAN;
	}
	return op == DERIVED_SOURCE ? derive_source(v[4], v[5])
				    : derive_roofline(op, v[0] / v[1], v[2] / v[3]);
}

/* Executions of what is estimated have no count: of those of a kernel that ran in graphs, too, the mean is. */
static double estimated_runs(const struct asking *a, const struct derived *m,
			     const struct number_row *row)
{
	double n = NAN;

	if (m->op == DERIVED_AVG && m->metric == METRIC_TIME)
		n = summed(a, METRIC_ESTIMATED_RUNS, row, false, SUM_VALUE);
	return isnan(n) ? 0 : n;
}

/* What a value is divided by. */
static double divisor(const struct asking *a, const struct derived *m, const struct number_row *row,
		      const struct number_row *whole, bool inclusive)
{
	static const enum sum_kind kinds[] = {[DERIVED_VALUE] = SUM_VALUE,
					      [DERIVED_WORK_TIME] = SUM_WORK_TIME,
					      [DERIVED_LAUNCHED] = SUM_LAUNCHED};
	struct derived by;
	double n, more;

	if (m->op == DERIVED_SHARE || m->op == DERIVED_OF_PARENT)
		return summed(a, m->metric, whole, wants_inclusive(&whole->set, m), SUM_VALUE);
	if (!derived_divisor(m, inclusive, &by))
		return NAN;
	n = summed(a, by.metric, row, by.inclusive, kinds[by.op]);
	more = estimated_runs(a, m, row);
	return more > 0 ? more + (isnan(n) ? 0 : n) : n;
}

/* A value that is not made of sums; kept in the slot that the view gave its column. */
static double other(const struct asking *a, const struct number_ask *ask,
		    const struct number_row *row, bool inclusive)
{
	double *known = place(&a->cache->others, ask->slot, row->i), v;
	const struct derived *m = ask->metric;

	if (known && !is_unset(*known))
		return *known;
	if (m->op == DERIVED_QUANTILE)
		v = quantile(a, m->share, row, inclusive) / m->factor;
	else if (derived_is_roofline(m))
		v = roofline(a->n, m->op, &row->set, inclusive);
	else
		v = text(a->n, m->metric, &row->set);
	if (known)
		*known = v;
	return v;
}

static bool is_other(struct numbers *n, const struct derived *m)
{
	const struct metric *metric;

	if (m->metric == METRIC_NONE)
		return true;
	metric = derive_metric(snapshot_session(numbers_snapshot(n)), m->metric);
	return metric && metric->type == METRIC_TEXT;
}

const struct number_ask number_estimated = {
	.metric = &(const struct derived){.op = DERIVED_VALUE,
					  .plain = true,
					  .metric = METRIC_ESTIMATED,
					  .factor = 1},
};

double number_row_value(struct numbers *n, struct number_cache *c, const struct number_ask *ask,
			const struct number_row *row, const struct number_row *whole)
{
	struct asking a = {ask->before ? numbers_before(n) : n, c, ask->before};
	const struct derived *m = ask->metric;
	bool inclusive = wants_inclusive(&row->set, m);

	if (!a.n)
		return NAN;
	if (is_other(a.n, m))
		return other(&a, ask, row, inclusive);
	if (m->op == DERIVED_NOW)
		return summed(&a, m->metric, row, inclusive, SUM_NOW) / m->factor;
	return derived_quotient(
		m,
		summed(&a, m->metric, row, inclusive, m->op == DERIVED_RATE ? SUM_WORK : SUM_VALUE),
		divisor(&a, m, row, whole, inclusive));
}
