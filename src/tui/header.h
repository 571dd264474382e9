/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_HEADER_H
#define PROTON_TUI_HEADER_H
/* The lines above the panel, and the line of function keys. */
#include <stdbool.h>
#include "tui/draw.h"
#include "tui/keys.h"

struct tui;

int header_draw(struct tui *t, const struct canvas *canvas); /* rows used */
/* Lines for devices on a screen of so many rows, at most so many (1 or more): each has one; several share the
 * last where they are more. */
int header_device_lines(const struct tui *t, int rows, int most);
/* What of them has room in so many lines below those of devices that do not share one: bits of sensors and counters,
 * for header_draw_devices(). Counters, which were asked for, come first. */
unsigned header_told(const struct tui *t, int lines, int room);
/* Rows used. */
int header_draw_devices(struct tui *t, const struct canvas *canvas, int y, int lines,
			unsigned told);
/* The usual number of lines, all that there are, or one. */
void header_next_size(struct tui *t);
void header_draw_footer(struct tui *t, const struct canvas *canvas, int y);

#endif
