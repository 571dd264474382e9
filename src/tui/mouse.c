/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/mouse.h"
#include "base/clock.h"
#include "tui/requests.h"
#include "tui/tui_impl.h"

#define TWICE_NS   (400 * NSEC_PER_MSEC) /* between the presses of a double click */
#define WHEEL_ROWS 3

/* Is it the second press of two at one place? A third one begins anew. */
static bool is_second(struct tui *t, const struct mouse_event *event)
{
	struct mouse before = t->mouse;
	uint64_t now_ns = clock_monotonic_ns();
	bool second = before.time_ns && now_ns - before.time_ns <= TWICE_NS &&
		      before.y == event->y && before.x == event->x;

	t->mouse = (struct mouse){second ? 0 : now_ns, event->y, event->x};
	return second;
}

static void sort_by(struct panel *p, unsigned column)
{
	if (p->sort == column) {
		p->ascending = !p->ascending;
		panel_spoil(p);
	} else {
		panel_sort(p, column);
	}
}

/* A row was pressed: once to go there, twice to fold or unfold it, with the right button for what
 * can be done with it. */
static void press_row(struct tui *t, size_t row, const struct mouse_event *event)
{
	bool second = event->button == MOUSE_LEFT && is_second(t, event);
	struct panel *p = tui_panel(t);

	if (p->no_cursor || row >= p->n_rows)
		return;
	panel_goto(p, row);
	panel_moved(p);
	if (p->cursor == row && event->button == MOUSE_RIGHT)
		tui_do_request(t, REQ_MENU);
	else if (p->cursor == row && second)
		tui_do_request(t, REQ_TOGGLE);
}

/* A part of a picture: once to select it, twice to zoom in, with the right button to go back. */
static void press_part(struct tui *t, int part, const struct mouse_event *event)
{
	struct panel *p = tui_panel(t);

	if (event->button == MOUSE_RIGHT) {
		tui_do_request(t, REQ_ZOOM_OUT);
		return;
	}
	if (!p->ops->pick) /* another panel has drawn it */
		return;
	p->ops->pick(p, part);
	if (is_second(t, event))
		tui_do_request(t, REQ_ZOOM);
}

static void press_hit(struct tui *t, const struct hit *hit, const struct mouse_event *event)
{
	switch (hit->kind) {
	case HIT_TAB:
		tui_show_panel(t, (enum tui_panel)hit->value);
		break;
	case HIT_REQUEST:
		tui_do_request(t, (enum request)hit->value);
		break;
	case HIT_SORT:
		sort_by(tui_panel(t), (unsigned)hit->value);
		break;
	case HIT_FOLD:
		panel_goto(tui_panel(t), (size_t)hit->value);
		tui_do_request(t, REQ_TOGGLE);
		break;
	case HIT_ROW:
		press_row(t, (size_t)hit->value, event);
		break;
	case HIT_PART:
		press_part(t, hit->value, event);
		break;
	case HIT_CHOICE:
		break;
	}
}

static void press_menu(struct tui *t, const struct hit *hit, const struct mouse_event *event)
{
	if (event->button == MOUSE_WHEEL_UP || event->button == MOUSE_WHEEL_DOWN)
		menu_move(&t->menu, event->button == MOUSE_WHEEL_UP ? -1 : 1);
	else if (hit && hit->kind == HIT_CHOICE)
		menu_choose(&t->menu, t, hit->value);
	else
		menu_close(&t->menu); /* beside it */
}

void mouse_press(struct tui *t, const struct mouse_event *event)
{
	const struct hit *hit = hits_find(&t->hits, event->y, event->x);
	struct panel *p = tui_panel(t);
	int row = event->y - p->y;

	if (prompt_is_open(&t->prompt))
		return; /* what was typed is not lost to a slip */
	t->message[0] = '\0';
	panel_refresh(p); /* what was drawn may be gone */
	p->is_touched |= !hit || (hit->kind != HIT_TAB && hit->kind != HIT_REQUEST);
	if (menu_is_open(&t->menu))
		press_menu(t, hit, event);
	else if (event->button == MOUSE_WHEEL_UP || event->button == MOUSE_WHEEL_DOWN)
		panel_scroll(p, event->button == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
	else if (hit)
		press_hit(t, hit, event);
	else if (row >= 0 && row < p->height)
		press_row(t, p->top + (size_t)row, event);
}
