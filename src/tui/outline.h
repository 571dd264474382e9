/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_OUTLINE_H
#define PROTON_TUI_OUTLINE_H
/* Trees whose nodes open and close: the keys that do so and that move along them, and the lines
 * before a name, are the same for every such panel. A panel says what its nodes are.
 *
 *     TOTAL    %  NAME
 *     40ms  90.0  ├─▾ open        a branch whose children have rows
 *     38ms  85.0  │ └─▸ closed    one whose children have none
 *      2ms   5.0  └─leaf */
#include "tui/panel.h"

#define OUTLINE_NONE UINT32_MAX

struct outline_ops {
	uint32_t (*node)(struct panel *p, size_t row);
	size_t (*find_row)(struct panel *p, uint32_t node); /* SIZE_MAX: it has none */
	uint32_t (*parent)(struct panel *p,
			   uint32_t node);              /* OUTLINE_NONE: none that may have a row */
	uint32_t (*depth)(struct panel *p, size_t row); /* 0: no lines before it */
	bool (*is_branch)(struct panel *p,
			  uint32_t node); /* has it children that would have rows? */
	bool (*is_open)(struct panel *p, uint32_t node);
	bool (*is_last)(struct panel *p, uint32_t node); /* of its siblings, as drawn */
	/* Open or close a node, and make its rows. */
	void (*set_open)(struct panel *p, uint32_t node, bool open);
	/* Open or close all nodes from one on downwards, or open one, without their rows: count()
	 * makes these. */
	void (*set_below)(struct panel *p, uint32_t node, bool open);
	void (*mark_open)(struct panel *p, uint32_t node);
	void (*count)(struct panel *p);
	void (*fold_auto)(struct panel *p); /* open the hottest paths, as before any key */
	uint32_t (*hottest_child)(struct panel *p, uint32_t node);      /* or OUTLINE_NONE */
	uint32_t (*sibling)(struct panel *p, uint32_t node, bool next); /* or OUTLINE_NONE */
	uint32_t (*root)(struct panel *p);                  /* the node that all others lie below */
	bool (*is_guessed)(struct panel *p, uint32_t node); /* marked ~; NULL: never */
	/* The user has begun to fold: from now on nothing opens by itself. */
	void (*keep)(struct panel *p);
	const char *no_branch; /* a message where there is nothing to open; NULL: none */
};

/* True: done with. */
bool outline_request(const struct outline_ops *o, struct panel *p, enum request request);
/* The cursor goes to a node, or to what it is folded into. */
void outline_goto(const struct outline_ops *o, struct panel *p, uint32_t node);
/* A row from the columns on: lines, mark, name. */
void outline_draw_row(const struct outline_ops *o, struct panel *p, struct pen *pen, size_t row,
		      const struct column_fit *fit, enum role role);

#endif
