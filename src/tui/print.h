/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PRINT_H
#define PROTON_TUI_PRINT_H
/* The screen as a file: what is shown, cell for cell, in the colours of its theme. */
#include "base/buf.h"

struct tui;

enum print_format { PRINT_TEXT = 0, PRINT_ANSI, PRINT_SVG, PRINT_N };

/* The suffix of its files, and what the menu says of it. */
const char *print_suffix(enum print_format format);
const char *print_help(enum print_format format);
/* Append the screen. 0 or -errno. Works without a terminal, too. */
int print_screen(struct tui *t, int rows, int cols, enum print_format format, struct buf *out);

#endif
