/* SPDX-License-Identifier: MIT */
/* Kernels and transfers, summed over the contexts that they have in the view. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/order.h"
#include "base/util.h"
#include "core/snapshot_impl.h"

static void add_number(double *a, double b)
{
	if (!isnan(b))
		*a = isnan(*a) ? b : *a + b;
}

/* Of a node that is no group. */
static uint32_t frame_of(const struct snapshot *snap, uint32_t id)
{
	return snap->s->nodes[snap->nodes[id].session_node].frame;
}

static double at(const struct snap_column *c, uint32_t id)
{
	return c ? c->v[id] : NAN;
}

static const uint32_t flops_metrics[] = {METRIC_FLOPS, METRIC_FLOPS8, METRIC_FLOPS16,
					 METRIC_FLOPS32, METRIC_FLOPS64};

const struct snap_column *snapshot_flops(struct snapshot *snap)
{
	const struct snap_column *c;
	size_t i, j;

	if (snap->flops_fresh)
		return &snap->flops_out;
	if (array_reserve((void **)&snap->flops, &snap->cap_flops, snap->n, sizeof(double)) < 0)
		return NULL;
	for (j = 0; j < snap->n; j++)
		snap->flops[j] = NAN;
	for (i = 0; i < ARRAY_SIZE(flops_metrics); i++) {
		if (!metric_used(snap, flops_metrics[i]))
			continue;
		c = snapshot_column(snap, flops_metrics[i], true);
		for (j = 0; c && j < snap->n; j++)
			add_number(&snap->flops[j], c->v[j]);
	}
	snap->flops_out.v = snap->flops;
	snap->flops_fresh = true;
	return &snap->flops_out;
}

/* Does this node stand for work on the device? Files may not say: then leaves with time do. */
static bool is_flat(const struct snapshot *snap, uint32_t id, double time_ns)
{
	const struct snap_node *n = &snap->nodes[id];

	if (n->hidden)
		return false;
	if (n->kind == FRAME_KERNEL || n->kind == FRAME_COPY || n->kind == FRAME_SET)
		return true;
	return n->kind == FRAME_FUNCTION && n->first_child == SNAP_NONE && !isnan(time_ns);
}

static struct snap_flat *flat_entry(struct snapshot *snap, uint32_t *by_frame, uint32_t id)
{
	uint32_t frame = frame_of(snap, id);

