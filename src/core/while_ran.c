/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/while_ran.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

struct maker {
	struct while_ran_list *list;
	const struct strips *t;
	const struct snapshot *snap;
	uint32_t *
		rows; /* by node of the snapshot, then of no kernel: place in the list; SESSION_NONE: none yet */
	uint32_t *last; /* by row: the last operation that counted; from 1 on */
	size_t cap_last;
	uint32_t n_operations;
};

static bool is_kernel(const struct session *s, uint32_t node)
{
	enum frame_kind kind = session_node_kind(s, node);

	return kind == FRAME_KERNEL || kind == FRAME_GRAPH_RUN;
}

/* The row of a node; SESSION_NONE: no memory. */
static uint32_t row_of(struct maker *m, uint32_t node)
{
	uint32_t *row = &m->rows[node == SNAP_NONE ? snapshot_n(m->snap) : node];

	if (*row != SESSION_NONE)
		return *row;
	if (ARRAY_ROOM(m->list->v, m->list->cap, m->list->n + 1) < 0 ||
	    ARRAY_ROOM(m->last, m->cap_last, m->list->n + 1) < 0)
		return SESSION_NONE;
	m->list->v[m->list->n] = (struct while_ran){.node = node};
	m->last[m->list->n] = 0;
	*row = (uint32_t)m->list->n++;
	return *row;
}

/* Once, however many executions of it ran. */
static int count(struct maker *m, uint32_t node, uint8_t lane, uint32_t amount)
{
	uint32_t row = row_of(m, node);

	if (row == SESSION_NONE)
		return -ENOMEM;
	if (m->last[row] == m->n_operations)
		return 0;
	m->last[row] = m->n_operations;
	m->list->v[row].amount[lane] += amount;
	m->list->v[row].n_moves += lane <= PAGES_TO_PEER;
	return 0;
}

/* What ran on a strip at a moment; NULL: nothing. What ends then does no longer. */
static const struct session_interval *running(const struct strips *t, const struct strip *strip,
					      uint64_t ns)
{
	size_t n = strip_begun(t, strip, ns);

	return n && strip_end_ns(t, strip, n - 1) > ns ? strip_interval(t, strip, n - 1) : NULL;
}

/* One operation, against all streams of the device, which are lanes [from, to). */
static int count_all(struct maker *m, uint32_t from, uint32_t to, const struct strip *pages,
		     size_t i)
{
	const struct strips *t = m->t;
	uint64_t ns = strip_start_ns(t, pages, i);
	uint32_t amount = strip_interval(t, pages, i)->amount;
	uint8_t lane = t->lanes[pages->lane].pages;
	bool any = false;
	int r = 0;

	m->n_operations++;
	for (uint32_t k = from; r == 0 && k < to; k++)
		for (uint32_t line = 0; r == 0 && line < t->lanes[k].n_strips; line++) {
			const struct session_interval *v =
				running(t, &t->strips[t->lanes[k].first_strip + line], ns);

			if (!v || !is_kernel(t->s, v->node))
				continue;
			any = true;
			r = count(m, interval_node(m->snap, v), lane, amount);
		}
	return any ? r : count(m, SNAP_NONE, lane, amount);
}

/* All lanes of a device stand together, those of its pages last. */
static int count_lane(struct maker *m, uint32_t id)
{
	const struct strips *t = m->t;
	const struct strip_lane *lane = &t->lanes[id];
	uint32_t from = strips_device_lane(t, id), to = from;
	int r = 0;

	while (!t->lanes[to].pages)
		to++;
	for (uint32_t line = 0; line < lane->n_strips; line++) {
		const struct strip *strip = &t->strips[lane->first_strip + line];

		for (size_t i = 0; r == 0 && i < strip->n; i++)
			r = count_all(m, from, to, strip, i);
	}
	return r;
}

int while_ran_make(struct while_ran_list *list, const struct strips *t, const struct snapshot *snap)
{
	size_t n = snapshot_n(snap) + (size_t)1;
	struct maker m = {.list = list, .t = t, .snap = snap, .rows = malloc(n * sizeof(*m.rows))};
	int r = m.rows ? 0 : -ENOMEM;

	*list = (struct while_ran_list){0};
	if (m.rows)
		memset(m.rows, 0xff, n * sizeof(*m.rows));
	for (uint32_t i = 0; r == 0 && i < t->n_lanes; i++)
		if (t->lanes[i].pages && !t->lanes[i].is_host)
			r = count_lane(&m, i);
	free(m.rows);
	free(m.last);
	return r;
}

void while_ran_done(struct while_ran_list *list)
{
	free(list->v);
	*list = (struct while_ran_list){0};
}
