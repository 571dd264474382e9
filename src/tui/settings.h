/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_SETTINGS_H
#define PROTON_TUI_SETTINGS_H
/* What a configuration file or a saved layout says: one setting a line, see proton-config(5).
 *
 *     theme contrast          # default, light, ...
 *     columns tree TOTAL % CALLS
 *     bind x quit
 *
 * The text comes from elsewhere: a line that is not understood is named and skipped. */
#include <stdbool.h>
#include <stddef.h>
#include "tui/keys.h"
#include "tui/panel.h"
#include "tui/tui.h"

struct settings {
	const char *theme;                            /* NULL: not said */
	int mouse, ascii, color, names, group, panel; /* -1: not said */
	unsigned header;                              /* lines; 0: not said */
	struct {
		char title[COLUMN_TITLE]; /* "": not said */
		bool ascending;
	} sort[TUI_N_PANELS];
	struct column_choice columns[TUI_N_PANELS];
	struct keymap keys;
};

void settings_init(struct settings *c); /* nothing is said, keys are the usual ones */
/* Add what a text says; later lines win. complain is called for each line that is skipped. */
void settings_parse(struct settings *c, const char *text, size_t len,
		    void (*complain)(void *data, unsigned line, const char *why), void *data);
/* Write the layout of a screen over what a file says: lines that say something else, comments among
 * them, stay as they are. */
void settings_write_layout(const struct tui *t, const char *old, size_t old_len, struct buf *out);

#endif
