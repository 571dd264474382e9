/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PANEL_TREE_H
#define PROTON_TUI_PANEL_TREE_H
/* The tree panel's own state: shared with carry.c, which takes it over to another screen. */
#include <stdbool.h>
#include <stdint.h>
#include "tui/panel.h"
#include "tui/row_columns.h"
#include "tui/tree.h"
#include "tui/tui_impl.h"

struct panel_tree {
	struct panel base;
	struct tree tree;
	struct row_columns columns;
	struct derive *derives[2]; /* of the picture, and of what it is compared with */
	/* What the rows were made with. */
	char filter[TUI_NEEDLE];
	uint64_t generation; /* of the snapshot; 0: they were not made */
	enum name_mode names;
	struct least least;
	struct tree_order {
		unsigned sort;
		uint32_t root;
		bool ascending, of_parent;
	} order;
	uint8_t *limit; /* by node: does it reach the limit of the view? NULL: there is no limit */
	unsigned asked_rows; /* ROWS_OF_*: those that are shown, for a column asks for them */
};

static inline struct panel_tree *as_tree(struct panel *p)
{
	return (struct panel_tree *)p;
}

#endif
