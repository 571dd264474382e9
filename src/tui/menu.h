/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_MENU_H
#define PROTON_TUI_MENU_H
/* A box with a few choices. Each has a letter; Esc chooses none. */
#include <stdbool.h>
#include "tui/draw.h"

struct tui;

#define MENU_MAX 32

struct menu_item {
	char text[96];
	int letter; /* key that chooses it at once; 0 none */
	int value;
};

struct menu {
	const char *title; /* NULL: no menu is open */
	struct menu_item items[MENU_MAX];
	int n, cursor;
	void (*on_choice)(struct tui *t, int value);
};

/* Open an empty menu; title is borrowed. on_choice() gets the value of the item that is chosen; for a
 * menu that is closed otherwise it is not called. */
void menu_open(struct menu *m, const char *title, void (*on_choice)(struct tui *, int));
/* Add an item; there is no room for more than MENU_MAX. */
void menu_add(struct menu *m, int letter, int value, const char *format, ...) _printf_(4, 5);
static inline bool menu_is_open(const struct menu *m)
{
	return m->title != NULL;
}
void menu_key(struct menu *m, struct tui *t, int key);
void menu_move(struct menu *m, int n);                  /* the cursor */
void menu_choose(struct menu *m, struct tui *t, int i); /* item i; closes the menu */
static inline void menu_close(struct menu *m)
{
	m->title = NULL;
}
void menu_draw(const struct menu *m, const struct canvas *canvas);

#endif
