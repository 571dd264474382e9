/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_FLAME_H
#define PROTON_TUI_FLAME_H
/* Which calling contexts have how many columns of a flame graph. Draws nothing.
 *
 *     level 0   │root──────────────────────────────────│
 *     level 1   │a──────────────────│b─────────│+3 more│
 *     level 2   │c────────│+9─│
 *
 * Siblings stand side by side, the largest first. Those of less than a column, and those that are
 * not shown, are one box of the width that they need together, one column at least. The columns that
 * children leave are what their parent holds itself.
 *
 * Nodes are those of the snapshot, or those of a bottom-up tree. A view of the rest has only the
 * children behind the first `skip`; when even of these none has a column, the largest ones share the
 * width and the others get a few columns together. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/bottom_up.h"
#include "core/numbers.h"

struct flame_box {
	uint32_t node;     /* of the tree; of a merged box: the parent of what is merged */
	uint32_t parent;   /* box; itself for the root */
	uint32_t n_merged; /* children that are too narrow; 0: this is one node */
	int x, width;
	double start; /* in columns, before rounding */
	double value;
	double before; /* what it was in what is compared with; NaN: absent, or nothing is */
};

struct flame {
	struct snapshot *snap;
	struct numbers *numbers;
	struct bottom_up *callers; /* NULL: from the top */
	struct derived metric;     /* what makes a box wide: it adds up */
	struct derived_terms terms, terms_before;
	/* May a node have a box of its own? NULL: any. */
	bool (*is_shown)(void *ctx, uint32_t node);
	void *ctx;
	struct flame_box *boxes; /* level by level, from left to right */
	size_t n, cap;
	uint32_t *levels; /* the first box of each, and behind the last */
	size_t n_levels, cap_levels;
	bool not_to_scale; /* the last box of a view of the rest is narrower than its share */
	/* Children of boxes that are in what is compared with alone: these have none. */
	struct {
		double value;
		uint32_t n;
	} gone;
	struct flame_child *children; /* scratch */
	size_t n_children, cap_children;
};

void flame_done(struct flame *f);
struct flame_view {
	uint32_t root;
	bool rest; /* only the children behind the first `skip`, the largest first */
	uint32_t skip;
	int width;
};

/* The boxes of a view. 0 or -ENOMEM; none where the number is absent. */
int flame_layout(struct flame *f, const struct flame_view *view);
double flame_value(struct flame *f, uint32_t node);  /* NaN: absent */
double flame_before(struct flame *f, uint32_t node); /* the same of what is compared with */
/* What a node holds itself: its value less its children's. NaN: no memory. */
double flame_own(struct flame *f, uint32_t node);
uint32_t flame_parent(const struct flame *f, uint32_t node); /* SNAP_NONE: none */
/* The child behind another one (SNAP_NONE: the first), in any order; SNAP_NONE: no more. */
uint32_t flame_next_child(struct flame *f, uint32_t node, uint32_t child);
/* A number for a path that stays the same until ids start anew. merged: for the box of what is
 * merged below the node. */
uint64_t flame_key(const struct flame *f, uint32_t node, bool merged);
uint32_t flame_level(const struct flame *f, uint32_t box);

#endif
