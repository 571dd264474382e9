/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/reduce.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/copy_rows.h"
#include "core/merge.h"

struct reduction {
	const struct session *s;
	const struct reduce_options *o;
	uint32_t n;
	uint32_t *to;    /* by node: as merge_keep() takes it */
	double *elapsed; /* by node: its time on the host; NaN: it has none */
	double *gone;    /* by node: how much of that was in what a filter left out */
	uint8_t *host;   /* by node that is another one: it gets that time */
	uint8_t *parted; /* by node: a part of the work below it is left out */
};

static int reduction_init(struct reduction *x, const struct session *s,
			  const struct reduce_options *o)
{
	size_t n = MAX(s->n_nodes, (size_t)1);

	*x = (struct reduction){.s = s,
				.o = o,
				.n = (uint32_t)s->n_nodes,
				.to = malloc(n * sizeof(*x->to)),
				.elapsed = malloc(n * sizeof(*x->elapsed)),
				.gone = calloc(n, sizeof(*x->gone)),
				.host = calloc(n, 1),
				.parted = calloc(n, 1)};
	return x->to && x->elapsed && x->gone && x->host && x->parted ? 0 : -ENOMEM;
}

static void reduction_done(struct reduction *x)
{
	free(x->to);
	free(x->elapsed);
	free(x->gone);
	free(x->host);
	free(x->parted);
}

/* ---- which nodes ---- */

/* Of the nodes that are shown, those that are neither small nor deep. */
static int make_large(const struct reduction *x, struct snapshot *snap, const uint8_t *shown,
		      uint8_t *large)
{
	const struct snap_node *nodes = snapshot_nodes(snap);
	int r = 0;

	for (uint32_t i = 0; i < snapshot_n(snap); i++)
		large[i] = shown[i];
	if (least_any(&x->o->least))
		r = least_apply(&x->o->least, large, snap);
	for (uint32_t i = 0; i < snapshot_n(snap) && x->o->depth; i++)
		large[i] &= nodes[i].depth < x->o->depth;
	return r;
}

/* Launch metadata is no work: it does not become that of the node above it. Its outermost node stays, or,
 * where the node above it does not, is one with the first such node below the same one. That has all that
 * was below it then, as it has what lies too deep. */
static void choose_metadata(struct reduction *x, const struct snap_node *nodes, uint32_t node,
			    uint32_t id, uint32_t *first)
{
	uint32_t parent = x->s->nodes[node].parent, up = x->to[parent], upper;
	bool deep = x->o->depth && nodes[id].depth >= x->o->depth;

	if (up == SESSION_NONE)
		return;
	if (nodes[nodes[id].parent].metadata) {
		upper = x->s->nodes[parent].parent;
		x->to[node] = up != parent || x->to[upper] != upper || deep ? up : node;
		return;
	}
	x->to[node] = up == parent || first[up] == SESSION_NONE ? node : first[up];
	if (first[up] == SESSION_NONE)
		first[up] = node;
}

/* Without groups a node of the view is one of the session, and the root is the root. */
static int choose_nodes(struct reduction *x, struct snapshot *snap, const uint8_t *shown,
			const uint8_t *large, const uint8_t *metadata)
{
	const struct snap_node *nodes = snapshot_nodes(snap);
	const uint8_t *parted = snapshot_parted(snap);
	_cleanup_(freep) uint32_t *first = malloc(MAX(x->n, 1u) * sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->n; i++)
		x->to[i] = first[i] = SESSION_NONE;
	for (uint32_t i = 0; i < snapshot_n(snap); i++) {
		uint32_t node = i ? nodes[i].session_node : SESSION_ROOT;

		if (metadata[i])
			choose_metadata(x, nodes, node, i, first);
		else if (shown[i] || i == 0)
			x->to[node] = large[i] || i == 0 ? node : x->to[x->s->nodes[node].parent];
		x->parted[node] = parted && parted[i];
	}
	return 0;
}

static int choose(struct reduction *x, struct snapshot *snap, struct filter_left *ret_left,
		  enum filter_hint *ret_hint)
{
	_cleanup_(freep) uint8_t *shown = NULL, *large = malloc(MAX(snapshot_n(snap), 1u));
	_cleanup_(freep) uint8_t *metadata = NULL;
	int r = large ? filter_make_apart(&x->o->filter, snap, &shown, &metadata) : -ENOMEM;

	if (r < 0)
		return r;
	if (!shown[0]) {
		*ret_hint = filter_hint(x->o->filter.include, snap);
		return -ENODATA;
	}
	snapshot_mask(snap, shown);
	filter_left(snap, x->o->filter.include, ret_left);
	r = make_large(x, snap, shown, large);
	return r < 0 ? r : choose_nodes(x, snap, shown, large, metadata);
}

/* ---- time on the host ---- */

static bool is_measured(const struct reduction *x, uint32_t node)
{
	return !isnan(x->elapsed[node]);
}

static void load_elapsed(struct reduction *x)
{
	union metric_value v;

	for (uint32_t i = 0; i < x->n; i++)
		x->elapsed[i] = session_value(x->s, i, METRIC_CPU_TIME, &v) ? (double)v.u64 : NAN;
}

