/* SPDX-License-Identifier: MIT */
/* Golden screens: every panel and overlay, by size and by what the terminal can show. */
#include "config.h" // IWYU pragma: keep
#include "test_tui_session.h"
#include <string.h>

static const struct tui_options live_utf8 = {.live = true, .command = "top"};
static const struct tui_options live_ascii = {.live = true, .command = "top", .ascii = true};
static const struct tui_options live_mono = {.live = true, .command = "top", .theme = "mono"};

/* One screen: options, keys, size. All are of the made-up run one second in. */
static const struct {
	const char *name;
	const struct tui_options *options;
	const char *keys;
	int rows, cols;
} screens[] = {
	{"tree_80x24", &live_utf8, "", 24, 80},
	{"tree_80x24_ascii", &live_ascii, "", 24, 80},
	{"tree_140x40", &live_utf8, "", 40, 140},
	{"tree_40x10", &live_utf8, "", 10, 40},
	{"tree_80x24_mono", &live_mono, "Down Down", 24, 80},
	{"tree_folded", &live_utf8, "C", 24, 80},
	{"tree_hot_path", &live_utf8, "C H", 24, 80},
	{"tree_zoomed", &live_utf8, "Down .", 24, 80},
	{"tree_percent_of_parent", &live_utf8, "%", 24, 80},
	{"tree_sorted_by_calls", &live_utf8, "> > >", 24, 80},
	{"tree_ascending", &live_utf8, "I", 24, 80},
	{"tree_filtered", &live_utf8, "\\ 'flash' Enter", 24, 80},
	{"tree_search_prompt", &live_utf8, "/ 'gemm'", 24, 80},
	{"tree_search_found", &live_utf8, "/ 'gemm' Enter n", 24, 80},
	{"tree_by_device", &live_utf8, "G G E", 24, 80},
	{"tree_frozen", &live_utf8, "z", 24, 80},
	{"tree_paused", &live_utf8, "P", 24, 80},
	{"sort_menu", &live_utf8, "F6", 24, 80},
	{"sort_menu_40x10", &live_utf8, "F6", 10, 40},
	{"leave_menu", &live_utf8, "q", 24, 80},
	{"signal_menu", &live_ascii, "K", 24, 80},
	{"flat_80x24", &live_utf8, "2", 24, 80},
	{"flat_140x40", &live_utf8, "2", 40, 140},
	{"flat_40x10", &live_ascii, "2", 10, 40},
	{"flat_filtered", &live_utf8, "2 \\ 'gemm' Enter A", 24, 80},
	{"memory_80x24", &live_utf8, "3", 24, 80},
	{"memory_140x40", &live_utf8, "3", 40, 140},
	{"memory_40x10", &live_ascii, "3", 10, 40},
	{"devices_80x24", &live_utf8, "4", 24, 80},
	{"devices_140x40", &live_utf8, "4", 40, 140},
	{"losses_none", &live_utf8, "5", 24, 80},
	{"log_none", &live_utf8, "6", 24, 80},
	{"help_80x24", &live_utf8, "?", 24, 80},
	{"help_40x10", &live_ascii, "? PgDn", 10, 40},
	{"help_140x40", &live_utf8, "? PgDn", 40, 140},
	{"detail_kernel", &live_utf8, "/ 'flash_fwd' Enter Enter", 40, 140},
	{"detail_80x24_ascii", &live_ascii, "/ 'flash_fwd' Enter Enter", 24, 80},
	{"detail_scope", &live_utf8, "Down Enter", 24, 80},
};

START_TEST(screen)
{
	struct world w;
	struct buf scratch;

	world_init(&w);
	world_open(&w, screens[_i].options);
	world_tick(&w);
	/* Drawn once before the keys, so that they act on what a person sees. */
	buf_init(&scratch, 0);
	tui_dump(w.t, screens[_i].rows, screens[_i].cols, false, &scratch);
	buf_done(&scratch);
	world_keys(&w, screens[_i].keys);
	world_golden(&w, screens[_i].rows, screens[_i].cols, screens[_i].name);
	world_done(&w);
}
END_TEST

START_TEST(attributes_follow_roles)
{
	struct world w;

	world_init(&w);
	world_open(&w, &live_utf8);
	world_tick(&w);
	world_keys(&w, "Down / 'flash' Enter");
	world_golden_attributes(&w, 24, 80, "tree_attributes");
	world_done(&w);
}
END_TEST

Suite *suite_screens(void)
{
	Suite *s = suite_create("screens");
	TCase *c = tcase_create("golden");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, screen, 0, (int)(sizeof(screens) / sizeof(screens[0])));
	tcase_add_test(c, attributes_follow_roles);
	suite_add_tcase(s, c);
	return s;
}
