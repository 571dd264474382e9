/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_FLAME_BOX_H
#define PROTON_TUI_FLAME_BOX_H
/* How a box of a flame graph looks: filled, with a mark at its left side, and as many of its texts
 * as it has lines.
 *
 *     ▏forward  39.3%          ▶forward          ●+mlp              |forward--------------
 *                              │17.16s           │+1.50s  +9.6%     |17.16s---------------
 *                              │39.3%            │17.1s             |39.3%----------------
 *      one line                 selected          found, grown       without colours
 *
 * Colours tell kinds, or in a comparison what has grown. Where there are none, what fills the box
 * does. The selected one keeps its colours: its left side and its name have the cursor's. Nothing that
 * matters is said by colour alone: the selected one, those that were found and changes have marks and
 * signs. */
#include <stdbool.h>
#include <stddef.h>
#include "tui/draw.h"

#define BOX_LINES 3 /* most lines that a box has */
#define BOX_NAMED 3 /* columns: a narrower one has no room for a text */

struct flame_box_look {
	enum role role; /* a BOX_ one, or ROLE_DIM for several in one */
	const char *name;
	char sign;                          /* in front of it, of a change; '\0': none */
	const char *numbers[BOX_LINES - 1]; /* for the lines below the name */
	const char *brief; /* for a box of one line: stands behind a name that leaves room */
	bool is_selected, is_found, is_merged;
};

/* The role of boxes of a frame kind. */
enum role flame_box_role(unsigned kind);
/* Where a name that needs two lines of `width` columns is broken, in bytes; 0: it needs one, or more
 * than two, or would be broken within a word. */
size_t flame_box_break(const char *name, int width, bool ascii);
/* A line of a box, from the pen to its end: line `line` of `lines`. */
void flame_box_draw(struct pen *pen, const struct flame_box_look *box, int line, int lines);
/* A sample of a role's ground and a word: "▒▒ kernel". */
void flame_box_sample(struct pen *pen, enum role role, const char *word);

#endif