	if (by_frame[frame])
		return &snap->flat[by_frame[frame] - 1];
	if (array_reserve((void **)&snap->flat, &snap->cap_flat, snap->n_flat + 1,
			  sizeof(*snap->flat)) < 0)
		return NULL;
	by_frame[frame] = (uint32_t)++snap->n_flat;
	snap->flat[snap->n_flat - 1] = (struct snap_flat){
		frame, id, snap->nodes[id].kind, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	return &snap->flat[snap->n_flat - 1];
}

/* By time; equal ones as they came. */
static int flat_sort(struct snapshot *snap)
{
	size_t n = snap->n_flat, cap = 0;
	_cleanup_(freep) struct order_entry *order = malloc((n + 1) * sizeof(*order));
	struct snap_flat *sorted = NULL;

	if (!order || array_reserve((void **)&sorted, &cap, n + 1, sizeof(*sorted)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct order_entry){snap->flat[i].time_ns, i, 0};
	order_sort(order, n, false);
	for (size_t i = 0; i < n; i++)
		sorted[i] = snap->flat[order[i].id];
	free(snap->flat);
	snap->flat = sorted;
	snap->cap_flat = cap;
	return 0;
}

/* What the flat table is made of. */
struct flat_columns {
	const struct snap_column *time, *count, *bytes, *min, *max, *rate;
	const struct snap_column *flops[ARRAY_SIZE(flops_metrics)];
	size_t n_flops;
};

/* NULL: no node has any. */
static const struct snap_column *used_column(struct snapshot *snap, uint32_t metric)
{
	return metric_used(snap, metric) ? snapshot_column(snap, metric, false) : NULL;
}

static void flat_columns(struct snapshot *snap, struct flat_columns *c)
{
	*c = (struct flat_columns){
		.time = snapshot_column(snap, METRIC_TIME, false),
		.count = used_column(snap, METRIC_COUNT),
		.bytes = used_column(snap, METRIC_BYTES),
		.min = used_column(snap, METRIC_TIME_MIN),
		.max = used_column(snap, METRIC_TIME_MAX),
		.rate = snapshot_rate(snap, METRIC_TIME),
	};
	if (!snap->window_ns)
		c->rate = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(flops_metrics); i++)
		if (metric_used(snap, flops_metrics[i]))
			c->flops[c->n_flops++] = snapshot_column(snap, flops_metrics[i], false);
}

/* Fold one node's own values into its entry; `heaviest` is the best single context so far. */
static void flat_fold(const struct flat_columns *c, struct snap_flat *e, uint32_t id,
		      double *heaviest)
{
	double time = at(c->time, id);
	size_t i;

	add_number(&e->time_ns, time);
	add_number(&e->count, at(c->count, id));
	add_number(&e->bytes, at(c->bytes, id));
	for (i = 0; i < c->n_flops; i++)
		add_number(&e->flops, at(c->flops[i], id));
	add_number(&e->time_rate, at(c->rate, id));
	e->min_ns = fmin(e->min_ns, at(c->min, id));
	e->max_ns = fmax(e->max_ns, at(c->max, id));
	if (!isnan(time) && !(time <= *heaviest)) {
		*heaviest = time;
		e->node = id;
	}
}

static int flat_make(struct snapshot *snap)
{
	_cleanup_(freep) uint32_t *by_frame = calloc(snap->s->n_frames + 1, sizeof(*by_frame));
	_cleanup_(freep) double *heaviest = calloc(snap->s->n_frames + 1, sizeof(*heaviest));
	struct flat_columns columns;

	flat_columns(snap, &columns);
	if (!columns.time || !by_frame || !heaviest)
		return -ENOMEM;
	for (uint32_t id = 0; id < snap->n; id++) {
		struct snap_flat *e;

		tick_at(snap->tick, id, snap->n);
		if (!is_flat(snap, id, columns.time->v[id]))
			continue;
		e = flat_entry(snap, by_frame, id);
		if (e)
			flat_fold(&columns, e, id, &heaviest[frame_of(snap, id)]);
	}
	return flat_sort(snap);
}

const struct snap_flat *snapshot_flat(struct snapshot *snap, size_t *ret_n)
{
	*ret_n = 0;
	if (snap->flat_generation != snap->generation) {
		snap->n_flat = 0;
		snap->flat_generation = 0;
		if (flat_make(snap) < 0)
			return NULL;
		snap->flat_generation = snap->generation;
	}
	*ret_n = snap->n_flat;
	return snap->flat;
}

/* The entry of this name, made when absent. */
static struct snap_transfer *transfer_entry(struct snapshot *snap, const struct snap_flat *f)
{
	struct snap_transfer *t;

	if (array_reserve((void **)&snap->transfers, &snap->cap_transfers, snap->n_transfers + 1,
			  sizeof(*snap->transfers)) < 0)
		return NULL;
	t = &snap->transfers[snap->n_transfers++];
	*t = (struct snap_transfer){snapshot_name(snap, f->node, NAME_SHORT),
				    f->kind,
				    f->count,
				    f->bytes,
				    f->time_ns,
				    NAN,
				    NAN};
	return t;
}

const struct snap_transfer *snapshot_transfers(struct snapshot *snap, size_t *ret_n)
{
	_cleanup_(freep) uint32_t *by_frame = calloc(snap->s->n_frames + 1, sizeof(*by_frame));
	const struct snap_column *async = snapshot_column(snap, METRIC_ASYNC, false);
	const struct snap_column *rate = snapshot_rate(snap, METRIC_BYTES);
	const struct snap_flat *flat;
	struct snap_transfer *t;
	size_t n, i;
	uint32_t id;

	snap->n_transfers = 0;
	flat = snapshot_flat(snap, &n);
	for (i = 0; by_frame && i < n; i++)
		if ((flat[i].kind == FRAME_COPY || flat[i].kind == FRAME_SET) &&
		    transfer_entry(snap, &flat[i]))
			by_frame[flat[i].frame] = (uint32_t)snap->n_transfers;
	for (id = 0; by_frame && snap->n_transfers && id < snap->n; id++) {
		if ((snap->nodes[id].kind != FRAME_COPY && snap->nodes[id].kind != FRAME_SET) ||
		    !by_frame[frame_of(snap, id)])
			continue;
		t = &snap->transfers[by_frame[frame_of(snap, id)] - 1];
		add_number(&t->async, at(async, id));
		add_number(&t->bytes_rate, at(rate, id));
	}
	*ret_n = snap->n_transfers;
	return snap->transfers;
}

void tables_done(struct snapshot *snap)
{
	free(snap->flat);
	free(snap->transfers);
}
