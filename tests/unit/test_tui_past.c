/* SPDX-License-Identifier: MIT */
/* What rows were in the windows before: kept of those that were drawn, and drawn. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/past.h"
#include "tui/row_past.h"
#include "tui/tui_impl.h"

static const struct tui_options live = {.live = true, .command = "top"};

START_TEST(windows_in_their_order)
{
	struct past p = {0};
	struct past_row *r = past_draw(&p, 7, 3);
	float v[PAST_WINDOWS];

	past_note(r, 3, 30);
	past_note(r, 3, 31); /* known better */
	past_note(r, 6, 60);
	past_note(r, 5, 50); /* too late */
	past_read(r, 7, v);
	for (int i = 0; i < PAST_WINDOWS; i++) {
		int window = 7 - (PAST_WINDOWS - 1) + i;

		if (window == 3 || window == 6)
			ck_assert_float_eq(v[i], window == 3 ? 31 : 60);
		else
			ck_assert_msg(isnan(v[i]), "window %d", window);
	}
	past_note(r, 6 + PAST_WINDOWS, 1); /* the last one that still shows window 7 */
	past_read(r, 6 + PAST_WINDOWS, v);
	for (int i = 0; i + 1 < PAST_WINDOWS; i++)
		ck_assert(isnan(v[i]));
	ck_assert_float_eq(v[PAST_WINDOWS - 1], 1);
	past_done(&p);
}
END_TEST

/* However many rows somebody pages through, no more than a bound are kept: the last ones. */
START_TEST(rows_are_bounded)
{
	struct past p = {0};

	for (uint64_t key = 0; key < 10 * PAST_ROWS; key++) {
		past_note(past_draw(&p, key, key / 40), key / 40, (double)key);
		ck_assert_uint_le(p.n, PAST_ROWS);
	}
	for (uint64_t i = 1; i <= 40; i++)
		ck_assert_ptr_nonnull(past_find(&p, 10 * PAST_ROWS - i));
	ck_assert_ptr_null(past_find(&p, 0));
	for (uint64_t key = 0; key < 3 * PAST_ROWS; key++) { /* all of them in one window */
		ck_assert_ptr_nonnull(past_draw(&p, key, 1 << 20));
		ck_assert_uint_le(p.n, PAST_ROWS);
	}
	past_done(&p);
}
END_TEST

/* One kernel works in every third window, another one more and more. */
static void window(struct world *w, int i)
{
	static const char *const names[] = {"every_third", "more_and_more"};
	const uint64_t n = (uint64_t)i, ms[] = {(n / 3 + 1) * 300, n * (n + 1) / 2 * 10};
	struct buf drawn;

	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		world_kernel(w, world_node(w, w->forward, FRAME_KERNEL, names[k]), w->lanes[0],
			     &(struct kernel_values){ms[k] * NSEC_PER_MSEC, 1, 1, 2});
	w->now_ns += NSEC_PER_SEC;
	clock_fake(w->now_ns);
	ck_assert_int_eq(tui_refresh(w->t), 0);
	buf_init(&drawn, 0);
	tui_dump(w->t, 24, 130, false, &drawn);
	buf_done(&drawn);
}

static const struct {
	const char *name, *keys;
	bool ascii;
} trends[] = {
	{"trend_tree", "", false},
	{"trend_kernels", "2", false},
	{"trend_ascii", "2", true},
};

START_TEST(drawn)
{
	struct tui_options options = live;
	struct world w;

	options.ascii = trends[_i].ascii;
	world_init(&w);
	world_open(&w, &options);
	world_keys(&w, trends[_i].keys);
	for (int i = 0; i < 20; i++)
		window(&w, i);
	world_golden(&w, 24, 130, trends[_i].name);
	world_done(&w);
}
END_TEST

/* Who looks elsewhere for some windows finds a gap in the kernels, but none in the tree. */
START_TEST(gaps)
{
	float v[PAST_WINDOWS];
	struct world w;
	struct panel *p;

	world_init(&w);
	world_open(&w, &live);
	for (int i = 0; i < 8; i++) {
		world_keys(&w, i % 4 ? "1" : "2");
		window(&w, i);
	}
	world_keys(&w, "2");
	p = tui_panel(w.t);
	panel_refresh(p);
	ck_assert(row_past_read(p->rows, p, 0, v));
	ck_assert(isnan(v[PAST_WINDOWS - 2]) && isnan(v[PAST_WINDOWS - 3]));
	ck_assert(!isnan(v[PAST_WINDOWS - 4]) && !isnan(v[PAST_WINDOWS - 8]));
	p = w.t->panels[TUI_PANEL_TREE];
	panel_refresh(p);
	ck_assert(row_past_read(p->rows, p, 0, v));
	for (int i = 1; i <= 6; i++)
		ck_assert(!isnan(v[PAST_WINDOWS - i]));
	world_keys(&w, "1 G"); /* other nodes have these numbers now */
	ck_assert_uint_eq(p->rows->past.n, 0);
	world_done(&w);
}
END_TEST

/* On a narrow screen numbers come first, unless it was asked for. */
START_TEST(where_there_is_room)
{
	struct tui_options options = live;
	struct world w;

	world_init(&w);
	world_open(&w, &live);
	ck_assert(!world_shows(&w, "TREND"));
	ck_assert(!world_shows(&w, "SHARE"));
	world_done(&w);
	options.metrics = "total,trend,share";
	world_init(&w);
	world_open(&w, &options);
	ck_assert(world_shows(&w, "TREND"));
	ck_assert(world_shows(&w, "SHARE"));
	world_keys(&w, "7"); /* whose rows are made anew with each picture */
	ck_assert(!world_shows(&w, "TREND"));
	world_done(&w);
}
END_TEST

Suite *suite_past(void)
{
	const TTest *const tests[] = {windows_in_their_order, rows_are_bounded, gaps,
				      where_there_is_room};
	Suite *s = suite_create("past");
	TCase *c = tcase_create("past");

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, drawn, 0, ARRAY_SIZE(trends));
	suite_add_tcase(s, c);
	return s;
}
