/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/diff.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/order.h"
#include "base/strtab.h"
#include "base/util.h"
#include "core/derive.h"
#include "core/merge.h"

struct run {
	double *values; /* by node, n of them; NaN: absent. Nodes of later runs are not in it */
	size_t n;
	double total;
};

struct side {
	struct run *runs;
	size_t n, cap;
};

struct diff {
	struct diff_options options;
	struct column_spec column; /* of the first run that has the metric */
	char *metric, *unit;
	struct strtab *strings;
	struct diff_node *nodes;
	size_t n, cap;
	struct idindex index;
	struct side sides[DIFF_N_SIDES];
	struct diff_value total;
	bool has_values, exclusive, differs;
};

static const char *const status_words[DIFF_N_STATUS] = {"same", "changed", "new", "gone"};

const char *diff_status_word(enum diff_status status)
{
	return status_words[status];
}

/* ---- the tree of both sides ---- */

static bool node_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct diff_node *a = &((const struct diff *)ctx)->nodes[id], *b = key;

	return a->parent == b->parent && a->name == b->name;
}

static uint32_t node_append(struct diff *d, const struct diff_node *key)
{
	uint32_t id = (uint32_t)d->n;
	struct diff_node *up;

	if (ARRAY_ROOM(d->nodes, d->cap, d->n + 1) < 0)
		return DIFF_NONE;
	d->nodes[d->n++] = *key;
	if (key->parent == DIFF_NONE)
		return id;
	up = &d->nodes[key->parent];
	d->nodes[id].depth = up->depth < UINT16_MAX ? (uint16_t)(up->depth + 1) : UINT16_MAX;
	*(up->last_child == DIFF_NONE ? &up->first_child : &d->nodes[up->last_child].next_sibling) =
		id;
	up->last_child = id;
	return id;
}

/* The node of this name below parent, made when absent. The kind of the frame is ignored: some
 * files do not have it, and readers may guess it differently from one run to the next. */
static uint32_t node_intern(struct diff *d, uint32_t parent, const char *name, uint8_t kind)
{
	struct diff_node key = {parent, DIFF_NONE, DIFF_NONE, DIFF_NONE,
				0,      0,         kind,      {.status = DIFF_SAME}};
	uint64_t hash;
	uint32_t id;

	key.name = strtab_adds(d->strings, name);
	if (key.name == STRTAB_NONE)
		return DIFF_NONE;
	hash = hash_pair(parent, key.name);
	id = idindex_find(&d->index, hash, node_equal, d, &key);
	if (id != IDINDEX_NONE)
		return id;
	if (idindex_add(&d->index, hash, (uint32_t)d->n) < 0)
		return DIFF_NONE;
	return node_append(d, &key);
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
	    node_intern(d, DIFF_NONE, "ROOT", FRAME_ROOT) == DIFF_NONE)
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

/* ---- runs ---- */

