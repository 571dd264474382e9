/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/numbers.h"
#include <math.h>
#include <string.h>
#include "base/util.h"

/* A column once it was asked for. */
struct number_column {
	const double *v; /* NULL: absent everywhere */
	double *made;    /* where it is not the snapshot's own */
	size_t cap;
	bool fresh;
	bool seen; /* some node has a value */
};

struct numbers {
	struct snapshot *snap;
	struct numbers *before; /* or NULL */
	struct derive *derive;
	const uint8_t *kept;
	unsigned n;
	uint64_t generation;
	uint32_t metrics[NUMBER_N];
	struct number_column columns[NUMBER_N][2]; /* exclusive, inclusive */
	const double *held[NUMBER_N];              /* exclusive columns that are there */
	unsigned n_held;
	bool held_fresh;
	struct hists *hists; /* NULL: not asked for yet */
	bool hists_fresh;
	uint32_t *frames; /* by node */
	size_t cap_frames;
	uint32_t n_frames; /* 0: to be made */
};

static const uint32_t builtin[NUMBER_EXTRA] = {
	[NUMBER_TIME] = METRIC_TIME,    [NUMBER_RATE] = METRIC_NONE,
	[NUMBER_COUNT] = METRIC_COUNT,  [NUMBER_MIN] = METRIC_TIME_MIN,
	[NUMBER_MAX] = METRIC_TIME_MAX, [NUMBER_P50] = METRIC_NONE,
	[NUMBER_P90] = METRIC_NONE,     [NUMBER_P99] = METRIC_NONE,
	[NUMBER_BYTES] = METRIC_BYTES,  [NUMBER_FLOPS] = METRIC_NONE,
	[NUMBER_CPU] = METRIC_CPU_TIME,
};

static const uint32_t flops_metrics[] = {METRIC_FLOPS, METRIC_FLOPS8, METRIC_FLOPS16,
					 METRIC_FLOPS32, METRIC_FLOPS64};

/* ---- life ---- */

struct numbers *numbers_new(struct snapshot *snap, const struct peaks *peaks)
{
	struct numbers *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->snap = snap;
	n->derive = derive_new(snap, peaks);
	if (!n->derive)
		return numbers_free(n);
	numbers_update(n, NULL);
	return n;
}

struct numbers *numbers_free(struct numbers *n)
{
	if (!n)
		return NULL;
	for (unsigned i = 0; i < NUMBER_N; i++) {
		free(n->columns[i][0].made);
		free(n->columns[i][1].made);
	}
	numbers_free(n->before);
	derive_free(n->derive);
	hists_free(n->hists);
	free(n->frames);
	free(n);
	return NULL;
}

/* The profile's own metrics that can be added up. */
static void find_extra(struct numbers *n)
{
	const struct metric_table *table = snapshot_session(n->snap)->metrics;

	memcpy(n->metrics, builtin, sizeof(builtin));
	n->n = NUMBER_EXTRA;
	for (uint32_t i = METRIC_N_BUILTIN; i < metric_table_count(table) && n->n < NUMBER_N; i++) {
		const struct metric *m = metric_table_get(table, i);

		if (m->type != METRIC_TEXT && m->scope != METRIC_PROPERTY)
			n->metrics[n->n++] = i;
	}
}

void numbers_update(struct numbers *n, const uint8_t *kept)
{
	n->kept = kept;
	derive_masks(n->derive, NULL, kept, TOTALS_OF_SHOWN);
	find_extra(n);
	n->n_frames = 0;
	n->held_fresh = n->hists_fresh = false;
	n->generation++;
	if (n->before)
		numbers_update(n->before, kept);
	for (unsigned i = 0; i < NUMBER_N; i++)
		n->columns[i][0].fresh = n->columns[i][1].fresh = false;
}

void numbers_compare(struct numbers *n, struct numbers *before)
{
	numbers_free(n->before);
	n->before = before;
}

struct numbers *numbers_before(const struct numbers *n)
{
	return n->before;
}

uint64_t numbers_generation(const struct numbers *n)
{
	return n->generation;
}

unsigned numbers_n(const struct numbers *n)
{
	return n->n;
}

uint32_t numbers_metric(const struct numbers *n, unsigned which)
{
	return which < n->n ? n->metrics[which] : METRIC_NONE;
}

/* ---- columns ---- */

/* Room for a value a node, all absent; NULL: out of memory. */
static double *make_room(struct numbers *n, struct number_column *c)
{
	uint32_t nodes = snapshot_n(n->snap);

	if (array_reserve((void **)&c->made, &c->cap, MAX(nodes, 1u), sizeof(*c->made)) < 0)
		return NULL;
	for (uint32_t i = 0; i < nodes; i++)
		c->made[i] = NAN;
	return c->made;
}

static const double *make_flops(struct numbers *n, struct number_column *c, bool inclusive)
{
	double *v = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(flops_metrics); i++) {
		const double *one = snapshot_has(n->snap, flops_metrics[i])
					    ? derive_raw(n->derive, flops_metrics[i], inclusive)
					    : NULL;

		if (!one || (!v && !(v = make_room(n, c))))
			continue;
		for (uint32_t id = 0; id < snapshot_n(n->snap); id++)
			if (!isnan(one[id]))
				v[id] = isnan(v[id]) ? one[id] : v[id] + one[id];
	}
	return v;
}

