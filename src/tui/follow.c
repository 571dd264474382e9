/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/follow.h"
#include "tui/tui_impl.h"

#define CHAIN_MAX 64 /* callers that may stand in for what they call */

/* A calling context and its callers but the root, from below. */
struct chain {
	uint32_t node[CHAIN_MAX], function[CHAIN_MAX];
	unsigned n;
};

static void chain_make(struct chain *c, struct tui *t, const uint32_t *functions, uint32_t node)
{
	for (c->n = 0; node != 0 && node != SNAP_NONE && c->n < CHAIN_MAX; c->n++) {
		c->node[c->n] = node;
		c->function[c->n] = functions[node];
		node = snapshot_node(t->snap, node)->parent;
	}
}

/* How well a row fits: the nearest link of the chain, and of these its own context before another
 * one of its function. The lowest is best. */
static unsigned distance(const struct chain *c, uint32_t node, uint32_t function, unsigned limit)
{
	for (unsigned i = 0; i < c->n && 2 * i < limit; i++)
		if (c->node[i] == node || c->function[i] == function)
			return 2 * i + (c->node[i] != node);
	return limit;
}

/* The best row of a list; SIZE_MAX: none has anything to do with it. */
static size_t best_row(struct panel *p, const struct chain *c, const uint32_t *functions)
{
	unsigned best = 2 * CHAIN_MAX, at;
	size_t found = SIZE_MAX;

	for (size_t row = 0; row < p->n_rows && best > 0; row++) {
		uint32_t node = p->ops->row_node(p, row);

		if (node == SNAP_NONE || node >= snapshot_n(p->tui->snap) ||
		    (p->ops->is_heading && p->ops->is_heading(p, row)))
			continue;
		at = distance(c, node, functions[node], best);
		if (at < best) {
			best = at;
			found = row;
		}
	}
	return found;
}

/* Panels that know better where a context is do it themselves. */
static bool go_by_itself(struct panel *p, const struct chain *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (p->ops->go_to(p, c->node[i]))
			return true;
	return false;
}

/* The list begins at its top, where the row is seen then. */
static bool go_to_row(struct panel *p, size_t row)
{
	if (row >= p->n_rows)
		return false;
	if (row != p->cursor || !p->is_placed)
		p->top = 0;
	panel_goto(p, row);
	panel_moved(p);
	return true;
}

static bool go_to(struct panel *p, uint32_t node)
{
	struct tui *t = p->tui;
	const uint32_t *functions;
	struct chain chain;
	uint32_t n;

	panel_refresh(p);
	if (node == 0 || p->n_rows == 0 || p->no_cursor || !p->ops->row_node)
		return false;
	functions = numbers_functions(tui_all(t), &n);
	if (!functions)
		return false;
	chain_make(&chain, t, functions, node);
	return p->ops->go_to ? go_by_itself(p, &chain)
			     : go_to_row(p, best_row(p, &chain, functions));
}

void follow_leave(struct tui *t)
{
	struct panel *p = t->panels[t->current];
	uint32_t node = panel_node(p);

	t->here = node;
	if (node == SNAP_NONE || (p->has_carried && !p->is_touched))
		t->here = t->carried;
	else if (p->is_touched || t->carried == SNAP_NONE)
		t->carried = node;
	p->has_carried = false;
}

void follow_show(struct tui *t)
{
	struct panel *p = t->panels[t->current];

	p->is_touched = p->has_carried = false;
	if (t->carried != SNAP_NONE && t->carried >= snapshot_n(t->snap))
		t->carried = SNAP_NONE;
	if (t->here != SNAP_NONE && t->here >= snapshot_n(t->snap))
		t->here = SNAP_NONE;
	if (p->ops->show) {
		p->ops->show(p, t->here);
		p->is_touched = true; /* from now on it is what the panel is about */
		return;
	}
	if (t->carried == SNAP_NONE || !go_to(p, t->carried))
		return;
	p->has_carried = true;
	p->carried_key = p->cursor_key;
}
