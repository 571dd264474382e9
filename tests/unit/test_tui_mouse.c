/* SPDX-License-Identifier: MIT */
/* What the buttons of the mouse do, by the text that is pressed on. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/requests.h"
#include "tui/tui_impl.h"

static const struct tui_options live = {.live = true, .command = "top", .ascii = true};
static struct world w;

static void setup(void)
{
	world_init(&w);
	world_open(&w, &live);
	world_tick(&w);
	ck_assert(!world_shows(&w, "no such text"));
}

static void teardown(void)
{
	world_done(&w);
}

/* Press where the text stands on the screen; columns to its right are added. */
static void press_beside(enum mouse_button button, const char *text, int columns)
{
	struct mouse_event event = {.button = button};
	struct buf screen;
	const char *at, *line;

	buf_init(&screen, 1 << 20);
	ck_assert_int_eq(tui_dump(w.t, 24, 80, false, &screen), 0);
	at = strstr(buf_str(&screen), text);
	ck_assert_msg(at != NULL, "no '%s'", text);
	for (line = buf_str(&screen); line <= at; event.y++) {
		event.x = (int)(at - line);
		line = strchr(line, '\n') + 1;
	}
	event.y--;
	event.x += columns;
	buf_done(&screen);
	mouse_press(w.t, &event);
}

static void press(const char *text)
{
	press_beside(MOUSE_LEFT, text, 0);
}

static const char *here(void)
{
	struct panel *p = tui_panel(w.t);

	panel_refresh(p);
	return p->ops->row_name(p, p->cursor);
}

START_TEST(rows)
{
	size_t before = tui_panel(w.t)->n_rows;

	press("flash_bwd");
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	press("backward");
	ck_assert_str_eq(here(), "backward");
	ck_assert_uint_eq(tui_panel(w.t)->n_rows, before);
	press("backward"); /* the second one */
	ck_assert_uint_eq(tui_panel(w.t)->n_rows, before - 4);
	press("backward"); /* the first one of two others */
	ck_assert_uint_eq(tui_panel(w.t)->n_rows, before - 4);
	clock_fake(w.now_ns + NSEC_PER_SEC);
	press("backward"); /* too late */
	ck_assert_uint_eq(tui_panel(w.t)->n_rows, before - 4);
	press_beside(MOUSE_LEFT, "[+] backward", 1); /* its fold marker needs one */
	ck_assert_uint_eq(tui_panel(w.t)->n_rows, before);
	press_beside(MOUSE_RIGHT, "rope_bwd", 0);
	press("everything known about it");
	ck_assert(world_shows(&w, "Where it ran"));
	press("(Esc closes)");
	ck_assert(!world_shows(&w, "Where it ran"));
}
END_TEST

START_TEST(tabs_keys_and_columns)
{
	struct panel *p;

	press("2:Kern");
	ck_assert_int_eq(w.t->current, TUI_PANEL_KERNELS);
	p = tui_panel(w.t);
	press("CALLS");
	ck_assert_str_eq(p->columns.v[p->sort].title, "CALLS");
	ck_assert(!p->ascending);
	press("CALLS");
	ck_assert(p->ascending);
	press("SELF");
	ck_assert_str_eq(p->columns.v[p->sort].title, "SELF");
	ck_assert(!p->ascending);
	press("Help");
	ck_assert(w.t->overlay == w.t->help);
	press("5:Loss");
	ck_assert_int_eq(w.t->current, TUI_PANEL_LOSSES);
	ck_assert_ptr_null(w.t->overlay);
}
END_TEST

START_TEST(menus)
{
	struct panel *p = tui_panel(w.t);

	press("Sort");
	ck_assert(menu_is_open(&w.t->menu));
	press_beside(MOUSE_WHEEL_DOWN, "sort by", 0);
	ck_assert_int_eq(w.t->menu.cursor, 1);
	press("CALLS  executions");
	ck_assert(!menu_is_open(&w.t->menu));
	ck_assert_str_eq(p->columns.v[p->sort].title, "CALLS");
	press("Sort");
	press("proton top"); /* beside it: closes it */
	ck_assert(!menu_is_open(&w.t->menu));
	world_keys(&w, "/ 'x'");
	press("2:Kern"); /* a slip does not take what was typed */
	ck_assert(prompt_is_open(&w.t->prompt));
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
}
END_TEST

START_TEST(wheel)
{
	static const char *const lists[] = {"?", "1 E"};
	struct panel *p;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		world_keys(&w, lists[i]);
		ck_assert(!world_shows(&w, "no such text"));
		p = tui_panel(w.t);
		press_beside(MOUSE_WHEEL_DOWN, "proton", 0);
		ck_assert_uint_eq(p->top, 3);
		ck_assert_uint_eq(p->cursor, 3 * i); /* a text has none */
		press_beside(MOUSE_WHEEL_UP, "proton", 0);
		press_beside(MOUSE_WHEEL_UP, "proton", 0);
		ck_assert_uint_eq(p->top, 0);
		for (int n = 0; n < 100; n++)
			press_beside(MOUSE_WHEEL_DOWN, "proton", 0);
		ck_assert_uint_eq(p->top, p->n_rows - (size_t)p->height);
		world_keys(&w, "Esc");
	}
}
END_TEST

