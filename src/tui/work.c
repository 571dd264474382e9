/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/work.h"
#include "base/clock.h"
#include "base/util.h"
#include "tui/message.h"
#include "tui/screen.h"
#include "tui/tui_impl.h"

#define SILENT_NS (15 * NSEC_PER_MSEC) /* done by then: there is nothing to tell */
#define REDRAW_NS (50 * NSEC_PER_MSEC)

/* The rest of the screen is that of before the key. */
static void draw(struct tui *t, size_t done, size_t total)
{
	const char *what = t->work.what ? t->work.what : "working";
	unsigned percent = total ? (unsigned)(done * 100 / total) : 0;
	char line[80];

	snprintf(line, sizeof(line), "%s: %u %%%s", what, percent,
		 t->work.can_stop ? "  (Esc stops)" : "");
	message_draw_work(t, line);
}

/* In a prompt by any key, which stays to be read; else by Esc or Ctrl-C, and what was typed before
 * them is dropped. */
static bool is_told_to_stop(struct tui *t)
{
	int key;

	while ((key = screen_look_ahead(t->screen)) > 0) {
		if (prompt_is_open(&t->prompt))
			return true;
		if (key == 27 || key == KEY_CTRL('c')) {
			screen_forget_keys(t->screen);
			return true;
		}
	}
	return key < 0;
}

static bool tick(void *data, size_t done, size_t total)
{
	struct tui *t = data;
	uint64_t now_ns;

	if (!t->screen || !t->work.key_ns)
		return true;
	now_ns = clock_monotonic_ns();
	if (now_ns - t->work.key_ns < SILENT_NS)
		return true;
	if (now_ns - t->work.drawn_ns >= REDRAW_NS) {
		t->work.drawn_ns = now_ns;
		draw(t, done, total);
	}
	if (!t->work.can_stop || !is_told_to_stop(t))
		return true;
	t->work.stopped = true;
	return false;
}

void work_init(struct tui *t)
{
	t->work.tick = (struct tick){tick, t};
	snapshot_set_tick(t->snap, &t->work.tick);
}

void work_serve(struct tui *t, bool on)
{
	t->work.key_ns = on ? clock_monotonic_ns() : 0;
	t->work.drawn_ns = 0;
	t->work.what = NULL;
	t->work.can_stop = t->work.stopped = false;
}

void work_begin(struct tui *t, const char *what)
{
	t->work.what = what;
	t->work.can_stop = true;
	t->work.stopped = false;
}

void work_end(struct tui *t)
{
	t->work.can_stop = false;
}
