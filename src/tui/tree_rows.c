/* SPDX-License-Identifier: MIT */
/* Which rows there are: how many each node takes, and the nodes of those that are looked at. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "tui/tree_order.h"

#define WINDOW 256 /* rows found out at a time: more than a screen has */

struct tree_visit {
	uint32_t id, depth;
	size_t at; /* its row */
};

/* ---- how many ---- */

static void window_drop(struct tree *t)
{
	t->n_window = 0;
	t->n_rows = t->n_flags == 0 ? 0 : MAX(t->sizes[t->root], 1u);
}

void tree_count(struct tree *t)
{
	const uint32_t *parents = snapshot_parents(t->snap);
	const uint8_t *hidden = snapshot_hidden(t->snap);

	for (size_t id = 0; id < t->n_flags; id++)
		t->sizes[id] = 1;
	for (uint32_t id = (uint32_t)t->n_flags; id-- > 0;) { /* children before their parents */
		uint32_t parent = parents[id];

		if (!tree_shows(t, hidden[id], id))
			t->sizes[id] = 0;
		else if (parent != SNAP_NONE && tree_is_open(t, parent))
			t->sizes[parent] += t->sizes[id];
	}
	tree_lists_count(t);
	window_drop(t);
}

void tree_reorder(struct tree *t)
{
	tree_lists_drop(t);
	if (t->limit) /* the root of a view is shown, whatever it reaches */
		tree_count(t);
	window_drop(t);
}

int tree_build(struct tree *t)
{
	tree_lists_drop(t);
	t->n_rows = 0;
	if (t->n_flags == 0)
		return 0;
	if (ARRAY_ROOM(t->sizes, t->cap_sizes, t->n_flags) < 0) {
		t->n_flags = 0; /* nothing can be looked up */
		return -ENOMEM;
	}
	if (t->root >= t->n_flags)
		t->root = 0;
	tree_count(t);
	return 0;
}

bool tree_is_branch(const struct tree *t, uint32_t id)
{
	uint32_t child = snapshot_node(t->snap, id)->first_child;

	while (child != SNAP_NONE && !tree_is_shown(t, child))
		child = snapshot_node(t->snap, child)->next_sibling;
	return child != SNAP_NONE;
}

/* Rows of its children, were it open. */
static int64_t rows_below(const struct tree *t, uint32_t id)
{
	uint32_t child = snapshot_node(t->snap, id)->first_child;
	int64_t n = 0;

	for (; child != SNAP_NONE; child = snapshot_node(t->snap, child)->next_sibling)
		n += t->sizes[child];
	return n;
}

void tree_set_open(struct tree *t, uint32_t id, bool open)
{
	int64_t rows;

	if (tree_is_open(t, id) == open)
		return;
	rows = tree_is_shown(t, id) ? rows_below(t, id) : 0;
	if (!open)
		rows = -rows;
	t->flags[id] ^= TREE_OPEN;
	t->sizes[id] = (uint32_t)(t->sizes[id] + rows);
	for (;;) {
		uint32_t parent = snapshot_node(t->snap, id)->parent;
		struct tree_list *list = parent == SNAP_NONE ? NULL : tree_kept(t, parent);

		if (list)
			tree_list_grow(t, list, id, rows);
		if (parent == SNAP_NONE || !tree_is_open(t, parent))
			break;
		id = parent;
		t->sizes[id] = (uint32_t)(t->sizes[id] + rows);
	}
	window_drop(t);
}

/* ---- which ---- */

/* The first child that ends behind a row; rows count from the list's first. */
static size_t first_behind(const struct tree_list *list, size_t row)
{
	size_t low = 0;

	BISECT(low, list->n, middle, list->v[middle].with <= row)
	return low;
}

/* Put the children of an open node that have rows in [from, to) on the stack. */
static int visit_children(struct tree *t, size_t *n_stack, struct tree_visit v, size_t from,
			  size_t to)
{
	struct tree_list list = tree_children(t, v.id);
	size_t first = v.at + 1, i;

	for (i = from > first ? first_behind(&list, from - first) : 0; i < list.n; i++) {
		size_t at = first + (i ? list.v[i - 1].with : 0);

		if (at >= to)
			break;
		if (ARRAY_ROOM(t->stack, t->cap_stack, *n_stack + 1) < 0)
			return -ENOMEM;
		t->stack[(*n_stack)++] = (struct tree_visit){list.v[i].id, v.depth + 1, at};
	}
	return 0;
}

/* Find out the rows [from, to). */
static int window_make(struct tree *t, size_t from, size_t to)
{
	size_t n_stack = 1;
	int r = 0;

	t->n_window = 0;
	if (ARRAY_ROOM(t->window, t->cap_window, to - from) < 0 ||
	    ARRAY_ROOM(t->stack, t->cap_stack, 1) < 0)
		return -ENOMEM;
	memset(t->window, 0, (to - from) * sizeof(*t->window));
	t->stack[0] = (struct tree_visit){t->root, 0, 0};
	while (n_stack > 0 && r == 0) {
		struct tree_visit v = t->stack[--n_stack];

		if (v.at >= from)
			t->window[v.at - from] = (struct tree_row){v.id, v.depth};
		if (tree_is_open(t, v.id) && v.at + t->sizes[v.id] > from)
			r = visit_children(t, &n_stack, v, from, to);
	}
	if (r < 0)
		return r;
	t->window_at = from;
	t->n_window = to - from;
	return 0;
}

struct tree_row tree_row(struct tree *t, size_t i)
{
	size_t from = i < WINDOW / 4 ? 0 : i - WINDOW / 4;

	if (i >= t->n_rows || (i - t->window_at >= t->n_window &&
			       window_make(t, from, MIN(from + WINDOW, t->n_rows)) < 0))
		return (struct tree_row){t->root, 0};
	return t->window[i - t->window_at];
}

/* Rows of the siblings before this child. */
static size_t rows_before(struct tree *t, uint32_t parent, uint32_t id)
{
	struct order_entry self = tree_entry(t, id);
	const struct tree_list *kept = tree_kept(t, parent);
	size_t n = 0;

	if (kept) {
		size_t i = tree_list_find(t, kept, id);

		return i ? kept->v[i - 1].with : 0;
	}
	for (uint32_t child = snapshot_node(t->snap, parent)->first_child; child != SNAP_NONE;
	     child = snapshot_node(t->snap, child)->next_sibling) {
		struct order_entry entry;

		if (t->sizes[child] == 0)
			continue;
		entry = tree_entry(t, child);
		if (order_compare(&entry, &self, t->ascending) < 0)
			n += t->sizes[child];
	}
	return n;
}

size_t tree_find_row(struct tree *t, uint32_t id)
{
	size_t row = 0;

	if (id >= t->n_flags)
		return SIZE_MAX;
	while (id != t->root) {
		uint32_t parent = snapshot_node(t->snap, id)->parent;

		if (parent == SNAP_NONE || !tree_is_open(t, parent) || t->sizes[id] == 0)
			return SIZE_MAX;
		row += 1 + rows_before(t, parent, id);
		id = parent;
	}
	return row;
}
