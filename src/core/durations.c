/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/durations.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/samples.h"

static void add_row(struct durations *d, const struct row_times *t)
{
	if (t->count > 0)
		d->n_calls += t->count;
	if (t->min > 0)
		d->min_ns = d->min_ns ? MIN(d->min_ns, (uint64_t)t->min) : (uint64_t)t->min;
	if (t->max > 0)
		d->max_ns = MAX(d->max_ns, (uint64_t)t->max);
	if (row_is_single(t))
		hist_sums_count(&d->sums, hist_bin((uint64_t)t->time), 1);
}

/* A byte a node: is it asked for, or below one that is? NULL: out of memory. */
static uint8_t *mark(struct snapshot *snap, struct numbers *numbers, uint32_t node, bool by_name)
{
	uint32_t n = snapshot_n(snap), n_frames;
	const uint32_t *frames = numbers_functions(numbers, &n_frames);
	uint8_t *marked = frames ? calloc(MAX(n, 1u), 1) : NULL;

	for (uint32_t id = 0; marked && id < n; id++) {
		uint32_t parent = snapshot_node(snap, id)->parent;

		marked[id] = id == node || (by_name && frames[id] == frames[node]) ||
			     (parent != SNAP_NONE && marked[parent]);
	}
	for (uint32_t id = 0; marked && id < n; id++)
		marked[id] &= numbers_counts(numbers, id);
	return marked;
}

static void add_hist(struct durations *d, const struct snapshot *snap,
		     const struct session_hist *hist, const uint8_t *marked)
{
	uint32_t iter = 0, node;
	bool any = false, others = false;

	while ((node = hist_next_node(snap, hist, &iter)) != SNAP_NONE) {
		any |= marked[node];
		others |= !marked[node];
	}
	if (!any)
		return;
	d->is_shared |= others;
	hist_sums_add(&d->sums, &hist->hist);
}

int durations_make(struct durations *d, struct snapshot *snap, struct numbers *numbers,
		   uint32_t node, bool by_name)
{
	_cleanup_(freep) uint8_t *marked = mark(snap, numbers, node, by_name);
	const struct session *s = snapshot_session(snap);

	memset(d, 0, sizeof(*d));
	if (!marked)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_hists; i++)
		add_hist(d, snap, &s->hists[i], marked);
	for (size_t i = 0; i < s->n_rows; i++) {
		uint32_t at = snapshot_row_node(snap, i);
		struct row_times t;

		tick_at(snapshot_tick(snap), i, s->n_rows);
		if (at == SNAP_NONE || !marked[at])
			continue;
		t = row_times(s, &s->rows[i]);
		add_row(d, &t);
	}
	d->n_all = hist_sums_total(&d->sums);
	return 0;
}
