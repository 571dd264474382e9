/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_RULER_H
#define PROTON_TUI_RULER_H
/* Marks of a ruler above what is drawn over time, and the cursor's, which covers no digit: │1.20s  ▼  │1.21s */
#include <stdint.h>
#include "tui/draw.h"

/* 1, 2 or 5 times a power of ten: the least that is no less than this. */
uint64_t ruler_step(uint64_t least);
/* A mark with its text at column x, if that ends before column `end`. Where the cursor's column is within the text, the mark has none: of
 * "│10k" there would be left another number. */
void ruler_mark(struct pen *pen, int x, int end, int cursor, const char *text);
/* Behind the marks: on the line of one it stands in its place. */
void ruler_cursor(struct pen *pen, int cursor);

#endif
