/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/host.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"

/* ---- what was measured ---- */

static const double *column(struct snapshot *snap, uint32_t metric)
{
	const struct snap_column *c = snapshot_column(snap, metric, false);

	return c ? c->v : NULL;
}

const double *host_elapsed(struct snapshot *snap)
{
	return column(snap, METRIC_CPU_TIME);
}

const double *host_entered(struct snapshot *snap)
{
	return column(snap, METRIC_CPU_COUNT);
}

bool host_has_all_times(const struct session *s)
{
	if (!s->ended || session_loss(s, LOSS_VANISHED) || session_loss(s, LOSS_LEFT_OPEN) ||
	    session_loss(s, LOSS_UNFINISHED))
		return false;
	for (size_t i = 0; i < s->n_processes; i++)
		if (s->processes[i].end == PROCESS_RUNS &&
		    session_process_collected(&s->processes[i]))
			return false;
	return true;
}

bool host_has_wait(const struct session *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (session_node_kind(s, i) == FRAME_SYNC)
			return true;
	return false;
}

/* ---- rows ---- */

/* A walk through the tree, children first, that knows which frames are around a node. */
struct host_walk {
	const struct snapshot *snap;
	const struct numbers *kept;
	const double *elapsed;  /* by node */
	const uint32_t *frames; /* by node */
	uint32_t *open;         /* by frame: contexts around */
};

static bool counts(const struct host_walk *w, uint32_t id)
{
	return !isnan(w->elapsed[id]) && numbers_counts(w->kept, id);
}

static uint32_t next_node(const struct host_walk *w, uint32_t id)
{
	const struct snap_node *node = snapshot_node(w->snap, id);

	if (node->first_child != SNAP_NONE)
		return node->first_child;
	for (; id != SNAP_NONE; id = node->parent) {
		node = snapshot_node(w->snap, id);
		w->open[w->frames[id]] -= counts(w, id);
		if (node->next_sibling != SNAP_NONE)
			return node->next_sibling;
	}
	return SNAP_NONE;
}

static int make_room(struct host *h)
{
	if (ARRAY_ROOM(h->rows, h->cap, h->n + 1u) < 0 ||
	    ARRAY_ROOM(h->open, h->cap_open, h->n + 1u) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->n; i++) {
		h->rows[i] = (struct host_row){.node = SNAP_NONE, .count = NAN, .on_cpu = NAN};
		h->open[i] = 0;
	}
	return 0;
}

static int add_up(struct host *h, struct numbers *kept, struct numbers *all)
{
	struct snapshot *snap = numbers_snapshot(kept);
	const double *own = derive_used(numbers_derive(all), METRIC_CPU_TIME, false);
	const double *on_cpu = derive_used(numbers_derive(kept), METRIC_ON_CPU, false);
	const double *count = host_entered(snap);
	const double *left = derive_used(numbers_derive(kept), METRIC_CPU_TIME, true);
	struct host_walk w = {snap, kept, host_elapsed(snap), numbers_functions(kept, &h->n), NULL};

	if (!w.elapsed || !w.frames || !own || !left || make_room(h) < 0)
		return -ENOMEM;
	w.open = h->open;
	for (uint32_t id = 0; id != SNAP_NONE; id = next_node(&w, id)) {
		struct host_row *row = &h->rows[w.frames[id]];
		bool is_outer;

		if (!counts(&w, id))
			continue;
		is_outer = w.open[w.frames[id]]++ == 0;
		row->node = id;
		row->own += own[id];
		row->left += is_outer ? left[id] : 0;
		/* More has come of what is within, where it is still open. */
		row->whole += is_outer ? fmax(w.elapsed[id], left[id]) : 0;
		if (count && !isnan(count[id]))
			row->count = count[id] + (isnan(row->count) ? 0 : row->count);
		if (on_cpu)
			add_present(&row->on_cpu, on_cpu[id]);
	}
	return 0;
}

int host_update(struct host *h, struct numbers *kept, struct numbers *all)
{
	int r = 0;

	h->n = 0;
	if (snapshot_has(numbers_snapshot(kept), METRIC_CPU_TIME))
		r = add_up(h, kept, all);
	if (r < 0)
		h->n = 0;
	return r;
}

void host_done(struct host *h)
{
	free(h->rows);
	free(h->open);
	*h = (struct host){0};
}
