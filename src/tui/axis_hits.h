/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_AXIS_HITS_H
#define PROTON_TUI_AXIS_HITS_H
/* Rows that are drawn along an axis, and the mouse: a press is on a row and a column. */
#include <stdbool.h>
#include <stddef.h>
#include "tui/draw.h"

#define AXIS_COLUMNS 4096 /* of a row, in what a press of the mouse says: fewer are shown */

/* What can be pressed of a row whose `n` columns begin at x: parts of it, so many that there is room for those of all rows of a
 * panel of this height. */
void axis_hits_add(const struct pen *pen, int x, unsigned n, int height, size_t row);
/* What was pressed. False: it is of a screen before, with more rows or columns than there are now. */
bool axis_hit(int part, size_t n_rows, unsigned n, size_t *ret_row, unsigned *ret_column);

#endif
