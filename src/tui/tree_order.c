/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/tree_order.h"
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* Fewer are sorted each time they are looked at. */
#define MANY 256

size_t tree_collect(struct tree *t, uint32_t id)
{
	uint32_t child = snapshot_node(t->snap, id)->first_child;
	size_t n = 0;

	for (; child != SNAP_NONE; child = snapshot_node(t->snap, child)->next_sibling) {
		if (!tree_is_shown(t, child))
			continue;
		if (ARRAY_ROOM(t->kids, t->cap_kids, n + 1) < 0)
			return n;
		t->kids[n++] = tree_entry(t, child);
	}
	return n;
}

/* ---- lists ---- */

static void count_rows(const struct tree *t, struct order_entry *v, size_t n)
{
	uint32_t end = 0;

	for (size_t i = 0; i < n; i++)
		v[i].with = end += t->sizes[v[i].id];
}

/* Which of its siblings is the last one decides how the lines beside its children are drawn. */
static void mark_last(struct tree *t, const struct order_entry *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		t->flags[v[i].id] &= (uint8_t)~TREE_LAST;
	if (n)
		t->flags[v[n - 1].id] |= TREE_LAST;
}

struct tree_list *tree_kept(const struct tree *t, uint32_t parent)
{
	for (size_t i = 0; i < t->n_lists; i++)
		if (t->lists[i]->parent == parent)
			return t->lists[i];
	return NULL;
}

/* Keep what is in t->kids; a list that cannot be kept is made anew the next time. */
static void keep(struct tree *t, uint32_t parent, size_t n)
{
	struct tree_list *list;

	if (ARRAY_ROOM(t->lists, t->cap_lists, t->n_lists + 1) < 0)
		return;
	list = malloc(sizeof(*list));
	if (!list)
		return;
	*list = (struct tree_list){parent, n, malloc(n * sizeof(*list->v))};
	if (!list->v) {
		free(list);
		return;
	}
	memcpy(list->v, t->kids, n * sizeof(*list->v));
	t->lists[t->n_lists++] = list;
}

struct tree_list tree_children(struct tree *t, uint32_t id)
{
	const struct tree_list *kept = NULL;
	size_t n;

	if (snapshot_node(t->snap, id)->n_children > MANY)
		kept = tree_kept(t, id);
	if (kept)
		return *kept;
	n = tree_collect(t, id);
	order_sort(t->kids, n, t->ascending);
	count_rows(t, t->kids, n);
	mark_last(t, t->kids, n);
	if (n > MANY)
		keep(t, id, n);
	return (struct tree_list){id, n, t->kids};
}

size_t tree_list_find(const struct tree *t, const struct tree_list *list, uint32_t child)
{
	struct order_entry entry = tree_entry(t, child);
	size_t low = 0;

	BISECT(low, list->n, middle, order_compare(&list->v[middle], &entry, t->ascending) < 0)
	return low;
}

void tree_list_grow(const struct tree *t, struct tree_list *list, uint32_t child, int64_t rows)
{
	for (size_t i = tree_list_find(t, list, child); i < list->n; i++)
		list->v[i].with = (uint32_t)(list->v[i].with + rows);
}

void tree_lists_count(struct tree *t)
{
	for (size_t i = 0; i < t->n_lists; i++)
		count_rows(t, t->lists[i]->v, t->lists[i]->n);
}

void tree_lists_drop(struct tree *t)
{
	while (t->n_lists) {
		struct tree_list *list = t->lists[--t->n_lists];

		free(list->v);
		free(list);
	}
}
