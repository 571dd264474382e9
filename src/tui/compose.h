/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_COMPOSE_H
#define PROTON_TUI_COMPOSE_H
/* The whole screen, from the header to the function keys. */
#include "tui/draw.h"

struct tui;

/* *ret_y, *ret_x: where the cursor shows; *ret_y < 0: nowhere. */
void tui_draw(struct tui *t, const struct canvas *canvas, int *ret_y, int *ret_x);
void tui_redraw(struct tui *t); /* on the terminal, if it is open */

#endif
