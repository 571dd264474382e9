/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/clipboard.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SCREEN_PIECE 512 /* GNU screen's strings are at most 768 bytes */

enum clipboard_way clipboard_way(void)
{
	const char *tmux = getenv("TMUX"), *screen = getenv("STY");

	return tmux && *tmux       ? CLIPBOARD_TMUX
	       : screen && *screen ? CLIPBOARD_SCREEN
				   : CLIPBOARD_PLAIN;
}

static void put_base64(struct buf *out, const unsigned char *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t v = (uint32_t)data[i] << 16 | (n > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
			     (n > 2 ? data[i + 2] : 0);

		for (size_t k = 0; k < 4; k++)
			buf_putc(out, k > n ? '=' : digits[v >> (18 - 6 * k) & 63]);
	}
}

/* For tmux each escape inside is doubled. */
static void put_for_tmux(struct buf *out, const struct buf *plain)
{
	buf_puts(out, "\x1bPtmux;");
	for (size_t i = 0; i < plain->len; i++) {
		if (plain->data[i] == '\x1b')
			buf_putc(out, '\x1b');
		buf_putc(out, plain->data[i]);
	}
	buf_puts(out, "\x1b\\");
}

static void put_for_screen(struct buf *out, const struct buf *plain)
{
	for (size_t i = 0; i < plain->len; i += SCREEN_PIECE) {
		buf_puts(out, "\x1bP");
		buf_put(out, plain->data + i, MIN(plain->len - i, SCREEN_PIECE));
		buf_puts(out, "\x1b\\");
	}
}

int clipboard_sequence(const char *text, size_t len, enum clipboard_way way, struct buf *out)
{
	struct buf plain;

	if (len > CLIPBOARD_MAX)
		return -EFBIG;
	buf_init(&plain, 0);
	buf_puts(&plain, "\x1b]52;c;");
	put_base64(&plain, (const unsigned char *)text, len);
	buf_putc(&plain, '\a');
	if (way == CLIPBOARD_SCREEN)
		put_for_screen(out, &plain);
	else
		buf_put(out, plain.data, plain.len);
	if (way == CLIPBOARD_TMUX)
		put_for_tmux(out, &plain);
	buf_done(&plain);
	return out->error;
}
