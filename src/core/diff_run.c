/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/diff_impl.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/derive.h"
#include "core/merge.h"
#include "core/regroup.h"

static const struct session *session_of(const struct diff_picture *p)
{
	return snapshot_session(p->snap);
}

/* ---- metrics ---- */

/* Find a metric in a run; -ENOENT: it has no such metric. */
static int parse_metric(const struct diff *d, const char *word, const struct session *s,
			struct column_spec *ret)
{
	const struct metric *m;
	int r = column_parse(s, word, strlen(word), ret);

	if (r < 0)
		return r;
	m = derive_metric(s, ret->derived.metric);
	if (ret->form == FORM_WORD || (m && m->scope == METRIC_PROPERTY))
		return -EINVAL;
	if (d->options.exclusive)
		ret->derived.inclusive = false;
	return 0;
}

/* The unit of a value that is printed in full; "": the name has the unit. */
static const char *unit_of(const struct session *s, const struct column_spec *c)
{
	const struct derived *m = &c->derived;

	if (c->form == FORM_TIME)
		return "ns";
	return m->plain && (m->op == DERIVED_VALUE || m->op == DERIVED_AVG)
		       ? derive_metric(s, m->metric)->unit
		       : "";
}

/* Take from a run what the metric is. */
static int learn_metric(struct diff_metric *metric, const struct session *s,
			const struct column_spec *c)
{
	const struct derived *m = &c->derived;
	bool plain = m->plain && m->op == DERIVED_VALUE && !c->title;
	char *name = strdup(plain ? derive_metric(s, m->metric)->name : metric->word);
	char *unit = strdup(unit_of(s, c));

	if (!name || !unit) {
		free(name);
		free(unit);
		return -ENOMEM;
	}
	free(metric->name);
	free(metric->unit);
	metric->name = name;
	metric->unit = unit;
	metric->column = *c;
	metric->exclusive = !m->inclusive;
	metric->is_known = true;
	return 0;
}

/* ---- filters ---- */

static double time_of(const struct diff_picture *p, uint32_t time)
{
	const double *v = derive_used(numbers_derive(p->numbers), time, true);

	return v ? v[0] : NAN;
}

/* Is anything but the root shown? */
static bool is_empty(const struct snapshot *snap)
{
	const uint8_t *hidden = snapshot_hidden(snap);

	for (uint32_t i = 1; i < snapshot_n(snap); i++)
		if (!hidden[i])
			return false;
	return true;
}

/* Take out what expressions leave out, and note how much of the time is left. */
static int filter(struct diff_picture *p, struct diff_run *run)
{
	const struct diff_options *o = &p->d->options;
	uint32_t time = derive_time(session_of(p));
	const struct filter f = {o->include, o->exclude, o->peaks};
	_cleanup_(freep) uint8_t *mask = NULL;
	int r;

	if (!filter_any(&f))
		return 0;
	r = filter_make(&f, p->snap, &mask);
	if (r < 0)
		return r;
	run->facts[DIFF_TIME] = time_of(p, time);
	snapshot_mask(p->snap, mask);
	numbers_update(p->numbers, NULL);
	run->facts[DIFF_LEFT] = time_of(p, time);
	run->is_empty = is_empty(p->snap);
	run->hint = run->is_empty ? filter_hint(o->include, p->snap) : FILTER_NO_HINT;
	return 0;
}

/* ---- nodes ---- */

/* The node of a path; DIFF_NONE: it is not shown. 0 or -ENOMEM. */
static int map_path(const struct diff_picture *p, uint32_t i)
{
	const struct snap_node *node = snapshot_node(p->snap, i);
	uint32_t *to = &p->map[i];

	*to = i ? DIFF_NONE : 0;
	if (i == 0 || node->hidden || p->map[node->parent] == DIFF_NONE)
		return 0;
	*to = diff_node_intern(p->d, p->map[node->parent],
			       session_node_name(session_of(p), node->session_node), node->kind);
	return *to == DIFF_NONE ? -ENOMEM : 0;
}

/* Find our node of each place. Returns 1 when two of them have the same one. */
static int map_places(struct diff_picture *p)
{
	_cleanup_(freep) uint8_t *seen = NULL;
	size_t cap = 0, n_seen = 0;
	bool twice = false;

	p->n_map = p->flat ? diff_flat_n(p->flat) : snapshot_n(p->snap);
	p->map = malloc(MAX(p->n_map, 1u) * sizeof(*p->map));
	if (!p->map)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_map; i++) {
		int r = p->flat ? 0 : map_path(p, i);

		if (p->flat)
			p->map[i] = diff_flat_node(p->flat, i);
		if (r < 0 || ARRAY_ROOM(seen, cap, p->d->n) < 0)
			return -ENOMEM;
		while (n_seen < p->d->n)
			seen[n_seen++] = 0;
		if (p->map[i] == DIFF_NONE)
			continue;
		twice = twice || seen[p->map[i]];
		seen[p->map[i]] = 1;
	}
	return twice;
}

/* ---- values ---- */

/* Do the values of nodes add up? */
static bool is_sum(const struct session *s, const struct derived *m)
{
	const struct metric *raw = derive_metric(s, m->metric);

	return m->op == DERIVED_VALUE && raw && raw->scope != METRIC_PROPERTY &&
	       metric_add_plain(raw->add) == METRIC_SUM;
}

/* Does it grow with what is done? What there is now does not. */
static bool is_done(const struct session *s, const struct derived *m)
{
	return is_sum(s, m) && derive_metric(s, m->metric)->add == METRIC_SUM;
}

