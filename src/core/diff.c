/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/diff.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/order.h"
#include "base/util.h"
#include "core/derive.h"
#include "core/diff_impl.h"

static const char *const status_words[DIFF_N_STATUS] = {"same", "changed", "new", "gone"};

const char *diff_status_word(enum diff_status status)
{
	return status_words[status];
}

struct diff *diff_new(const struct diff_options *options)
{
	struct diff *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->options = *options;
	d->strings = strtab_new();
	if (!d->strings || diff_node_intern(d, DIFF_NONE, "ROOT", FRAME_ROOT) == DIFF_NONE)
		return diff_free(d);
	return d;
}

static void metric_done(struct diff_metric *m)
{
	free(m->word);
	free(m->name);
	free(m->unit);
}

struct diff *diff_free(struct diff *d)
{
	if (!d)
		return NULL;
	for (unsigned side = 0; side < DIFF_N_SIDES; side++) {
		for (size_t i = 0; i < d->sides[side].n; i++)
			diff_run_done(&d->sides[side].runs[i]);
		free(d->sides[side].runs);
	}
	for (size_t i = 0; i < d->n_metrics; i++)
		metric_done(&d->metrics[i]);
	free(d->metrics);
	idindex_done(&d->index);
	strtab_free(d->strings);
	free(d->nodes);
	free(d->values);
	free(d);
	return NULL;
}

static int add_metric(struct diff *d, const char *word, size_t len)
{
	struct diff_metric m = {.word = strndup(word, len),
				.name = strndup(word, len),
				.unit = strdup(""),
				.exclusive = d->options.exclusive};

	if (m.word && m.name && m.unit &&
	    ARRAY_ROOM(d->metrics, d->cap_metrics, d->n_metrics + 1) == 0) {
		d->metrics[d->n_metrics++] = m;
		return 0;
	}
	metric_done(&m);
	return -ENOMEM;
}

/* Metrics may have commas in their names: which words there are, a session says. */
static int add_metrics(struct diff *d, const struct session *s)
{
	const char *words = d->options.metrics;
	int r = 0;

	if (!words)
		words = derive_time(s) == METRIC_TIME ? "time" : "cpu_time";
	while (*words && r == 0) {
		size_t len = column_word_len(s, words);

		r = add_metric(d, words, len);
		words += len + (words[len] == ',');
	}
	return r;
}

int diff_add(struct diff *d, enum diff_side which, const struct session *s)
{
	struct diff_runs *side = &d->sides[which];
	struct diff_taken run = {0};
	int r = d->n_metrics ? 0 : add_metrics(d, s);

	if (r == 0)
		r = ARRAY_ROOM(side->runs, side->cap, side->n + 1);
	if (r == 0)
		r = diff_run_take(d, s, &run);
	if (r < 0) {
		diff_run_done(&run);
		return r;
	}
	side->runs[side->n++] = run;
	return 0;
}

