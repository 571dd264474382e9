/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_FOLLOW_H
#define PROTON_TUI_FOLLOW_H
/* What the cursor is on goes along from panel to panel, by one rule for all of them:
 *
 *     callers, durations     are about it
 *     tree, lists            the cursor goes to its row, or to that of its nearest caller with one
 *     flame, roofline        the same for its box, its point
 *
 * A panel that has nothing of these keeps its cursor where it was. What goes along is what the
 * cursor was last moved to, not what it merely stands on: who goes there and back is where he was. */
#include "tui/tui.h"

struct panel;

/* The panel in front is left for another one: what the cursor is on. A node, or SNAP_NONE. */
void follow_leave(struct tui *t);
/* It has come to the front. */
void follow_show(struct tui *t);

#endif
