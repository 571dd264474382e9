/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/message.h"
#include <stdarg.h>
#include <stdio.h>
#include "tui/screen.h"
#include "tui/tui_impl.h"

#define SHORT 16

void tui_message(struct tui *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->message, sizeof(t->message), format, ap);
	va_end(ap);
}

bool message_any(const struct tui *t)
{
	return prompt_is_open(&t->prompt) || *t->message;
}

/* A short screen has one line for messages and function keys together. */
int message_bottom(const struct tui *t, const struct canvas *canvas)
{
	return canvas->rows >= SHORT ? 2 : canvas->rows >= 8 || message_any(t);
}

void message_draw(struct tui *t, const struct canvas *canvas, int y, int *ret_y, int *ret_x)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);

	if (prompt_is_open(&t->prompt)) {
		prompt_draw(&t->prompt, canvas, y, ret_x);
		*ret_y = y;
		return;
	}
	pen_put(&pen, ROLE_MESSAGE, t->message);
}

void message_draw_work(struct tui *t, const char *text)
{
	struct canvas canvas = screen_canvas(t->screen);
	struct prompt prompt = t->prompt;
	int row = canvas.rows - message_bottom(t, &canvas), x;
	struct pen pen = pen_at(&canvas, row, 0, canvas.cols);

	if (canvas.rows < TUI_MIN_ROWS || canvas.cols < TUI_MIN_COLS)
		return;
	wmove(canvas.win, row, 0);
	wclrtoeol(canvas.win);
	if (prompt_is_open(&prompt)) {
		snprintf(prompt.note, sizeof(prompt.note), "%s", text);
		prompt_draw(&prompt, &canvas, row, &x);
		screen_flush(t->screen, row, x);
		return;
	}
	pen_put(&pen, ROLE_MESSAGE, text);
	screen_flush(t->screen, -1, 0);
}
