/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_TREE_ORDER_H
#define PROTON_TUI_TREE_ORDER_H
/* The children of a node in the order of their rows. Those of a node with many are kept, so that
 * the next key does not sort them again. */
#include "base/order.h"
#include "tui/tree.h"

struct tree_list {
	uint32_t parent;
	size_t n;
	struct order_entry *v; /* with: rows of this child and of those before it */
};

static inline struct order_entry tree_entry(const struct tree *t, uint32_t id)
{
	return (struct order_entry){t->value(t->ctx, id), id, 0};
}

/* Put the children that are shown into t->kids, in no order. Returns how many; fewer where memory
 * is out. */
size_t tree_collect(struct tree *t, uint32_t id);
/* The children that are shown, in order, each with the row behind it; the last one is marked. Valid
 * until the next call. */
struct tree_list tree_children(struct tree *t, uint32_t id);
/* The list that is kept for a node, or NULL. */
struct tree_list *tree_kept(const struct tree *t, uint32_t parent);
/* Where a child is in a list. */
size_t tree_list_find(const struct tree *t, const struct tree_list *list, uint32_t child);
/* Rows were added (or, negative, taken away) at or below a child. */
void tree_list_grow(const struct tree *t, struct tree_list *list, uint32_t child, int64_t rows);
void tree_lists_count(struct tree *t); /* ends from sizes */
void tree_lists_drop(struct tree *t);

#endif
