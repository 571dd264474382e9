/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_TREE_H
#define PROTON_TUI_TREE_H
/* Which nodes of a snapshot's tree are rows, and in what order: fold state, sort, zoom and filter.
 * Draws nothing.
 *
 *     flags, sizes (by id) ── tree_row(i) ──> the rows around i, sorted as they are reached
 *
 * How many rows a node takes is known for all of them; which nodes those rows are is found out
 * where somebody looks. So a key costs what is visible, and what is open costs one pass of adding
 * up, however much that is.
 *
 * A filter keeps nodes whose name has the text, what lies above them, and what lies below. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/snapshot.h"

struct tree_row {
	uint32_t id;
	uint32_t depth; /* 0: the root of the view */
};

struct tree {
	struct snapshot *snap;
	enum name_mode names;
	double (*value)(void *ctx, uint32_t id);  /* sorts; set by the owner */
	double (*weight)(void *ctx, uint32_t id); /* the largest is the hottest; set by the owner */
	void *ctx;
	bool ascending;
	bool auto_fold;    /* no fold key was used yet: the hottest paths are open */
	bool unfold_once;  /* as if, this time */
	uint32_t root;     /* of the view; below it when zoomed */
	uint32_t zoom[32]; /* the roots before it */
	unsigned n_zoom;
	uint8_t *flags; /* TREE_* by id */
	size_t n_flags, cap_flags;
	uint32_t *sizes; /* rows by id: its own and those of what is open below; 0: not shown */
	size_t cap_sizes;
	size_t n_rows;
	struct tree_row *window; /* rows [window_at, window_at + n_window) */
	size_t window_at, n_window, cap_window;
	struct tree_list **lists; /* children of nodes that have many, in order */
	size_t n_lists, cap_lists;
	const uint8_t *limit; /* by id: 0 = left out; NULL: nothing is. The owner's */
	size_t n_limit;
	bool filtered;
	bool open_kept;       /* the filter is new: open what is above its matches, once */
	uint8_t *frame_match; /* by session frame: not looked at, no, yes */
	size_t cap_frame_match;
	struct order_entry *kids; /* scratch: children being sorted */
	size_t cap_kids;
	struct tree_visit *stack; /* scratch: nodes to visit */
	size_t cap_stack;
};

enum {
	TREE_OPEN = 1,
	TREE_LAST = 2,  /* the last one drawn of its siblings */
	TREE_KEEP = 16, /* passes the filter */
};

void tree_init(struct tree *t, struct snapshot *snap);
void tree_done(struct tree *t);
/* Ids start anew after a regrouping: forget fold state and zoom. */
void tree_forget(struct tree *t);
/* Room for the ids of the present picture, and the marks of the filter ("" = none). -ECANCELED: it
 * was stopped, and the filter before still holds. */
int tree_prepare(struct tree *t, const char *filter);
/* What is shown, or its order, has changed: all rows anew. 0 or -ENOMEM. */
int tree_build(struct tree *t);
/* Flags have changed, no more: what is open is counted again. */
void tree_count(struct tree *t);
/* The order or the root has changed, no more. */
void tree_reorder(struct tree *t);
/* Row i < n_rows; one of the root where memory is out. */
struct tree_row tree_row(struct tree *t, size_t i);
/* With auto_fold: open the hottest nodes until about `rows` rows are used. */
void tree_fold_auto(struct tree *t, size_t rows);
/* Open what is less than so many levels below the root, and close the rest. */
void tree_open_levels(struct tree *t, unsigned levels);

static inline bool tree_is_open(const struct tree *t, uint32_t id)
{
	return t->flags[id] & TREE_OPEN;
}
/* Is the node in the view at all (not hidden, not filtered out)? */
static inline bool tree_shows(const struct tree *t, bool hidden, uint32_t id)
{
	if (hidden || (t->filtered && !(t->flags[id] & TREE_KEEP)))
		return false;
	return !t->limit || id >= t->n_limit || t->limit[id] || id == t->root;
}
static inline bool tree_is_shown(const struct tree *t, uint32_t id)
{
	return tree_shows(t, snapshot_node(t->snap, id)->hidden, id);
}
/* Has it children that are shown? */
bool tree_is_branch(const struct tree *t, uint32_t id);
/* Open or close one node and change the rows accordingly. */
void tree_set_open(struct tree *t, uint32_t id, bool open);
/* Open or close all nodes below one (itself included); the caller counts. */
void tree_set_below(struct tree *t, uint32_t id, bool open);
/* Open all that is above a node, so that it has a row; zooms out when it lies outside. 0 or
 * -ENOMEM. */
int tree_reveal(struct tree *t, uint32_t id);
/* Row of a node, or SIZE_MAX. */
size_t tree_find_row(struct tree *t, uint32_t id);
uint32_t tree_hottest_child(struct tree *t, uint32_t id); /* or SNAP_NONE */
/* The sibling that is drawn after or before it, or SNAP_NONE. */
uint32_t tree_sibling(struct tree *t, uint32_t id, bool next);
/* Of two children of a node: does `a` stand first? */
bool tree_precedes(const struct tree *t, uint32_t a, uint32_t b);
bool tree_zoom(struct tree *t, uint32_t id); /* false: already there, or too deep */
bool tree_zoom_out(struct tree *t);

#endif
