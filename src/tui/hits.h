/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_HITS_H
#define PROTON_TUI_HITS_H
/* What the mouse can hit: each part of the screen that a button does something with, noted while the
 * screen is drawn and looked up when a button is pressed. */
#include <stddef.h>

enum hit_kind {
	HIT_TAB,     /* value: enum tui_panel */
	HIT_REQUEST, /* enum request */
	HIT_SORT,    /* column of the panel in front */
	HIT_ROW,     /* row of the panel in front; rows of a plain list need none */
	HIT_FOLD,    /* its fold marker */
	HIT_CHOICE,  /* item of the menu */
	HIT_PART,    /* of the panel in front: what its ops->pick() takes */
};

struct hit {
	int y, x, end; /* columns [x, end) of a line */
	enum hit_kind kind;
	int value;
};

#define MAX_HITS 2048 /* what is beyond cannot be clicked on */

struct hits {
	struct hit v[MAX_HITS];
	unsigned n;
};

/* hits may be NULL: nobody asks. What is added later lies above. */
void hits_add(struct hits *hits, const struct hit *hit);
const struct hit *hits_find(const struct hits *hits, int y, int x); /* NULL: nothing lies there */

#endif
