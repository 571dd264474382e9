/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_COMPOSE_H
#define PROTON_TUI_COMPOSE_H
/* The whole screen, from the header to the function keys. */
#include "tui/draw.h"

struct hits;
struct screen;
struct tui;

/* *ret_y, *ret_x: where the cursor shows; *ret_y < 0: nowhere. */
void tui_draw(struct tui *t, const struct canvas *canvas, int *ret_y, int *ret_x);
void tui_redraw(struct tui *t); /* on the terminal, if it is open */
/* Draw on a copy of the screen that the caller closes; hits as in struct canvas. 0 or -errno. */
int tui_draw_copy(struct tui *t, int rows, int cols, struct hits *hits, struct screen **ret);

#endif
