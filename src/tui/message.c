/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/message.h"
#include <stdarg.h>
#include <stdio.h>
#include "base/buf.h"
#include "base/human.h"
#include "core/runs.h"
#include "tui/names.h"
#include "tui/parts.h"
#include "tui/row_columns.h"
#include "tui/screen.h"
#include "tui/tui_impl.h"

#define SHORT     16
#define SHORT_END 12 /* the same, when there is to be said that the program has ended */

void tui_message(struct tui *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->message, sizeof(t->message), format, ap);
	va_end(ap);
}

bool message_any(const struct tui *t)
{
	return prompt_is_open(&t->prompt) || *t->message || t->status.run == TUI_RUN_ENDED;
}

/* A short screen has one line for messages and function keys together. */
int message_bottom(const struct tui *t, const struct canvas *canvas)
{
	int two = t->status.run == TUI_RUN_ENDED ? SHORT_END : SHORT;

	return canvas->rows >= two ? 2 : canvas->rows >= 8 || message_any(t);
}

/* What stays to be said of a program that has ended: how, how long it took, how busy the GPUs were,
 * where the profile is, and how to leave. */
static void draw_end(struct tui *t, struct pen *pen)
{
	const struct tui_status *st = &t->status;
	const struct session *s = snapshot_session(t->snap);
	struct line_parts parts = {.less_than_name = 3, .fill = ROLE_NORMAL};
	_cleanup_(buf_done) struct buf end = {0};
	struct session_run run;
	char text[HUMAN_MAX], word[DEVICE_WORD];

	run_set_end(&run, st->wait_status);
	run_put_end(&run, &end);
	parts_add(&parts, ROLE_MESSAGE, 0, "ended: %s", end.len ? buf_str(&end) : "unknown how");
	human_time_ns(text, (double)st->up_ns);
	parts_add(&parts, ROLE_MESSAGE, 2, "after %s", text);
	for (uint32_t i = 0; i < t->usage.n_devices && i < 8; i++) {
		double share = runs_busy_share(s, t->usage.order[i]);

		usage_percent(text, share);
		session_device_word(snapshot_session(t->snap), t->usage.order[i], word);
		if (share >= 0)
			parts_add(&parts, ROLE_MESSAGE, 3, "%s busy %s%%", word, text);
	}
	if (st->file_error)
		parts_add(&parts, ROLE_ALARM, 0, "no profile: %s", st->file_error);
	else if (st->file)
		parts_add_name(&parts, ROLE_MESSAGE, 1, "wrote ", st->file, true);
	parts_add(&parts, ROLE_MESSAGE, 0, "q leaves");
	parts_draw(&parts, pen);
}

/* What was measured of the hardware and has no column. False: all has. */
static bool draw_hidden(struct tui *t, struct pen *pen)
{
	struct panel *p = t->panels[t->current];
	_cleanup_(buf_done) struct buf names = {0};
	unsigned n = p->rows && p->n_rows ? row_columns_put_hidden(p->rows, p, &names) : 0;

	if (!n)
		return false;
	pen_printf(pen, ROLE_MESSAGE, "no room for %u %s (%s): ", n, n == 1 ? "metric" : "metrics",
		   keymap_words(&t->keys, REQ_COLUMNS));
	pen_put(pen, ROLE_MESSAGE, buf_str(&names));
	return true;
}

void message_draw(struct tui *t, const struct canvas *canvas, int y, int *ret_y, int *ret_x)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);

	if (prompt_is_open(&t->prompt)) {
		prompt_draw(&t->prompt, canvas, y, ret_x);
		*ret_y = y;
		return;
	}
	if (!*t->message && t->status.run == TUI_RUN_ENDED)
		draw_end(t, &pen);
	else if (!*t->message && draw_hidden(t, &pen))
		return;
	else if (!*t->message && t->advice.findings.n && !t->advice.is_in_header &&
		 t->current != TUI_PANEL_FINDINGS)
		advice_draw(t, canvas, y);
	else
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
