/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_CLIPBOARD_H
#define PROTON_TUI_CLIPBOARD_H
/* Give text to the terminal's clipboard, also through ssh, by the escape sequence OSC 52. Terminals
 * do not say whether they took it. What stands between us and the terminal has to pass it on:
 *
 *   tmux    with set-clipboard on takes the plain sequence, with allow-passthrough a wrapped one;
 *           it is sent both
 *   screen  passes on what is wrapped, in pieces */
#include <stddef.h>
#include "base/buf.h"

#define CLIPBOARD_MAX 65536 /* bytes; xterm takes little more */

enum clipboard_way { CLIPBOARD_PLAIN, CLIPBOARD_TMUX, CLIPBOARD_SCREEN };

/* Which way there is, by the environment variables TMUX and STY. */
enum clipboard_way clipboard_way(void);
/* Append the bytes to send. 0, -EFBIG: the text is longer than CLIPBOARD_MAX, or -ENOMEM. */
int clipboard_sequence(const char *text, size_t len, enum clipboard_way way, struct buf *out);

#endif
