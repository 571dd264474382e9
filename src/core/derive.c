/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/derive.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/unset.h"
#include "base/util.h"
#include "core/derive_impl.h"
#include "core/hists.h"
#include "core/metadata.h"

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

static const double *column(struct derive *d, const struct derived *m, bool all);

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

	if (derive_find_parted(d, all, &parted) < 0)
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
		kept[i] = derive_counts(d, i, all);
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

static int make(struct derive *d, const struct derived *m, bool all, double *v)
{
	const double *a = NULL;

	if (m->metric != METRIC_NONE) {
		a = derive_raw_of(d, m->metric, m->inclusive, all);
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
		return derive_make_work(d, m, all, v);
	case DERIVED_WORK_TIME:
		return derive_make_work_time(d, m, all, v);
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
		return derive_make_roofline(d, m, all, v);
	case DERIVED_MEASURED:
	case DERIVED_MEASURED_TIME:
		return derive_make_measured(d, m, all, v);
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
		return derive_raw_of(d, m->metric, m->inclusive, all);
	v = derive_column_find(d, m, all);
	if (v)
		return v;
	as_it_is = m->op == DERIVED_WORK ? derive_work_as_it_is(d, m, all) : NULL;
	if (as_it_is)
		return as_it_is;
	v = derive_column_new(d, m, all);
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
	return derive_is_used(d, m->metric) ||
	       (m->op == DERIVED_RATE && derive_is_counted(d, m->metric));
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
	double *v = derive_column_find(d, &key, false);

	if (!v && (v = derive_column_new(d, &key, false)))
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
