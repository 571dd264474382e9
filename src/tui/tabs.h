/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_TABS_H
#define PROTON_TUI_TABS_H
/* The line of tabs: one a panel, each with its key, and what the view is set to. */
#include <stdbool.h>
#include "tui/draw.h"
#include "tui/tui.h"

bool tui_has_panel(const struct tui *t, enum tui_panel panel);
void tabs_draw(struct tui *t, const struct canvas *canvas, int y);

#endif
