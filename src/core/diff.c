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
	d->exclusive = options->exclusive;
	d->metric = strdup(options->metric ? options->metric : "time");
	d->unit = strdup("");
	d->strings = strtab_new();
	if (!d->metric || !d->unit || !d->strings ||
	    diff_node_intern(d, DIFF_NONE, "ROOT", FRAME_ROOT) == DIFF_NONE)
		return diff_free(d);
	return d;
}

struct diff *diff_free(struct diff *d)
{
	unsigned side;
	size_t i;

	if (!d)
		return NULL;
	for (side = 0; side < DIFF_N_SIDES; side++) {
		for (i = 0; i < d->sides[side].n; i++)
			free(d->sides[side].runs[i].values);
		free(d->sides[side].runs);
	}
	idindex_done(&d->index);
	strtab_free(d->strings);
	free(d->nodes);
	free(d->metric);
	free(d->unit);
	free(d);
	return NULL;
}

int diff_add(struct diff *d, enum diff_side which, const struct session *s)
{
	struct diff_runs *side = &d->sides[which];
	struct diff_run run = {.total = NAN};
	int r;

	if (!d->options.metric)
		d->options.metric = derive_time(s) == METRIC_TIME ? "time" : "cpu_time";
	if (ARRAY_ROOM(side->runs, side->cap, side->n + 1) < 0)
		return -ENOMEM;
	r = diff_run_take(d, s, &run);
	if (r < 0) {
		free(run.values);
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
static double run_value(const struct diff_run *run, uint32_t id)
{
	if (id == DIFF_NONE)
		return run->total;
	return id < run->n ? run->values[id] : NAN;
}

/* The scratch array holds a value of each run. */
static void compare_runs(const struct diff *d, uint32_t id, double *scratch, struct diff_value *ret)
{
	for (unsigned which = 0; which < DIFF_N_SIDES; which++) {
		const struct diff_runs *side = &d->sides[which];
		uint32_t n = 0;

		for (size_t i = 0; i < side->n; i++) {
			double v = run_value(&side->runs[i], id);

			if (!isnan(v))
				scratch[n++] = v;
		}
		range_of(scratch, n, &ret->side[which]);
	}
	value_compare(ret, d->options.noise);
}

int diff_compare(struct diff *d)
{
	size_t most = MAX(d->sides[DIFF_A].n, d->sides[DIFF_B].n);
	double *scratch = malloc(MAX(most, (size_t)1) * sizeof(*scratch));
	uint32_t i;

	if (!scratch)
		return -ENOMEM;
	compare_runs(d, DIFF_NONE, scratch, &d->total);
	for (i = 0; i < d->n; i++)
		compare_runs(d, i, scratch, &d->nodes[i].value);
	free(scratch);
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

const struct diff_value *diff_total(const struct diff *d)
{
	return &d->total;
}

const char *diff_metric(const struct diff *d)
{
	return d->metric;
}

const struct column_spec *diff_column(const struct diff *d)
{
	return &d->column;
}

const char *diff_unit(const struct diff *d)
{
	return d->unit;
}

bool diff_is_exclusive(const struct diff *d)
{
	return d->exclusive;
}

bool diff_differs(const struct diff *d)
{
	return d->differs;
}

bool diff_has_values(const struct diff *d)
{
	return d->has_values;
}

size_t diff_n_runs(const struct diff *d, enum diff_side side)
{
	return d->sides[side].n;
}

#define MOST_OF_IT (2.0 / 3)

/* Inclusive values of one metric: what a node has is what those below have, and its own. */
static bool adds_up(const struct diff *d)
{
	return d->column.derived.op == DERIVED_VALUE && !d->exclusive;
}

static bool is_whole(const struct diff_value *v)
{
	return v->status == DIFF_NEW || v->status == DIFF_GONE;
}

bool diff_is_cause(const struct diff *d, uint32_t id)
{
	const struct diff_node *n = diff_node(d, id);
	const struct diff_value *v = &n->value, *above;

	if (!adds_up(d) || id == 0)
		return true;
	above = &diff_node(d, n->parent)->value;
	if (is_whole(v))
		return n->parent == 0 || above->status != v->status;
	for (uint32_t i = n->first_child; i != DIFF_NONE; i = diff_node(d, i)->next_sibling)
		if (diff_node(d, i)->value.delta * v->delta > 0 &&
		    fabs(diff_node(d, i)->value.delta) >= MOST_OF_IT * fabs(v->delta))
			return false;
	return true;
}

uint32_t *diff_sorted(const struct diff *d)
{
	_cleanup_(freep) struct order_entry *entries = malloc(d->n * sizeof(*entries));
	uint32_t *ids = entries ? malloc(d->n * sizeof(*ids)) : NULL;
	uint32_t n = (uint32_t)d->n - 1;

	if (!ids)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		entries[i] = (struct order_entry){fabs(d->nodes[i + 1].value.delta), i + 1, 0};
	order_sort(entries, n, false);
	for (uint32_t i = 0; i < n; i++)
		ids[i] = entries[i].id;
	return ids;
}