/* Elapsed time has that of what is within. What was left out is taken from all around it: from the
 * outermost of it that has a time up. */
static int take_gone(struct reduction *x)
{
	_cleanup_(freep) uint8_t *inner = calloc(MAX(x->n, 1u), 1);

	if (!inner)
		return -ENOMEM;
	for (uint32_t i = 1; i < x->n; i++) {
		uint32_t up = x->s->nodes[i].parent;

		inner[i] = x->to[up] == SESSION_NONE && (inner[up] || is_measured(x, up));
	}
	for (uint32_t i = x->n; i-- > 1;) {
		double *up = &x->gone[x->s->nodes[i].parent];

		*up += x->gone[i];
		if (x->to[i] == SESSION_NONE && is_measured(x, i) && !inner[i])
			*up += x->elapsed[i];
	}
	return 0;
}

/* Who is another node gives it its time, unless that, or one between, has it already. */
static int give_host(struct reduction *x)
{
	_cleanup_(freep) uint8_t *around = calloc(MAX(x->n, 1u), 1);

	if (!around)
		return -ENOMEM;
	for (uint32_t i = 1; i < x->n; i++) {
		uint32_t up = x->s->nodes[i].parent;

		if (x->to[i] == i || x->to[i] == SESSION_NONE)
			continue;
		around[i] = is_measured(x, up) || (x->to[up] != up && around[up]);
		x->host[i] = is_measured(x, i) && !around[i];
	}
	return 0;
}

/* How often it was entered is of all of its time: a mean of what is left would be that of nothing. */
static void drop_count(struct session *s, uint32_t row)
{
	uint32_t at = session_row_place(s, &s->rows[row], METRIC_CPU_COUNT);

	if (at != SESSION_NONE)
		s->present[at] = 0;
}

/* Take time from the rows of a node of the new session, from each its share. */
static void shorten(struct session *s, uint32_t node, double by)
{
	double whole = 0, factor;

	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row))
		whole += fmax(session_row_number(s, &s->rows[row], METRIC_CPU_TIME), 0);
	factor = whole > by ? (whole - by) / whole : 0;
	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		uint32_t at = session_row_place(s, &s->rows[row], METRIC_CPU_TIME);
		double v;

		drop_count(s, row);
		if (at == SESSION_NONE || !s->present[at])
			continue;
		v = round((double)s->values[at].u64 * factor);
		session_row_set(s, row, at - s->rows[row].values,
				(union metric_value){.u64 = (uint64_t)v});
	}
}

static int shorten_all(const struct reduction *x, const uint32_t *nodes, struct session *into)
{
	_cleanup_(freep) double *by = calloc(MAX(into->n_nodes, (size_t)1), sizeof(*by));

	if (!by)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->to[i] != SESSION_NONE && is_measured(x, i) && (x->to[i] == i || x->host[i]))
			by[nodes[i]] += x->gone[i];
	for (uint32_t i = 0; i < into->n_nodes; i++)
		if (by[i] > 0)
			shorten(into, i, by[i]);
	return 0;
}

/* ---- the session ---- */

/* Which copies by stream are left; *ret NULL: all of them, for of some a part is. */
static int choose_copies(const struct reduction *x, uint8_t **ret)
{
	_cleanup_(freep) uint8_t *counted = malloc(MAX(x->s->n_rows, (size_t)1));

	if (!counted)
		return -ENOMEM;
	for (size_t i = 0; i < x->s->n_rows; i++)
		counted[i] = x->to[x->s->rows[i].node] != SESSION_NONE;
	return copy_lanes_counted(x->s, counted, ret);
}

static int make(struct reduction *x, struct session *into)
{
	_cleanup_(merge_freep) struct merge *m = merge_new(into);
	_cleanup_(freep) uint8_t *copies = NULL;
	int r = m ? choose_copies(x, &copies) : -ENOMEM;

	load_elapsed(x);
	if (r == 0)
		r = take_gone(x);
	if (r == 0)
		r = give_host(x);
	if (r == 0) {
		merge_keep(m, x->to, x->host, x->parted);
		merge_keep_copies(m, copies);
		into->copy_lanes_of_all = !copies;
		r = merge_add(m, x->s, NULL);
	}
	return r < 0 ? r : shorten_all(x, merge_nodes(m), into);
}

int session_reduce(const struct session *s, const struct reduce_options *o, struct session **ret,
		   struct filter_left *ret_left, enum filter_hint *ret_hint)
{
	const struct snapshot_spec spec = {.naming = o->naming, .all_forms = true};
	_cleanup_(session_freep) struct session *into = session_new();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct reduction x;
	int r = reduction_init(&x, s, o);

	if (r == 0)
		r = into && snap ? choose(&x, snap, ret_left, ret_hint) : -ENOMEM;
	if (r == 0)
		r = make(&x, into);
	snapshot_free(snap);
	reduction_done(&x);
	if (r < 0)
		return r;
	*ret = into;
	into = NULL;
	return 0;
}
