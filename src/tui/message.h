/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_MESSAGE_H
#define PROTON_TUI_MESSAGE_H
/* The line that holds a message, or the prompt while one is open. tui_message() sets it. */
#include <stdbool.h>
#include "tui/draw.h"

struct tui;

/* Is there one, or a prompt, or an end to tell of? */
bool message_any(const struct tui *t);
/* Lines below the panel: this one and that of function keys. */
int message_bottom(const struct tui *t, const struct canvas *canvas);
/* *ret_y, *ret_x: the cursor of a prompt. */
void message_draw(struct tui *t, const struct canvas *canvas, int y, int *ret_y, int *ret_x);
/* Show at once how far some work is: in the line, or as the note of the prompt. */
void message_draw_work(struct tui *t, const char *text);

#endif