/* Find the metric to compare in a run; -ENOENT: it has no such metric. */
static int parse_metric(const struct diff *d, const struct session *s, struct column_spec *ret)
{
	const struct metric *m;
	int r = column_parse(s, d->options.metric, strlen(d->options.metric), ret);

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

static int learn_metric(struct diff *d, const struct session *s, const struct column_spec *c)
{
	const struct derived *m = &c->derived;
	bool plain = m->plain && m->op == DERIVED_VALUE && !c->title;
	char *name = strdup(plain ? derive_metric(s, m->metric)->name : d->options.metric);
	char *unit = strdup(unit_of(s, c));

	if (!name || !unit) {
		free(name);
		free(unit);
		return -ENOMEM;
	}
	free(d->metric);
	free(d->unit);
	d->metric = name;
	d->unit = unit;
	d->column = *c;
	d->exclusive = !m->inclusive;
	return 0;
}

/* By node of the snapshot: our node, or DIFF_NONE if hidden. Returns 1 when two nodes of the
 * snapshot are the same node here. */
static int map_nodes(struct diff *d, struct snapshot *snap, uint32_t *map)
{
	const struct session *s = snapshot_session(snap);
	uint32_t n = snapshot_n(snap), i;
	_cleanup_(freep) uint8_t *seen = NULL;
	size_t cap = 0, n_seen = 0;
	bool twice = false;

	map[0] = 0;
	for (i = 1; i < n; i++) {
		const struct snap_node *node = snapshot_node(snap, i);

		map[i] = DIFF_NONE;
		if (node->hidden || map[node->parent] == DIFF_NONE)
			continue;
		map[i] = node_intern(d, map[node->parent], session_node_name(s, node->session_node),
				     node->kind);
		if (map[i] == DIFF_NONE || ARRAY_ROOM(seen, cap, d->n) < 0)
			return -ENOMEM;
		while (n_seen < d->n)
			seen[n_seen++] = 0;
		twice = twice || seen[map[i]];
		seen[map[i]] = 1;
	}
	return twice;
}

static int run_fill(struct diff *d, struct run *run, const uint32_t *map, uint32_t n,
		    const double *v)
{
	uint32_t i;

	run->n = d->n;
	run->values = malloc(d->n * sizeof(*run->values));
	if (!run->values)
		return -ENOMEM;
	for (i = 0; i < d->n; i++)
		run->values[i] = NAN;
	for (i = 0; i < n && v; i++) {
		if (map[i] == DIFF_NONE || isnan(v[i]))
			continue;
		run->values[map[i]] = v[i];
		d->has_values = true;
	}
	return 0;
}

/* The value that stands for a whole run. */
static double run_total(struct snapshot *snap, const struct derived *m, const double *v)
{
	const struct metric *raw = derive_metric(snapshot_session(snap), m->metric);
	double sum = NAN;

	if (m->inclusive || m->op != DERIVED_VALUE || metric_add_plain(raw->add) != METRIC_SUM)
		return v[0];
	for (uint32_t i = 0; i < snapshot_n(snap); i++)
		add_present(&sum, v[i]);
	return sum;
}

/* The values of a run by node. *ret_v: NULL where it has no such metric. */
static int run_values(struct diff *d, struct snapshot *snap, struct derive *derive, struct run *run,
		      const double **ret_v)
{
	struct column_spec c;
	const struct derived *m = &c.derived;
	int r = parse_metric(d, snapshot_session(snap), &c);

	*ret_v = NULL;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!d->has_values && learn_metric(d, snapshot_session(snap), &c) < 0)
		return -ENOMEM;
	d->differs = d->differs || m->inclusive == d->exclusive;
	*ret_v = derive_column(derive, m);
	if (!*ret_v)
		return -ENOMEM;
	run->total = run_total(snap, m, *ret_v);
	return 0;
}

static int run_take(struct diff *d, struct snapshot *snap, struct run *run, const uint32_t *map)
{
	struct derive *derive = derive_new(snap, d->options.peaks);
	const double *v;
	int r = derive ? run_values(d, snap, derive, run, &v) : -ENOMEM;

	if (r == 0)
		r = run_fill(d, run, map, snapshot_n(snap), v);
	derive_free(derive);
	return r;
}

static int run_add(struct diff *d, const struct session *s, struct run *run, bool folded);

/* A path occurs twice: merge by name first, and compute then. Quotients cannot be added up. */
static int run_add_folded(struct diff *d, const struct session *s, struct run *run)
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

static int run_add(struct diff *d, const struct session *s, struct run *run, bool folded)
{
	static const struct snapshot_spec spec;
	struct snapshot *snap = snapshot_new(s, &spec);
	_cleanup_(freep) uint32_t *map = NULL;
	int r = -ENOMEM;

	if (snap)
		map = malloc(MAX(snapshot_n(snap), 1u) * sizeof(*map));
	if (map)
		r = map_nodes(d, snap, map);
	if (r == 1 && folded)
		r = 0; /* still twice: addresses that look the same. The last one counts */
	if (r == 0)
		r = run_take(d, snap, run, map);
	snapshot_free(snap);
	return r == 1 ? run_add_folded(d, s, run) : r;
}

int diff_add(struct diff *d, enum diff_side which, const struct session *s)
{
	struct side *side = &d->sides[which];
	struct run run = {.total = NAN};
	int r;

	if (!d->options.metric)
		d->options.metric = derive_time(s) == METRIC_TIME ? "time" : "cpu_time";
	if (ARRAY_ROOM(side->runs, side->cap, side->n + 1) < 0)
		return -ENOMEM;
	r = run_add(d, s, &run, false);
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
static double run_value(const struct run *run, uint32_t id)
{
	if (id == DIFF_NONE)
		return run->total;
	return id < run->n ? run->values[id] : NAN;
}

/* The scratch array holds a value of each run. */
static void compare_runs(const struct diff *d, uint32_t id, double *scratch, struct diff_value *ret)
{
	for (unsigned which = 0; which < DIFF_N_SIDES; which++) {
		const struct side *side = &d->sides[which];
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
