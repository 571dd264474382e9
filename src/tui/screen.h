/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_SCREEN_H
#define PROTON_TUI_SCREEN_H
/* One curses screen: the user's terminal, or something of any size to draw on and read back.
 *
 * There is one curses SCREEN at a time: deleting one of two frees the windows of both. So while
 * the terminal is open, what is read back is drawn on a pad of it, else on /dev/null. */
#include <stdbool.h>
#include <stddef.h>
#include "tui/draw.h"

struct buf;
struct mouse_event;
struct screen;
struct termios;

/* Open a terminal. On failure *ret_why is a sentence without a full stop. */
int screen_open(const char *tty, const struct look_options *options, struct screen **ret,
		const char **ret_why);
/* A screen of this size to draw on and read back. beside: the open terminal, or NULL. */
int screen_open_copy(struct screen *beside, int rows, int cols, const struct look_options *options,
		     struct screen **ret);
struct screen *screen_close(struct screen *sc);

struct canvas screen_canvas(struct screen *sc);
int screen_fd(const struct screen *sc);

/* One key without waiting: a key as in keys.h, 0 none, -EIO gone. */
int screen_read_key(struct screen *sc);
/* The next key that nobody has looked at, without taking it; 0 none, -EIO gone. */
int screen_look_ahead(struct screen *sc);
void screen_forget_keys(struct screen *sc); /* that were looked at */
/* Ask the terminal to report the mouse, or to keep it to itself. */
void screen_mouse(struct screen *sc, bool on);
/* After KEY_MOUSE was read: what happened. False: nothing that means something. */
bool screen_read_mouse(struct screen *sc, struct mouse_event *ret);
/* Send what was drawn. The cursor shows at (y, x); y < 0 hides it. */
void screen_flush(struct screen *sc, int y, int x);
/* Bytes past curses, which must not move the cursor or draw. 0 or -errno. */
int screen_send(struct screen *sc, const char *bytes, size_t len);
void screen_redraw(struct screen *sc); /* everything is sent anew at the next flush */
int screen_resize(struct screen *sc);  /* to what the terminal says */
void screen_leave(struct screen *sc);  /* give the terminal back for a while */
void screen_enter(struct screen *sc);  /* take it again */
/* After a stop that we learn of by SIGCONT: the terminal may be in any state. */
void screen_retake(struct screen *sc);

/* Append the drawn text; with attributes a letter of the role for each cell follows. */
void screen_read(struct screen *sc, bool attributes, struct buf *out);

/* A drawn cell: its text in UTF-8, how it looks, and how many columns it takes (1 or 2). */
struct screen_cell {
	char text[64];
	int columns;
	short pair;
	struct style style;
};
void screen_cell(struct screen *sc, int y, int x, struct screen_cell *ret);
/* Another theme, from the next drawing on. */
void screen_set_look(struct screen *sc, const struct look_options *options);

const char *screen_restore_bytes(const struct screen *sc, size_t *ret_len);
const struct termios *screen_saved_termios(const struct screen *sc);

#endif
