/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_HEADER_H
#define PROTON_TUI_HEADER_H
/* The lines above the panel, and the line of function keys. */
#include "tui/draw.h"

struct tui;

int header_draw(struct tui *t, const struct canvas *canvas);                /* rows used */
int header_draw_devices(struct tui *t, const struct canvas *canvas, int y); /* rows used */
void header_draw_footer(struct tui *t, const struct canvas *canvas, int y);

#endif
