/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_TERMINFO_H
#define PROTON_TUI_TERMINFO_H
/* What we ask of the terminal database. Apart, because <term.h> defines macros with names like
 * "columns" and "lines". */

#include <stdbool.h>

struct buf;

/* Is TERM known, and can its cursor be moved? 0, -ENOENT or -ENOTSUP with a sentence. */
int terminfo_check(int fd, const char **ret_why);
/* How many colours it has, after that check; -1: that is not known. */
int terminfo_colors(int fd);
/* Does the current terminal take control sequences of ECMA-48, as nearly all do? Those that mean nothing
 * to it do no harm then. */
bool terminfo_is_ansi(void);
/* Strings of the current terminal that undo what curses did to it. */
void terminfo_restore(struct buf *out);

#endif
