/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_REQUESTS_H
#define PROTON_TUI_REQUESTS_H
/* What keys, menus and the mouse ask for (keys.h), of the panel in front or of the screen. */
#include "tui/keys.h"
#include "tui/tui.h"

/* By the panel in front, if it answers it, else by the screen. */
void tui_do_request(struct tui *t, enum request request);
/* Bring a panel to the front; one that is about a single row shows what the cursor was on. */
void tui_show_panel(struct tui *t, enum tui_panel panel);

/* The program has ended: what asks about it is closed. */
void tui_program_ended(struct tui *t);

#endif