/* ---- the comparison ---- */

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void range_of(double *values, uint32_t n, struct diff_range *ret)
{
	*ret = (struct diff_range){n, NAN, NAN, NAN};
	if (!n)
		return;
	qsort(values, n, sizeof(*values), compare_double);
	ret->min = values[0];
	ret->max = values[n - 1];
	ret->median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void value_compare(struct diff_value *v, double noise)
{
	const struct diff_range *a = &v->side[DIFF_A], *b = &v->side[DIFF_B];

	v->status = DIFF_SAME;
	v->delta = v->ratio = NAN;
	v->overlaps = !a->n == !b->n;
	if (!a->n && !b->n)
		return;
	v->delta = (b->n ? b->median : 0) - (a->n ? a->median : 0);
	if (v->delta == 0)
		v->ratio = 0;
	else
		v->ratio = a->n && a->median != 0 ? v->delta / fabs(a->median)
						  : copysign(INFINITY, v->delta);
	if (!a->n)
		v->status = DIFF_NEW;
	else if (!b->n)
		v->status = DIFF_GONE;
	else
		v->overlaps = !(a->max < b->min || b->max < a->min);
	if (a->n && b->n && !v->overlaps && fabs(v->ratio) > noise)
		v->status = DIFF_CHANGED;
}

/* The value of a node in a run; DIFF_NONE stands for the whole run. */
static double run_value(const struct diff *d, const struct diff_taken *run, uint32_t id,
			size_t metric)
{
	if (id == DIFF_NONE)
		return run->totals[metric];
	return id < run->n ? run->values[id * d->n_metrics + metric] : NAN;
}

/* The scratch array holds a value of each run. */
static void compare_runs(const struct diff *d, uint32_t id, size_t metric, double *scratch,
			 struct diff_value *ret)
{
	for (unsigned which = 0; which < DIFF_N_SIDES; which++) {
		const struct diff_runs *side = &d->sides[which];
		uint32_t n = 0;

		for (size_t i = 0; i < side->n; i++) {
			double v = run_value(d, &side->runs[i], id, metric);

			if (!isnan(v))
				scratch[n++] = v;
		}
		range_of(scratch, n, &ret->side[which]);
	}
	value_compare(ret, d->options.noise);
}

static void compare_facts(struct diff_runs *side, double *scratch)
{
	for (unsigned fact = 0; fact < DIFF_N_FACTS; fact++) {
		uint32_t n = 0;

		for (size_t i = 0; i < side->n; i++)
			if (!isnan(side->runs[i].run.facts[fact]))
				scratch[n++] = side->runs[i].run.facts[fact];
		range_of(scratch, n, &side->facts[fact]);
	}
}

int diff_compare(struct diff *d)
{
	size_t most = MAX(d->sides[DIFF_A].n, d->sides[DIFF_B].n);
	_cleanup_(freep) double *scratch = malloc(MAX(most, (size_t)1) * sizeof(*scratch));

	free(d->values);
	d->values = calloc(MAX(d->n * d->n_metrics, (size_t)1), sizeof(*d->values));
	if (!scratch || !d->values)
		return -ENOMEM;
	for (unsigned side = 0; side < DIFF_N_SIDES; side++)
		compare_facts(&d->sides[side], scratch);
	for (size_t m = 0; m < d->n_metrics; m++) {
		compare_runs(d, DIFF_NONE, m, scratch, &d->metrics[m].total);
		for (uint32_t id = 0; id < d->n; id++)
			compare_runs(d, id, m, scratch, &d->values[id * d->n_metrics + m]);
	}
	return 0;
}

/* ---- results ---- */

uint32_t diff_n(const struct diff *d)
{
	return (uint32_t)d->n;
}

const struct diff_node *diff_node(const struct diff *d, uint32_t id)
{
	return &d->nodes[id];
}

const char *diff_name(const struct diff *d, uint32_t id)
{
	return strtab_str(d->strings, d->nodes[id].name);
}

const struct diff_value *diff_value(const struct diff *d, uint32_t id, size_t metric)
{
	return &d->values[id * d->n_metrics + metric];
}

size_t diff_n_metrics(const struct diff *d)
{
	return d->n_metrics;
}

const struct diff_metric *diff_metric(const struct diff *d, size_t i)
{
	return &d->metrics[i];
}

size_t diff_n_runs(const struct diff *d, enum diff_side side)
{
	return d->sides[side].n;
}

const struct diff_run *diff_run(const struct diff *d, enum diff_side side, size_t i)
{
	return &d->sides[side].runs[i].run;
}

const struct diff_range *diff_fact(const struct diff *d, enum diff_side side, enum diff_fact fact)
{
	return &d->sides[side].facts[fact];
}

bool diff_is_empty(const struct diff *d, enum diff_side side)
{
	for (size_t i = 0; i < diff_n_runs(d, side); i++)
		if (!diff_run(d, side, i)->is_empty)
			return false;
	return true;
}

#define MOST_OF_IT (2.0 / 3)

/* Inclusive values of one metric: what a node has is what those below have, and its own. */
static bool adds_up(const struct diff_metric *m)
{
	return m->column.derived.op == DERIVED_VALUE && !m->exclusive;
}

static bool is_whole(const struct diff_value *v)
{
	return v->status == DIFF_NEW || v->status == DIFF_GONE;
}

uint32_t diff_cause(const struct diff *d, uint32_t id, size_t metric)
{
	const struct diff_node *n = diff_node(d, id);
	const struct diff_value *v = diff_value(d, id, metric), *below;

	if (!adds_up(&d->metrics[metric]) || id == 0)
		return id;
	if (is_whole(v))
		return n->parent && diff_value(d, n->parent, metric)->status == v->status
			       ? n->parent
			       : id;
	for (uint32_t i = n->first_child; i != DIFF_NONE; i = diff_node(d, i)->next_sibling) {
		below = diff_value(d, i, metric);
		if (below->delta * v->delta > 0 &&
		    fabs(below->delta) >= MOST_OF_IT * fabs(v->delta))
			return i;
	}
	return id;
}

uint32_t *diff_sorted(const struct diff *d)
{
	_cleanup_(freep) struct order_entry *entries = malloc(d->n * sizeof(*entries));
	uint32_t *ids = entries ? malloc(d->n * sizeof(*ids)) : NULL;
	uint32_t n = (uint32_t)d->n - 1;

	if (!ids)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		entries[i] = (struct order_entry){fabs(diff_value(d, i + 1, 0)->delta), i + 1, 0};
	order_sort(entries, n, false);
	for (uint32_t i = 0; i < n; i++)
		ids[i] = entries[i].id;
	return ids;
}
