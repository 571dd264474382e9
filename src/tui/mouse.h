/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_MOUSE_H
#define PROTON_TUI_MOUSE_H
/* What the buttons of the mouse do: each is what some key does too.
 *
 *     press ─> menu? ─> hit? (tab, key, column, fold marker) ─> row of the panel */
#include <stdbool.h>
#include <stdint.h>

struct tui;

enum mouse_button { MOUSE_LEFT, MOUSE_RIGHT, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

struct mouse_event {
	enum mouse_button button;
	int y, x;
};

/* The last press of the left button, to know the second of two. */
struct mouse {
	uint64_t time_ns;
	int y, x;
};

void mouse_press(struct tui *t, const struct mouse_event *event);

#endif