/* The snapshot has inclusive rates of all nodes: own ones are what the children leave of them. */
static const double *make_rate(struct numbers *n, struct number_column *c, bool inclusive)
{
	const struct snap_column *rate = snapshot_rate(n->snap, METRIC_TIME);
	const double *own = numbers_column(n, NUMBER_TIME, false);
	uint32_t nodes = snapshot_n(n->snap);
	double *v;

	if (!rate || !own || !(v = make_room(n, c)))
		return NULL;
	for (uint32_t id = 0; id < nodes; id++)
		v[id] = rate->v[id];
	for (uint32_t id = 1; id < nodes; id++)
		if (!isnan(rate->v[id]))
			v[snapshot_node(n->snap, id)->parent] -= rate->v[id];
	for (uint32_t id = 0; id < nodes; id++)
		if (isnan(own[id]))
			v[id] = NAN;
	for (uint32_t id = nodes; inclusive && id-- > 1;) {
		double *up = &v[snapshot_node(n->snap, id)->parent];

		if (!isnan(v[id]))
			*up = isnan(*up) ? v[id] : *up + v[id];
	}
	return v;
}

const double *numbers_column(struct numbers *n, unsigned which, bool inclusive)
{
	struct number_column *c = &n->columns[which][inclusive];

	if (which >= n->n)
		return NULL;
	if (c->fresh)
		return c->v;
	if (which == NUMBER_FLOPS)
		c->v = make_flops(n, c, inclusive);
	else if (which == NUMBER_RATE)
		c->v = make_rate(n, c, inclusive);
	else if (snapshot_has(n->snap, n->metrics[which]))
		c->v = derive_raw(n->derive, n->metrics[which], inclusive);
	else
		c->v = NULL;
	c->fresh = true;
	c->seen = false;
	for (uint32_t id = 0; c->v && !c->seen && id < snapshot_n(n->snap); id++)
		c->seen = !isnan(c->v[id]);
	return c->v;
}

bool numbers_is_absent(struct numbers *n, unsigned which)
{
	return !numbers_column(n, which, false) || !n->columns[which][0].seen;
}

struct snapshot *numbers_snapshot(const struct numbers *n)
{
	return n->snap;
}

struct derive *numbers_derive(struct numbers *n)
{
	return n->derive;
}

struct hists *numbers_hists(struct numbers *n)
{
	if (!n->hists)
		n->hists = hists_new(n->snap);
	if (n->hists && !n->hists_fresh)
		n->hists_fresh = hists_update(n->hists, n->kept) == 0;
	return n->hists_fresh ? n->hists : NULL;
}

/* ---- nodes ---- */

bool numbers_counts(const struct numbers *n, uint32_t node)
{
	return !snapshot_node(n->snap, node)->hidden && (!n->kept || n->kept[node]);
}

static void find_held(struct numbers *n)
{
	n->n_held = 0;
	for (unsigned i = 0; i < n->n; i++) {
		const double *v = i == NUMBER_RATE ? NULL : numbers_column(n, i, false);

		if (v)
			n->held[n->n_held++] = v;
	}
	n->held_fresh = true;
}

/* Columns are there where a node has a row, of whichever side. */
static bool holds(const struct numbers *n, uint32_t node)
{
	for (unsigned i = 0; i < n->n_held; i++)
		if (!isnan(n->held[i][node]))
			return true;
	return n->before && holds(n->before, node);
}

static void make_held(struct numbers *n)
{
	if (!n->held_fresh)
		find_held(n);
	if (n->before)
		make_held(n->before);
}

bool numbers_is_holder(struct numbers *n, uint32_t node)
{
	make_held(n);
	return holds(n, node);
}

uint32_t numbers_holders(struct numbers *n, uint32_t *out)
{
	uint32_t nodes = snapshot_n(n->snap), found = 0;

	make_held(n);
	for (uint32_t id = 0; id < nodes; id++) {
		tick_at(snapshot_tick(n->snap), id, nodes);
		if (holds(n, id))
			out[found++] = id;
	}
	return found;
}

/* Without grouping nodes are the session's, id for id. One that grouping made has a number of its
 * own behind those of the session. */
static void find_frames(struct numbers *n)
{
	const struct session *s = snapshot_session(n->snap);
	const struct snap_node *nodes = snapshot_nodes(n->snap);
	uint32_t n_nodes = snapshot_n(n->snap);

	n->n_frames = (uint32_t)s->n_frames;
	if (snapshot_group(n->snap) == GROUP_NONE) {
		for (uint32_t id = 0; id < n_nodes; id++)
			n->frames[id] = s->nodes[id].frame;
		return;
	}
	for (uint32_t id = 0; id < n_nodes; id++) {
		uint32_t node = nodes[id].session_node;

		n->frames[id] = node == SESSION_NONE ? n->n_frames++ : s->nodes[node].frame;
	}
}

const uint32_t *numbers_frames(struct numbers *n, uint32_t *ret_n)
{
	if (!n->n_frames) {
		if (array_reserve((void **)&n->frames, &n->cap_frames, MAX(snapshot_n(n->snap), 1u),
				  sizeof(*n->frames)) < 0)
			return NULL;
		find_frames(n);
	}
	*ret_n = n->n_frames;
	return n->frames;
}
