/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_CLIPBOARD_H
#define PROTON_TUI_CLIPBOARD_H
/* Give text to the terminal's clipboard, also through ssh: OSC 52. Whether it takes it, it does not
 * say. What stands between us and it has to pass the sequence on:
 *
 *   tmux     takes it as it is with set-clipboard on; wrapped, with allow-passthrough: both are
 * sent screen   passes on what is wrapped, in pieces */
#include <stddef.h>
#include "base/buf.h"

#define CLIPBOARD_MAX 65536 /* bytes; xterm takes little more */

enum clipboard_way { CLIPBOARD_PLAIN, CLIPBOARD_TMUX, CLIPBOARD_SCREEN };

/* By the environment: TMUX, STY. */
enum clipboard_way clipboard_way(void);
/* The bytes to send. -EFBIG: the text is too long. */
int clipboard_sequence(const char *text, size_t len, enum clipboard_way way, struct buf *out);

#endif
