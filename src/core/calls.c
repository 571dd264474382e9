/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/calls.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

bool calls_are_known(const struct session *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (session_node_kind(s, i) == FRAME_CALL)
			return true;
	return false;
}

static double at(struct snapshot *snap, uint32_t metric, uint32_t node)
{
	const struct snap_column *c = snapshot_column(snap, metric, false);

	return c ? c->v[node] : NAN;
}

bool calls_at(struct numbers *numbers, uint32_t node, struct call_row *ret)
{
	struct snapshot *snap = numbers_snapshot(numbers);
	double time_ns = at(snap, METRIC_API_TIME, node);

	if (isnan(time_ns) || !numbers_counts(numbers, node))
		return false;
	*ret = (struct call_row){.node = node,
				 .longest_ns = time_ns,
				 .time_ns = time_ns,
				 .calls = at(snap, METRIC_API_CALLS, node),
				 .min_ns = at(snap, METRIC_API_MIN, node),
				 .max_ns = at(snap, METRIC_API_MAX, node)};
	return true;
}

static void add(struct call_row *to, const struct call_row *more)
{
	if (more->time_ns > to->longest_ns) {
		to->node = more->node;
		to->longest_ns = more->time_ns;
	}
	add_present(&to->time_ns, more->time_ns);
	add_present(&to->calls, more->calls);
	to->min_ns = fmin(to->min_ns, more->min_ns);
	to->max_ns = fmax(to->max_ns, more->max_ns);
}

static int add_node(struct calls *c, const struct snapshot *snap, const struct call_row *row)
{
	const struct session_node *of = snapshot_session(snap)->nodes;
	uint32_t frame = of[snapshot_node(snap, row->node)->session_node].frame;

	if (c->row_of[frame]) {
		add(&c->rows[c->row_of[frame] - 1], row);
		return 0;
	}
	if (ARRAY_ROOM(c->rows, c->cap, c->n + 1) < 0)
		return -ENOMEM;
	c->rows[c->n++] = *row;
	c->row_of[frame] = (uint32_t)c->n;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct call_row *p = a, *q = b;

	return (p->time_ns < q->time_ns) - (p->time_ns > q->time_ns);
}

int calls_update(struct calls *c, struct numbers *numbers)
{
	struct snapshot *snap = numbers_snapshot(numbers);
	size_t n_frames = snapshot_session(snap)->n_frames;
	struct call_row row;
	int r = 0;

	c->n = 0;
	if (!snapshot_has(snap, METRIC_API_TIME))
		return 0;
	if (ARRAY_ROOM(c->row_of, c->cap_row_of, n_frames + 1) < 0)
		return -ENOMEM;
	memset(c->row_of, 0, n_frames * sizeof(*c->row_of));
	for (uint32_t i = 0; i < snapshot_n(snap) && r == 0; i++)
		if (calls_at(numbers, i, &row))
			r = add_node(c, snap, &row);
	if (r < 0)
		c->n = 0;
	if (c->n)
		qsort(c->rows, c->n, sizeof(*c->rows), by_time);
	return r;
}

void calls_done(struct calls *c)
{
	free(c->rows);
	free(c->row_of);
	*c = (struct calls){0};
}
