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
		map[i] = diff_node_intern(d, map[node->parent],
					  session_node_name(s, node->session_node), node->kind);
		if (map[i] == DIFF_NONE || ARRAY_ROOM(seen, cap, d->n) < 0)
			return -ENOMEM;
		while (n_seen < d->n)
			seen[n_seen++] = 0;
		twice = twice || seen[map[i]];
		seen[map[i]] = 1;
	}
	return twice;
}

static int run_fill(struct diff *d, struct diff_run *run, const uint32_t *map, uint32_t n,
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
static int run_values(struct diff *d, struct snapshot *snap, struct derive *derive,
		      struct diff_run *run, const double **ret_v)
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

static int run_take(struct diff *d, struct snapshot *snap, struct diff_run *run,
		    const uint32_t *map)
{
	struct derive *derive = derive_new(snap, d->options.peaks);
	const double *v;
	int r = derive ? run_values(d, snap, derive, run, &v) : -ENOMEM;

	if (r == 0)
		r = run_fill(d, run, map, snapshot_n(snap), v);
	derive_free(derive);
	return r;
}

static int run_add(struct diff *d, const struct session *s, struct diff_run *run, bool folded);

/* A path occurs twice: merge by name first, and compute then. Quotients cannot be added up. */
static int run_add_folded(struct diff *d, const struct session *s, struct diff_run *run)
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

static int run_add(struct diff *d, const struct session *s, struct diff_run *run, bool folded)
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

int diff_run_take(struct diff *d, const struct session *s, struct diff_run *run)
{
	return run_add(d, s, run, false);
}