/* The value that stands for a whole run. */
static double run_total(const struct diff_picture *p, const struct derived *m, const double *v)
{
	double sum = NAN;

	if (m->inclusive || !is_sum(session_of(p), m))
		return v[0];
	for (uint32_t i = 0; i < snapshot_n(p->snap); i++)
		add_present(&sum, v[i]);
	return sum;
}

/* What the values of a metric are divided by. */
static double divisor(const struct diff_run *run, const struct diff_metric *metric)
{
	return metric->is_divided ? run->facts[DIFF_CALLS] : 1;
}

/* The values of metric i, which are v, by node, where paths are compared. */
static void put_values(const struct diff_picture *p, struct diff_taken *run, size_t i,
		       const struct derived *m, const double *v)
{
	struct diff_metric *metric = &p->d->metrics[i];
	double by = divisor(&run->run, metric);

	for (uint32_t place = 0; place < p->n_map; place++) {
		double one = p->flat ? diff_flat_value(p->flat, place, m, i) : v[place];

		if (p->map[place] == DIFF_NONE || isnan(one))
			continue;
		run->values[p->map[place] * p->d->n_metrics + i] = one / by;
		metric->has_values = true;
	}
}

/* The values of one metric, if the run has it. */
static int take_metric(const struct diff_picture *p, struct diff_taken *run, size_t i)
{
	struct diff_metric *metric = &p->d->metrics[i];
	struct column_spec c;
	const double *v;
	int r = parse_metric(p->d, metric->word, session_of(p), &c);

	metric->is_refused = r == -EINVAL;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!metric->has_values && learn_metric(metric, session_of(p), &c) < 0)
		return -ENOMEM;
	metric->differs = metric->differs || c.derived.inclusive == metric->exclusive;
	metric->is_divided = p->d->options.per && is_done(session_of(p), &c.derived);
	v = derive_column(numbers_derive(p->numbers), &c.derived);
	if (!v)
		return -ENOMEM;
	run->totals[i] = run_total(p, &c.derived, v) / divisor(&run->run, metric);
	put_values(p, run, i, &c.derived, v);
	return 0;
}

static double *absent(size_t n)
{
	double *v = malloc(MAX(n, (size_t)1) * sizeof(*v));

	for (size_t i = 0; v && i < n; i++)
		v[i] = NAN;
	return v;
}

static int take_metrics(const struct diff_picture *p, struct diff_taken *run)
{
	const struct diff *d = p->d;
	int r = 0;

	run->n = d->n;
	run->values = absent(d->n * d->n_metrics);
	run->totals = absent(d->n_metrics);
	if (!run->values || !run->totals)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_metrics && r == 0; i++)
		r = take_metric(p, run, i);
	return r;
}

void diff_run_done(struct diff_taken *run)
{
	free(run->values);
	free(run->totals);
}

/* ---- a run ---- */

static int picture_make(struct diff_picture *p, struct diff *d, const struct session *s)
{
	const struct snapshot_spec spec = {.naming = d->options.naming, .all_forms = true};

	*p = (struct diff_picture){.d = d, .snap = snapshot_new(s, &spec)};
	if (p->snap)
		p->numbers = numbers_new(p->snap, d->options.peaks);
	return p->numbers ? 0 : -ENOMEM;
}

static void picture_done(struct diff_picture *p)
{
	diff_flat_free(p->flat);
	numbers_free(p->numbers);
	snapshot_free(p->snap);
	free(p->map);
}

/* Of the whole run, before anything is taken out of it. */
static int count_calls(const struct diff_picture *p, struct diff_run *run)
{
	if (!p->d->options.per)
		return 0;
	run->facts[DIFF_CALLS] = diff_per_calls(p);
	return run->facts[DIFF_CALLS] > 0 ? 0 : -ENODATA;
}

static int run_add(struct diff *d, const struct session *s, struct diff_taken *run, bool folded);

/* A path occurs twice: merge by name first, and compute then. Quotients cannot be added up. */
static int run_add_folded(struct diff *d, const struct session *s, struct diff_taken *run)
{
	_cleanup_(session_freep) struct session *folded = session_new();
	_cleanup_(merge_freep) struct merge *m = folded ? merge_new(folded) : NULL;
	int r;

	if (!m)
		return -ENOMEM;
	merge_by_name(m);
	r = merge_add(m, s, NULL);
	return r < 0 ? r : run_add(d, folded, run, true);
}

static int run_add(struct diff *d, const struct session *s, struct diff_taken *run, bool folded)
{
	struct diff_picture p;
	int r = picture_make(&p, d, s);

	if (r == 0)
		r = count_calls(&p, &run->run);
	if (r == 0)
		r = filter(&p, &run->run);
	if (r == 0 && d->options.flat) {
		p.flat = diff_flat_new(&p);
		r = p.flat ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = map_places(&p);
	if (r == 1 && folded)
		r = 0; /* still twice: addresses that look the same. The last one counts */
	if (r == 0)
		r = take_metrics(&p, run);
	picture_done(&p);
	return r == 1 ? run_add_folded(d, s, run) : r;
}

int diff_run_take(struct diff *d, const struct session *s, struct diff_taken *run)
{
	_cleanup_(session_freep) struct session *grouped = NULL;

	for (unsigned fact = 0; fact < DIFF_N_FACTS; fact++)
		run->run.facts[fact] = NAN;
	if (d->options.group == GROUP_NONE)
		return run_add(d, s, run, false);
	grouped = session_regroup(s, d->options.group);
	return grouped ? run_add(d, grouped, run, false) : -ENOMEM;
}