/* Looking back with the wheel, output that comes meanwhile does not take one to its end. */
START_TEST(wheel_in_the_log)
{
	char text[4096] = "";
	struct panel *p;

	for (unsigned i = 0; i < 60; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "line %u\n", i);
	w.log = text;
	world_keys(&w, "6");
	ck_assert(world_shows(&w, "line 59"));
	p = tui_panel(w.t);
	press_beside(MOUSE_WHEEL_UP, "line 59", 0);
	ck_assert(world_shows(&w, "End follows"));
	strcat(text, "line 60\n");
	tui_log_grew(w.t);
	ck_assert(!world_shows(&w, "line 60"));
	ck_assert(world_shows(&w, "line 56"));
	press_beside(MOUSE_WHEEL_DOWN, "line 56", 0);
	press_beside(MOUSE_WHEEL_DOWN, "line 56", 0);
	ck_assert_uint_eq(p->top, p->n_rows - (size_t)p->height);
	strcat(text, "line 61\n");
	tui_log_grew(w.t);
	ck_assert(world_shows(&w, "line 61"));
}
END_TEST

/* The box that is selected is where the wheel has taken the cursor to. */
START_TEST(wheel_in_the_flames)
{
	struct panel *p;
	struct buf out;
	size_t cursor;

	buf_init(&out, 1 << 20);
	world_keys(&w, "9 H");
	ck_assert_int_eq(tui_dump(w.t, 8, 80, false, &out), 0);
	p = tui_panel(w.t);
	ck_assert_uint_gt(p->top, 0);
	panel_scroll(p, -100);
	cursor = p->cursor;
	ck_assert_uint_lt(cursor, p->n_rows - 1);
	panel_spoil(p); /* where the rows are made anew, the cursor goes to the selected box */
	panel_refresh(p);
	ck_assert_uint_eq(p->cursor, cursor);
	buf_done(&out);
}
END_TEST

/* Anywhere in any panel, at any size that was not the one drawn. */
START_TEST(presses_everywhere)
{
	struct buf out;

	for (unsigned panel = 0; panel < TUI_N_PANELS; panel++)
		for (int y = -1; y < 30; y++)
			for (int x = -1; x < 90; x += 7) {
				struct mouse_event event = {(unsigned)(x + y) % 4, y, x};

				if (x < 0) {
					buf_init(&out, 0);
					tui_dump(w.t, 24, 80, false, &out);
					buf_done(&out);
				}
				mouse_press(w.t, &event);
				w.n_actions = 0;
				menu_close(&w.t->menu);
				w.t->prompt.label = NULL;
				tui_show_panel(w.t, panel);
			}
}
END_TEST

START_TEST(given_back)
{
	world_keys(&w, "M");
	ck_assert(!w.t->has_mouse);
	ck_assert(world_shows(&w, "the terminal's"));
	world_keys(&w, "M");
	ck_assert(w.t->has_mouse);
}
END_TEST

/* Any keys and presses in any order, at changing sizes, with changing data: the same ones each
 * time. */
START_TEST(anything_in_any_order)
{
	static const char keys[] =
		"jkgl h\te=oEC./&!\\*(a\rdyYOfmGx%MVtvpWi?1234567890qQ>I\33\33\33\25";
	static const int sizes[][2] = {{24, 80}, {10, 40}, {5, 20}, {40, 140}};
	uint32_t seed = 11 * (uint32_t)_i;
	struct buf out;

	w.t->options.print_dir = "/nonexistent";
	for (int i = 0; i < 4000; i++) {
		uint32_t r = (seed = seed * 1664525 + 1013904223) >> 8;
		struct mouse_event event = {r % 4, (int)(r >> 2) % 26 - 1, (int)(r >> 8) % 90 - 1};

		w.n_actions = 0;
		w.typed[0] = '\0';
		if (r % 5 == 0)
			mouse_press(w.t, &event);
		else
			tui_key(w.t, r % 37 == 1 ? KEY_FUNCTION | KEY_F(1 + (int)(r % 12))
						 : keys[(r >> 4) % (sizeof(keys) - 1)]);
		if (i % 200 == 0)
			world_tick(&w);
		if (i % 3)
			continue;
		buf_init(&out, 0);
		tui_dump(w.t, sizes[i / 500 % 4][0], sizes[i / 500 % 4][1], false, &out);
		ck_assert_int_eq(out.error, 0);
		buf_done(&out);
	}
}
END_TEST

Suite *suite_mouse(void)
{
	const TTest *const tests[] = {
		rows,
		tabs_keys_and_columns,
		menus,
		wheel,
		wheel_in_the_log,
		wheel_in_the_flames,
		presses_everywhere,
		given_back,
	};
	Suite *s = suite_create("mouse");
	TCase *c = tcase_create("mouse");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, anything_in_any_order, 1, 4);
	suite_add_tcase(s, c);
	return s;
}
