/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/finder.h"
#include <stddef.h>

static bool is_candidate(const struct finder *f, uint32_t node)
{
	return f->matches(f->ctx, node) || f->matches_below(f->ctx, node);
}

/* The candidate among the children of a node that comes next behind (or before) `from`;
 * FINDER_NONE: the first (or last) of all. */
static uint32_t nearest(const struct finder *f, uint32_t node, uint32_t from, bool forward)
{
	uint32_t best = FINDER_NONE, child = FINDER_NONE;

	while ((child = f->next_child(f->ctx, node, child)) != FINDER_NONE) {
		if (child == from ||
		    (from != FINDER_NONE && f->precedes(f->ctx, from, child) != forward))
			continue;
		if (best != FINDER_NONE && f->precedes(f->ctx, best, child) == forward)
			continue;
		if (is_candidate(f, child))
			best = child;
	}
	return best;
}

static uint32_t first_below(const struct finder *f, uint32_t node)
{
	return f->matches_below(f->ctx, node) ? nearest(f, node, FINDER_NONE, true) : FINDER_NONE;
}

/* The candidate behind a node, those below it first. */
static uint32_t step_forward(const struct finder *f, uint32_t node)
{
	uint32_t next = first_below(f, node);

	for (; next == FINDER_NONE && node != f->root; node = f->parent(f->ctx, node))
		next = nearest(f, f->parent(f->ctx, node), node, true);
	return next;
}

/* The last candidate at or below a node. */
static uint32_t last_of(const struct finder *f, uint32_t node)
{
	uint32_t child;

	while (f->matches_below(f->ctx, node) &&
	       (child = nearest(f, node, FINDER_NONE, false)) != FINDER_NONE)
		node = child;
	return node;
}

static uint32_t step_back(const struct finder *f, uint32_t node)
{
	uint32_t parent, before;

	if (node == f->root)
		return FINDER_NONE;
	parent = f->parent(f->ctx, node);
	before = nearest(f, parent, node, false);
	if (before != FINDER_NONE)
		return last_of(f, before);
	return parent == f->root ? FINDER_NONE : parent;
}

/* From `node` on until one matches by itself. */
static uint32_t walk(const struct finder *f, uint32_t node, bool forward)
{
	do
		node = forward ? step_forward(f, node) : step_back(f, node);
	while (node != FINDER_NONE && !f->matches(f->ctx, node));
	return node;
}

uint32_t finder_next(const struct finder *f, uint32_t from, bool forward, bool *ret_wrapped)
{
	uint32_t found = walk(f, from, forward), last;

	*ret_wrapped = false;
	if (found != FINDER_NONE)
		return found;
	*ret_wrapped = true;
	if (forward)
		return walk(f, f->root, true);
	last = last_of(f, f->root);
	if (last == f->root)
		return FINDER_NONE;
	return f->matches(f->ctx, last) ? last : walk(f, last, false);
}
