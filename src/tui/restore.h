/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_RESTORE_H
#define PROTON_TUI_RESTORE_H
/* Give the terminal back when this process dies of a fatal signal.
 *
 * The handlers only write() bytes prepared before, restore the saved termios and raise the
 * signal again for whoever had it before: no curses call in a handler. */
#include <stddef.h>

struct termios;

/* One terminal a process. saved may be NULL. The bytes are copied. */
void restore_arm(int fd, const char *bytes, size_t len, const struct termios *saved);
void restore_disarm(void);

#endif
