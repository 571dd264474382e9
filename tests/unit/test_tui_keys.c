/* SPDX-License-Identifier: MIT */
/* What keys do: cursor, fold state, search, prompts, menus, and what the host is asked. */
#include "config.h" // IWYU pragma: keep
#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/keys.h"
#include "tui/requests.h"
#include "tui/tabs.h"
#include "tui/tui_impl.h"

static const struct tui_options live = {.live = true, .command = "top"};
static struct world w;

static void draw(void)
{
	ck_assert(!world_shows(&w, "no such text"));
}

static void setup(void)
{
	world_init(&w);
	world_open(&w, &live);
	world_tick(&w);
	draw();
}

static void teardown(void)
{
	world_done(&w);
}

/* Name under the cursor of the panel in front. */
static const char *here(void)
{
	struct panel *p = tui_panel(w.t);

	panel_refresh(p);
	ck_assert_uint_lt(p->cursor, p->n_rows);
	return p->ops->row_name(p, p->cursor);
}

static size_t n_rows(void)
{
	struct panel *p = tui_panel(w.t);

	panel_refresh(p);
	return p->n_rows;
}

START_TEST(moving)
{
	ck_assert_str_eq(here(), "ROOT");
	world_keys(&w, "j Down");
	ck_assert_str_eq(here(), "backward");
	world_keys(&w, "k k k k");
	ck_assert_str_eq(here(), "ROOT");
	world_keys(&w, "End");
	ck_assert_str_eq(here(), "eval");
	world_keys(&w, "b PgUp");
	ck_assert_str_eq(here(), "ROOT");
	world_keys(&w, "Home");
	ck_assert_str_eq(here(), "ROOT");
	world_keys(&w, "C-d C-u Space b g");
	ck_assert_str_eq(here(), "ROOT");
}
END_TEST

START_TEST(folding)
{
	size_t before = n_rows();

	world_keys(&w, "j j -");
	ck_assert_str_eq(here(), "backward");
	ck_assert_uint_eq(n_rows(), before - 4);
	world_keys(&w, "+");
	ck_assert_uint_eq(n_rows(), before);
	world_keys(&w, "Left Left"); /* fold, then to the parent */
	ck_assert_str_eq(here(), "train_step");
	world_keys(&w, "l l"); /* open already: to the first child */
	ck_assert_str_eq(here(), "backward");
	world_keys(&w, "l l");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad");
	world_keys(&w, "u c");
	ck_assert_str_eq(here(), "backward");
	world_keys(&w, "E");
	ck_assert_uint_eq(n_rows(), snapshot_n(w.snap));
	world_keys(&w, "C");
	ck_assert_uint_eq(n_rows(), 3);
	ck_assert_str_eq(here(), "train_step"); /* where the folded row went */
	world_keys(&w, "=");
	ck_assert_uint_gt(n_rows(), 10);
}
END_TEST

/* Rows that a key splices are the rows that a rebuild makes. */
START_TEST(splicing_equals_building)
{
	static const char *const keys[] = {"E", "C", "j", "o", "j", "e",
					   "k", "c", "H", "u", "o", "o"};
	char before[64][64];
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct panel *p = tui_panel(w.t);

		world_keys(&w, keys[i]);
		n = n_rows();
		for (size_t row = 0; row < n; row++)
			snprintf(before[row], sizeof(before[row]), "%s", p->ops->row_name(p, row));
		panel_spoil(p);
		ck_assert_uint_eq(n_rows(), n);
		for (size_t row = 0; row < n; row++)
			ck_assert_str_eq(before[row], p->ops->row_name(p, row));
	}
}
END_TEST

/* By key, from the menu and step by step; no log without a program's output. */
START_TEST(choosing_panels)
{
	world_keys(&w, "v Down Enter");
	ck_assert_uint_eq(w.t->current, TUI_PANEL_KERNELS);
	world_keys(&w, "v 4");
	ck_assert_uint_eq(w.t->current, TUI_PANEL_DEVICES);
	world_keys(&w, "1 S-Tab");
	ck_assert_uint_eq(w.t->current, TUI_PANEL_FINDINGS); /* the last one that there is */
	w.t->host.log = NULL;
	world_keys(&w, "5 Tab");
	ck_assert_uint_ne(w.t->current, TUI_PANEL_LOG);
}
END_TEST

START_TEST(neighbours)
{
	world_keys(&w, "H");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad"); /* by total: step, backward, wgrad */
	world_keys(&w, "}");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_dgrad");
	world_keys(&w, "{ {");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad");
	world_keys(&w, "u }");
	ck_assert_str_eq(here(), "forward");
	world_keys(&w, "L L");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	world_keys(&w, "L");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	ck_assert(world_shows(&w, "nothing is below this row"));
	world_keys(&w, "9 L L L L L L L L");
	ck_assert(world_shows(&w, "nothing is below this"));
}
END_TEST

/* New nodes and another order never move the cursor off its node. */
START_TEST(cursor_stays_on_its_node)
{
	uint32_t hot;

	world_keys(&w, "j j j j j");
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	hot = world_node(&w, SESSION_ROOT, FRAME_SCOPE, "newcomer");
	world_kernel(&w, hot, w.lanes[0], &(struct kernel_values){UINT64_C(900000000000), 1, 1, 1});
	world_tick(&w);
	draw();
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	world_keys(&w, "I");
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	world_keys(&w, "A");
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
}
END_TEST

START_TEST(searching)
{
	world_keys(&w, "C / 'flash' Enter"); /* below folded nodes too */
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	world_keys(&w, "n");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "n");
	ck_assert_str_eq(here(), "flash_fwd<128,128>"); /* the one under eval */
	world_keys(&w, "n");
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	ck_assert(world_shows(&w, "began again"));
	world_keys(&w, "N N");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "N");
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	world_keys(&w, "/ 'FLASH' Enter");
	ck_assert(world_shows(&w, "not found"));   /* capitals count */
	world_keys(&w, "/ 'flash' Enter / Enter"); /* nothing typed: the same again */
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "/ 'FLASH' Enter / 'x' Esc");
	ck_assert_str_eq(w.t->search, "FLASH");
	world_keys(&w, "Esc");
	ck_assert_str_eq(w.t->search, "");
	world_keys(&w, "n");
	ck_assert(world_shows(&w, "nothing to find yet"));
	world_keys(&w, "Down / 'ROOT' Enter"); /* the root is a row, too: the first one */
	ck_assert_str_eq(here(), "ROOT");
	ck_assert(world_shows(&w, "began again"));
	world_keys(&w, "/ 'O' Enter n N");
	ck_assert_str_eq(here(), "ROOT");
}
END_TEST

START_TEST(searching_lists)
{
	world_keys(&w, "2 / 'rope' Enter");
	ck_assert_str_eq(here(), "rope_bwd");
	world_keys(&w, "n");
	ck_assert_str_eq(here(), "rope_fused");
	world_keys(&w, "n");
	ck_assert_str_eq(here(), "rope_bwd");
	world_keys(&w, "N");
	ck_assert_str_eq(here(), "rope_fused");
	world_keys(&w, "? / 'sibling' Enter");
	ck_assert(world_shows(&w, "next sibling"));
}
END_TEST

START_TEST(filtering)
{
	size_t all = n_rows();

	world_keys(&w, "\\ 'memcpy'");
	ck_assert_uint_eq(n_rows(), 4); /* root, step, two copies: as one types */
	world_keys(&w, "Esc");
	ck_assert_uint_eq(n_rows(), all);
	world_keys(&w, "\\ 'no such' Enter");
	ck_assert_uint_eq(n_rows(), 1);
	world_keys(&w, "2");
	ck_assert(world_shows(&w, "no kernel, copy or set has 'no such'"));
	ck_assert(!world_shows(&w, "below such a name"));
	world_keys(&w, "\\ BkSp C-u 'forward' Enter"); /* other panels have what is below it */
	ck_assert(world_shows(&w, "7 has those below such a name; so has this, with & forward"));
	world_keys(&w, "Esc & 'forward' Enter");
	ck_assert(world_shows(&w, "rope_fused"));
	world_keys(&w, "Esc");
	world_keys(&w, "1 Esc");
	ck_assert_str_eq(w.t->filter, "");
	world_keys(&w, "\\ 'attention' Enter E"); /* what is below a match stays */
	ck_assert(world_shows(&w, "rope_fused"));
	ck_assert(!world_shows(&w, "silu"));
	world_keys(&w, "F4 BkSp C-u Enter");
	ck_assert_str_eq(w.t->filter, "");
}
END_TEST

START_TEST(including_and_excluding)
{
	size_t all = n_rows();

	world_keys(&w, "& 'memcpy'");
	ck_assert_uint_eq(n_rows(), 4);      /* root, step, two copies: as one types */
	ck_assert(world_shows(&w, "625ms")); /* what is left is the total */
	world_keys(&w, "Space '('");
	ck_assert(world_shows(&w, "Unmatched")); /* said, and the one before stays */
	ck_assert_uint_eq(n_rows(), 4);
	world_keys(&w, "Enter");
	ck_assert(world_shows(&w, "'memcpy (' is no regular expression"));
	ck_assert_uint_eq(n_rows(), all);
	world_keys(&w, "& 'backward|eval' Enter ! '.*bwd|sm90.*dgrad' Enter E");
	ck_assert(world_shows(&w, "only: backward|eval"));
	ck_assert(world_shows(&w, "without: .*bwd"));
	ck_assert(world_shows(&w, "gemm_wgrad"));
	ck_assert(!world_shows(&w, "gemm_dgrad"));
	ck_assert(!world_shows(&w, "forward"));
	world_keys(&w, "2"); /* everywhere, with totals of what is left */
	ck_assert(!world_shows(&w, "flash_bwd"));
	ck_assert_uint_eq(n_rows(), 3);
	world_keys(&w, "1");
	world_tick(&w);
	ck_assert(!world_shows(&w, "gemm_dgrad"));
	world_keys(&w, "! Esc");
	ck_assert(!world_shows(&w, "gemm_dgrad"));
	world_keys(&w, "C"); /* what was folded stays so when names change */
	all = n_rows();
	world_keys(&w, "m m m");
	ck_assert_uint_eq(n_rows(), all);
	world_keys(&w, "E");
	world_keys(&w, "! C-u Enter");
	ck_assert(world_shows(&w, "gemm_dgrad"));
	world_keys(&w, "Esc");
	ck_assert(!world_shows(&w, "only:"));
	world_keys(&w, "=");
	ck_assert_uint_gt(n_rows(), 10);
	world_keys(&w, "& 'no such name' Enter"); /* the root alone */
	ck_assert_uint_eq(n_rows(), 1);
}
END_TEST

/* Conditions are of values of the whole, whatever is filtered already. */
START_TEST(including_by_values_and_paths)
{
	size_t all = n_rows(), some;

	world_keys(&w, "&");
	ck_assert(world_shows(&w, "names, time > 1ms, or **/conv*/*gemm*"));
	world_keys(&w, "'time '"); /* so far it is a name */
	ck_assert_uint_eq(n_rows(), 1);
	world_keys(&w, "'> '"); /* the one before stays until there is a number */
	ck_assert(world_shows(&w, "at 8: a number is wanted"));
	world_keys(&w, "'5s'");
	some = n_rows();
	ck_assert_uint_gt(some, 1);
	ck_assert_uint_lt(some, all);
	ck_assert(world_shows(&w, " of 22 rows, "));
	world_keys(&w, "Enter E");
	ck_assert(world_shows(&w, "only: time > 5s"));
	some = n_rows();
	for (unsigned i = 0; i < 3; i++) { /* not of what was left the time before */
		world_tick(&w);
		ck_assert_uint_eq(n_rows(), some);
	}
	world_keys(&w, "& C-u 'tme > 5s'");
	ck_assert(world_shows(&w, "at 1: no column 'tme'; near it: time"));
	world_keys(&w, "Enter");
	ck_assert(world_shows(&w, "'tme > 5s': at character 1: no column 'tme'; near it: time"));
	ck_assert(world_shows(&w, "only: time > 5s"));
	world_keys(&w, "& C-u '**/backward/*gemm*' Enter E");
	ck_assert(world_shows(&w, "sm90_xmma_gemm_wgrad"));
	ck_assert(!world_shows(&w, "rope_bwd"));
	world_keys(&w, "! 'time > 0' Enter"); /* the root stays to stand on */
	ck_assert_uint_eq(n_rows(), 1);
	ck_assert(world_shows(&w, "nothing is left"));
	ck_assert(!world_shows(&w, "P50")); /* it has none of anything, so no columns */
	world_keys(&w, "Esc & 'train_step/forward' Enter");
	ck_assert(world_shows(&w, "as a path it is 'train_step/forward/**'"));
	world_keys(&w, "& C-u 'train_step/forward/**' Enter");
	ck_assert_uint_gt(n_rows(), 1);
	world_keys(&w, "Esc & 'time>5s' Enter");
	ck_assert(world_shows(&w, "a comparison has blanks, as 'time > 1ms'"));
	world_keys(&w, "Esc");
	ck_assert(!world_shows(&w, "only:"));
}
END_TEST

/* What an expression leaves out is in no panel and in no group. */
START_TEST(excluding_everywhere)
{
	world_keys(&w, "! 'backward' Enter");
	for (unsigned panel = 0; panel < TUI_N_PANELS; panel++) {
		tui_show_panel(w.t, panel);
		world_keys(&w, "E");
		ck_assert_msg(!world_shows(&w, "flash_bwd"), "panel %u", panel);
		ck_assert_msg(!world_shows(&w, "wgrad"), "panel %u", panel);
	}
	world_keys(&w, "1");
	for (unsigned group = 0; group < GROUP_N; group++) {
		world_keys(&w, "G E");
		ck_assert_msg(!world_shows(&w, "wgrad"), "group %u", group);
		world_tick(&w);
		ck_assert_msg(!world_shows(&w, "wgrad"), "group %u", group);
		ck_assert(world_shows(&w, "flash_fwd"));
	}
	world_keys(&w, "Esc");
	ck_assert(world_shows(&w, "wgrad"));
}
END_TEST

START_TEST(zooming)
{
	world_keys(&w, "j j .");
	ck_assert_str_eq(here(), "backward");
	ck_assert_uint_eq(n_rows(), 5);
	world_keys(&w, "j .");
	ck_assert_uint_eq(n_rows(), 1);
	world_keys(&w, "Esc");
	ck_assert_uint_eq(n_rows(), 5);
	world_keys(&w, "BkSp BkSp BkSp");
	ck_assert_uint_gt(n_rows(), 10);
	world_keys(&w, "j j . / 'eval' Enter"); /* outside: not in this view */
	ck_assert(world_shows(&w, "not found"));
}
END_TEST

START_TEST(sorting)
{
	struct panel *tree = w.t->panels[TUI_PANEL_TREE];

	world_keys(&w, "s");
	ck_assert_uint_eq(tree->sort, 1);
	world_keys(&w, "< <");
	ck_assert_str_eq(tree->columns.v[tree->sort].title, "NAME");
	world_keys(&w, "<");
	ck_assert_str_eq(tree->columns.v[tree->sort].title, "TF/s"); /* HOST has no values */
	world_keys(&w, "B");
	ck_assert_str_eq(tree->columns.v[tree->sort].title, "BYTES");
	world_keys(&w, "F6 j Enter");
	ck_assert_str_eq(tree->columns.v[tree->sort].title, "GB/s");
	world_keys(&w, "F6 j j Esc");
	ck_assert_str_eq(tree->columns.v[tree->sort].title, "GB/s");
	world_keys(&w, "3 F6");
	ck_assert(world_shows(&w, "one order"));
}
END_TEST

START_TEST(choosing_columns)
{
	struct panel *tree = w.t->panels[TUI_PANEL_TREE], *flat = w.t->panels[TUI_PANEL_KERNELS];

	world_keys(&w, "f Space"); /* without TOTAL */
	ck_assert_str_eq(here(), "TOTAL");
	ck_assert(!world_shows(&w, "[x] TOTAL"));
	world_keys(&w, "f");
	ck_assert(!world_shows(&w, "TOTAL"));
	ck_assert_str_eq(tree->columns.v[tree->shown.v[0]].title, "%");
	world_keys(&w, "f Right Right"); /* % behind CALLS */
	ck_assert_str_eq(tree->choice.titles[2], "%");
	world_keys(&w, "Enter Enter"); /* off, and on at the right end */
	ck_assert_str_eq(here(), "%");
	ck_assert_str_eq(tree->choice.titles[tree->choice.n - 1], "%");
	world_keys(&w, "Esc 2");
	ck_assert_uint_eq(flat->choice.n, 0); /* each panel has its own */
	ck_assert(world_shows(&w, "SELF"));
	world_keys(&w, "1 F2 = Home");
	ck_assert_uint_eq(tree->choice.n, 0);
	ck_assert(world_shows(&w, "[x] TOTAL"));
	for (unsigned i = 0; i < tree->columns.n; i++)
		world_keys(&w, "Home Space");
	ck_assert(world_shows(&w, "one column stays"));
	ck_assert_uint_eq(tree->choice.n, 1);
	world_keys(&w, "Esc 3 f");
	ck_assert(world_shows(&w, "cannot be chosen"));
}
END_TEST

static const struct {
	const char *keys, *there, *absent;
} labels[] = {
	{"1", "F2Columns", "F7Tree"}, {"1", "F7Fold", "F7Tree"}, {"2", "F7Tree", "F5Group"},
	{"2", "F4Filter", "F7Fold"},  {"5", "F3Find", "F2"},     {"5", "F9Save", "F7"},
	{"6", "F1Help", "F4"},        {"7", "F7Fold", "F7Tree"}, {"9", "F7Zoom", "F2"},
	{"9", "F6Width", "F6Sort"},   {"0", "F7Tree", "F6"},     {"M-1", "F2Columns", "F6"},
	{"F1", "F1Close", "F7Fold"},  {"1 F2", "F2Close", "F4"},
};

/* A function key that does something else in a panel, or nothing, is not called what it is elsewhere. */
START_TEST(function_keys_of_panels)
{
	char with_keys[16];

	world_keys(&w, labels[_i].keys);
	snprintf(with_keys, sizeof(with_keys), " %s", labels[_i].absent);
	ck_assert_msg(world_shows(&w, labels[_i].there), "%s: no %s", labels[_i].keys,
		      labels[_i].there);
	ck_assert_msg(!world_shows(&w, with_keys), "%s: %s", labels[_i].keys, with_keys);
}
END_TEST

static bool tall_shows(const char *text)
{
	_cleanup_(buf_done) struct buf screen = {0};

	buf_init(&screen, 1 << 20);
	ck_assert_int_eq(tui_dump(w.t, 220, 80, false, &screen), 0);
	return strstr(buf_str(&screen), text) != NULL;
}

static int on_compare(void *data, const char *path)
{
	(void)data;
	(void)path;
	return 0;
}

/* Keys that would only say that they are not possible are not offered: a saved profile does not run, and
 * a run cannot be compared. */
START_TEST(help_of_a_file_offers_what_it_can)
{
	static const char *const keys[] = {"pause or resume collecting", "count from now",
					   "send a signal to the program"};
	static const struct tui_options file = {.command = "view"};

	for (int live = 1; live >= 0; live--) {
		if (!live) {
			w.t = tui_free(w.t);
			w.snap = snapshot_free(w.snap);
			world_open(&w, &file);
		}
		w.t->host.compare = live ? NULL : on_compare;
		world_keys(&w, "?");
		ck_assert(tall_shows("compare with another profile") == !live);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			ck_assert_msg(tall_shows(keys[i]) == live, "%s", keys[i]);
	}
}
END_TEST

/* What is special in the panel behind comes first. */
START_TEST(help_begins_with_the_panel)
{
	world_keys(&w, "9 ?");
	ck_assert(world_shows(&w, "In this panel (Flame)"));
	ck_assert(world_shows(&w, "zoom in; on the root: out"));
	world_keys(&w, "? 1 ?");
	ck_assert(world_shows(&w, "In this panel (Tree)"));
	ck_assert(!world_shows(&w, "zoom in"));
	world_keys(&w, "? 5 ?");
	ck_assert(world_shows(&w, "In this panel (Losses)"));
	ck_assert(!world_shows(&w, "show this row in the tree"));
	world_keys(&w, "? 4 ?");
	ck_assert(world_shows(&w, "In this panel (Devices)"));
	ck_assert(tall_shows("OVERLAP%      share of the time of other work in which copies ran"));
	ck_assert(tall_shows(
		"LAUNCHES      kernels and whole graphs asked for; with OpenCL copies, too"));
}
END_TEST

START_TEST(freezing)
{
	world_keys(&w, "z");
	world_tick(&w);
	ck_assert(world_shows(&w, "FROZEN"));
	ck_assert(world_shows(&w, "43.67s"));
	world_keys(&w, "F8");
	ck_assert(!world_shows(&w, "43.67s"));
	ck_assert(world_shows(&w, "LIVE"));
}
END_TEST

START_TEST(resetting)
{
	ck_assert(world_shows(&w, "▼TOTAL"));
	world_keys(&w, "r");
	ck_assert(world_shows(&w, "since 00:01:02"));
	/* nothing has come yet: the columns and their order stay, but for those that are not known */
	ck_assert(world_shows(&w, "▼TOTAL"));
	ck_assert(world_shows(&w, "CALLS"));
	ck_assert(!world_shows(&w, "P50"));
	world_tick(&w);
	ck_assert(world_shows(&w, "▼TOTAL"));
	ck_assert(world_shows(&w, "1.09s")); /* what a second adds */
	world_keys(&w, "d");                 /* places and durations are of the whole run */
	ck_assert(!world_shows(&w, "Where it ran"));
	world_keys(&w, "Esc R d");
	ck_assert(world_shows(&w, "Where it ran"));
	world_keys(&w, "Esc");
	ck_assert(!world_shows(&w, "since"));
	ck_assert(world_shows(&w, "▼TOTAL"));
	ck_assert(world_shows(&w, "44.76s"));
}
END_TEST

/* What has come before is not missing, and what is of the whole run says so. */
START_TEST(resetting_before_the_end)
{
	world_keys(&w, "r 9");
	ck_assert(world_shows(&w, "nothing has been counted since 00:01:02"));
	ck_assert(world_shows(&w, "R counts the whole run"));
	ck_assert(!world_shows(&w, "no record of them"));
	ck_assert(!world_shows(&w, "whole run here"));
	world_keys(&w, "4");
	ck_assert(world_shows(&w, "whole run here"));
	world_keys(&w, "2");
	w.status.run = TUI_RUN_ENDED;
	w.s->ended = true;
	world_tick(&w);
	ck_assert(world_shows(&w, "whole run:"));
	world_keys(&w, "R r");
	ck_assert(world_shows(&w, "the program has ended"));
	ck_assert(!world_shows(&w, "whole run:"));
	ck_assert(!world_shows(&w, "since 00"));
	world_keys(&w, "4");
	ck_assert(!world_shows(&w, "whole run here"));
}
END_TEST

START_TEST(pausing)
{
	world_keys(&w, "P");
	ck_assert(world_shows(&w, "PAUSED"));
	world_keys(&w, "P");
	ck_assert_uint_eq(w.n_actions, 2);
	ck_assert_int_eq(w.actions[0], TUI_PAUSE);
	ck_assert_int_eq(w.actions[1], TUI_RESUME);
	world_keys(&w, "F9 C-r");
	ck_assert_int_eq(w.actions[2], TUI_SAVE);
	ck_assert_int_eq(w.actions[3], TUI_RESYNC);
	ck_assert(world_shows(&w, "not possible here"));
}
END_TEST

START_TEST(leaving_asks_while_the_program_runs)
{
	world_keys(&w, "q");
	ck_assert(world_shows(&w, "still runs"));
	world_keys(&w, "Esc");
	ck_assert(!world_shows(&w, "still runs"));
	world_keys(&w, "Q c F10 d");
	ck_assert_uint_eq(w.n_actions, 1);
	ck_assert_int_eq(w.actions[0], TUI_DETACH);
	world_keys(&w, "C-c s");
	ck_assert_int_eq(w.actions[1], TUI_STOP_APP);
	ck_assert_uint_eq(w.n_actions, 2);
}
END_TEST

START_TEST(interrupt_twice_stops_and_leaves)
{
	world_keys(&w, "C-c");
	ck_assert(world_shows(&w, "Ctrl-C again"));
	world_keys(&w, "C-c");
	ck_assert_uint_eq(w.n_actions, 2);
	ck_assert_int_eq(w.actions[0], TUI_STOP_APP);
	ck_assert_int_eq(w.actions[1], TUI_QUIT);
}
END_TEST

/* … but two reflexes a minute apart do not. */
START_TEST(interrupt_late_asks_again)
{
	world_keys(&w, "C-c");
	clock_fake(w.now_ns + 60 * NSEC_PER_SEC);
	world_keys(&w, "C-c");
	ck_assert_uint_eq(w.n_actions, 0);
	ck_assert(world_shows(&w, "still runs"));
}
END_TEST

/* A question about a program that has ended is none any more. */
START_TEST(the_end_answers_for_itself)
{
	world_keys(&w, "C-c");
	ck_assert(world_shows(&w, "Ctrl-C again"));
	w.status.run = TUI_RUN_ENDED;
	tui_refresh(w.t);
	ck_assert(!world_shows(&w, "Ctrl-C again"));
	world_keys(&w, "q");
	ck_assert_uint_eq(w.n_actions, 1);
	ck_assert_int_eq(w.actions[0], TUI_QUIT);
}
END_TEST

/* Where nothing is counted nothing is idle. */
START_TEST(what_is_paused_has_no_rates)
{
	snapshot_rate(w.snap, METRIC_TIME); /* from now on it is kept */
	world_tick(&w);
	world_tick(&w);
	ck_assert(!isnan(snapshot_rate(w.snap, METRIC_TIME)->v[0]));
	w.status.paused = true;
	world_tick(&w);
	ck_assert(isnan(snapshot_rate(w.snap, METRIC_TIME)->v[0]));
}
END_TEST

START_TEST(leaving_an_ended_program)
{
	w.status.run = TUI_RUN_ENDED;
	w.status.wait_status = 3 << 8;
	world_tick(&w);
	ck_assert(world_shows(&w, "ENDED: exit 3"));
	world_keys(&w, "P K");
	ck_assert_uint_eq(w.n_actions, 0);
	ck_assert(world_shows(&w, "no program to signal"));
	world_keys(&w, "? q q");
	ck_assert_uint_eq(w.n_actions, 1);
	ck_assert_int_eq(w.actions[0], TUI_QUIT);
}
END_TEST

START_TEST(signals)
{
	world_keys(&w, "K K");
	ck_assert_int_eq(w.actions[0], TUI_SIGNAL);
	ck_assert_int_eq(w.args[0], SIGKILL);
	world_keys(&w, "K j Enter");
	ck_assert_int_eq(w.args[1], SIGTERM);
	world_keys(&w, "K Esc");
	ck_assert_uint_eq(w.n_actions, 2);
}
END_TEST

START_TEST(typing)
{
	world_keys(&w, "? i 'print(1)'");
	ck_assert_int_eq(w.t->current, TUI_PANEL_LOG);
	ck_assert(world_shows(&w, "to the program: print(1)"));
	ck_assert_str_eq(w.typed, "");
	world_keys(&w, "Enter 'é'"); /* the next line is open already */
	ck_assert_str_eq(w.typed, "print(1)\r");
	world_keys(&w, "C-d"); /* not on an empty line: nothing */
	ck_assert_str_eq(w.typed, "print(1)\r");
	world_keys(&w, "Enter C-d Enter 'lost' Esc");
	ck_assert_str_eq(w.typed, "print(1)\ré\r\4\r");
	ck_assert(!world_shows(&w, "to the program"));
	world_keys(&w, "1 i 'q' C-u C-c"); /* leaves the line, not the screen */
	ck_assert_uint_eq(w.n_actions, 0);
	world_keys(&w, "i 'too late'");
	w.status.run = TUI_RUN_ENDED;
	world_tick(&w);
	ck_assert(world_shows(&w, "the program has ended"));
	world_keys(&w, "q"); /* a key again */
	ck_assert_uint_eq(w.n_actions, 1);
	ck_assert_int_eq(w.actions[0], TUI_QUIT);
}
END_TEST

START_TEST(typing_refused)
{
	w.typing = -ENOTTY;
	world_keys(&w, "i");
	ck_assert(world_shows(&w, "standard input is not this terminal"));
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	w.typing = 0;
	world_keys(&w, "i 'y'");
	w.typing = -ESRCH; /* it ends while a line is being typed */
	world_keys(&w, "Enter");
	ck_assert(world_shows(&w, "no program to type to"));
	w.typing = -EAGAIN;
	world_keys(&w, "i");
	ck_assert(world_shows(&w, "cannot be reached"));
	w.t->host.input = NULL;
	world_keys(&w, "i");
	ck_assert(world_shows(&w, "no program to type to"));
	ck_assert_str_eq(w.typed, "");
}
END_TEST

START_TEST(read_only)
{
	static const char *const keys[] = {"P", "K", "F9", "W", "i", "O"};

	w.t->options.readonly = true;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		world_keys(&w, keys[i]);
		ck_assert_str_eq(w.t->message, "read only");
	}
	world_keys(&w, "P K F9 i 'x' Enter Esc");
	ck_assert_str_eq(w.typed, "");
	world_keys(&w, "C-c C-c");
	ck_assert_uint_eq(w.n_actions, 1);
	ck_assert_int_eq(w.actions[0], TUI_DETACH);
}
END_TEST

/* Of runs elsewhere: what has no way back to them says so, and help does not offer it. */
START_TEST(elsewhere)
{
	static const char *const keys[] = {"P", "C-r", "i", "K"};
	static const char *const offers[] = {"pause or resume", "everything sent",
					     "type to the",     "send a signal",
					     "stop the",        "write the profile"};

	for (int joins = 0; joins < 2; joins++) {
		w.t->options.source = joins ? TUI_OF_STREAMS : TUI_OF_PROGRAM;
		world_keys(&w, "?");
		for (size_t i = 0; i < ARRAY_SIZE(offers); i++)
			ck_assert_msg(tall_shows(offers[i]) == !joins, "%d: '%s'", joins,
				      offers[i]);
		world_keys(&w, "Esc");
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		world_keys(&w, keys[i]);
		ck_assert(world_shows(
			&w, " from here: it runs elsewhere, and streams have one direction"));
	}
	world_keys(&w, "F9");
	ck_assert(world_shows(
		&w, "it runs elsewhere, and is saved there; here 'top -o FILE' keeps what comes"));
	world_keys(&w, "6");
	ck_assert(world_shows(&w, "the program runs elsewhere, and prints there"));
	world_keys(&w, "1 r"); /* the screen's own */
	ck_assert(world_shows(&w, "counting from now"));
	ck_assert_uint_eq(w.n_actions, 0);
	ck_assert_str_eq(w.typed, "");
	world_keys(&w, "q C-c"); /* they do not notice: nothing is asked */
	ck_assert_uint_eq(w.n_actions, 2);
	ck_assert_int_eq(w.actions[0], TUI_QUIT);
	ck_assert_int_eq(w.actions[1], TUI_QUIT);
}
END_TEST

START_TEST(panels)
{
	for (int i = 0; i < TUI_N_PANELS; i++) {
		if (!tui_has_panel(w.t, (enum tui_panel)i))
			continue;
		ck_assert_int_eq(w.t->current, i);
		draw();
		world_keys(&w, "Tab");
	}
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	world_keys(&w, "S-Tab");
	ck_assert_int_eq(w.t->current, TUI_PANEL_FINDINGS);
	world_keys(&w, "4 d");
	ck_assert(world_shows(&w, "no more to this row"));
	world_keys(&w, "2 j j o"); /* the third kernel, where it is heaviest */
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "3 End o");
	ck_assert_str_eq(here(), "memcpy HtoD pageable");
	world_keys(&w, "Enter Enter"); /* the first thing that can be done with it */
	ck_assert(world_shows(&w, "Where it ran"));
	world_keys(&w, "q");
	ck_assert(!world_shows(&w, "Where it ran"));
	ck_assert_uint_eq(w.n_actions, 0);
}
END_TEST

START_TEST(grouping_forgets)
{
	world_keys(&w, "j j . G");
	ck_assert(world_shows(&w, "group: process"));
	ck_assert(world_shows(&w, "pid 41207"));
	ck_assert(!world_shows(&w, "zoom"));
	world_keys(&w, "G G G");
	ck_assert(world_shows(&w, "group: thread"));
	world_keys(&w, "G");
	ck_assert(!world_shows(&w, "  group: "));
}
END_TEST

START_TEST(contexts_are_left_out)
{
	const union metric_value hour = {.u64 = 3600 * UINT64_C(1000000000)};
	uint32_t line, kernel;

	line = session_node(w.s, SESSION_ROOT, FRAME_PYTHON, "/a/train.py:9@main");
	line = session_node(w.s, line, FRAME_PYTHON, "/a/net.py:4@forward");
	kernel = session_node(w.s, line, FRAME_KERNEL, "the_largest");
	session_add(w.s, kernel, 0, 0, METRIC_TIME, hour);
	tui_refresh(w.t);
	world_keys(&w, "Home =");
	ck_assert(world_shows(&w, "train.py:9@main"));
	world_keys(&w, "j j . X");
	ck_assert(world_shows(&w, "contexts: scopes"));
	ck_assert(!world_shows(&w, "zoom"));
	world_keys(&w, "=");
	ck_assert(world_shows(&w, "the_largest"));
	ck_assert(!world_shows(&w, "train.py:9"));
	ck_assert(!world_shows(&w, "net.py"));
	world_keys(&w, "X =");
	ck_assert(world_shows(&w, "contexts: line"));
	ck_assert(world_shows(&w, "net.py:4@forward"));
	ck_assert(!world_shows(&w, "train.py:9"));
	world_keys(&w, "G =");
	ck_assert(world_shows(&w, "contexts: line"));
	ck_assert(!world_shows(&w, "train.py:9"));
	world_keys(&w, "G G G G X =");
	ck_assert(world_shows(&w, "train.py:9@main"));
}
END_TEST

START_TEST(printing)
{
	char dir[] = "/tmp/test-tui-XXXXXX", path[64], text[4096] = "";
	FILE *f;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	w.t->options.print_dir = dir;
	world_keys(&w, "p t p Enter");
	ck_assert(world_shows(&w, "proton-screen-2.txt"));
	snprintf(path, sizeof(path), "%s/proton-screen-1.txt", dir);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, f), 0);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "train_step"));
	unlink(path);
	snprintf(path, sizeof(path), "%s/proton-screen-2.txt", dir);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
	world_keys(&w, "p s");
	ck_assert(world_shows(&w, "cannot write this screen"));
}
END_TEST

/* Every key does something or says that it does nothing, in every panel; nothing breaks. */
START_TEST(all_keys_everywhere)
{
	for (int panel = '1'; panel <= '6'; panel++) {
		for (unsigned r = 1; r < REQ_N; r++) {
			if (r == REQ_SUSPEND || r == REQ_PRINT)
				continue;
			w.n_actions = 0;
			tui_key(w.t, panel);
			tui_do_request(w.t, r);
			draw();
			for (int key = 0; key < 128; key += 5)
				if (key != KEY_CTRL('z') && key != 'p')
					tui_key(w.t, key);
			world_keys(&w, "Esc Esc Esc");
		}
		world_tick(&w);
	}
}
END_TEST

START_TEST(all_sizes)
{
	static const int sizes[][2] = {
		{1, 1},   {0, 0},    {4, 19},  {5, 20},  {6, 21},    {7, 30},  {8, 25},  {9, 500},
		{200, 5}, {200, 20}, {12, 40}, {16, 33}, {200, 500}, {24, 80}, {1, 500}, {500, 1}};
	struct buf out;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (const char *panel = "123456?"; *panel; panel++) {
			buf_init(&out, 1 << 20);
			tui_key(w.t, *panel);
			ck_assert_int_eq(tui_dump(w.t, sizes[i][0], sizes[i][1], true, &out), 0);
			tui_key(w.t, KEY_FUNCTION | KEY_F(6));
			ck_assert_int_eq(tui_dump(w.t, sizes[i][0], sizes[i][1], true, &out), 0);
			world_keys(&w, "Esc Esc End / 'o' Enter Esc");
			ck_assert_int_eq(tui_dump(w.t, sizes[i][0], sizes[i][1], false, &out), 0);
			buf_done(&out);
		}
}
END_TEST

START_TEST(key_names)
{
	static const struct {
		const char *word;
		int key;
	} keys[] = {{"a", 'a'},
		    {"C-c", 3},
		    {"M-h", KEY_ALT | 'h'},
		    {"F10", KEY_FUNCTION | KEY_F(10)},
		    {"Space", ' '},
		    {"Esc", 27},
		    {"é", 0xe9},
		    {"F", 'F'},
		    {"Fx", -1},
		    {"", -1},
		    {"nonsense", -1},
		    {"F64", -1},
		    {"\\", '\\'},
		    {"S-Tab", KEY_FUNCTION | KEY_BTAB}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		ck_assert_int_eq(tui_key_parse(keys[i].word, strlen(keys[i].word)), keys[i].key);
	ck_assert_int_lt(tui_key_script(w.t, "j nonsense"), 0);
	ck_assert_int_lt(tui_key_script(w.t, "'open"), 0);
}
END_TEST

START_TEST(key_tables)
{
	struct buf out;

	buf_init(&out, 0);
	tui_keys_write(TUI_KEYS_TEXT, NULL, &out);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\nTree\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "F10 Q"));
	buf_clear(&out);
	tui_keys_write(TUI_KEYS_MAN, NULL, &out);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), ".It Ic \\&\\e , Ic \\&F4\n"));
	buf_done(&out);
}
END_TEST

Suite *suite_keys(void)
{
	const TTest *const tests[] = {
		moving,
		folding,
		splicing_equals_building,
		choosing_panels,
		neighbours,
		cursor_stays_on_its_node,
		searching,
		searching_lists,
		filtering,
		including_and_excluding,
		including_by_values_and_paths,
		excluding_everywhere,
		zooming,
		sorting,
		choosing_columns,
		help_begins_with_the_panel,
		help_of_a_file_offers_what_it_can,
		freezing,
		resetting,
		resetting_before_the_end,
		pausing,
		leaving_asks_while_the_program_runs,
		interrupt_twice_stops_and_leaves,
		interrupt_late_asks_again,
		the_end_answers_for_itself,
		what_is_paused_has_no_rates,
		leaving_an_ended_program,
		signals,
		typing,
		typing_refused,
		read_only,
		elsewhere,
		panels,
		grouping_forgets,
		contexts_are_left_out,
		printing,
		all_keys_everywhere,
		all_sizes,
		key_names,
		key_tables,
	};
	Suite *s = suite_create("keys");
	TCase *c = tcase_create("keys");

	tcase_set_timeout(c, 120);
	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, function_keys_of_panels, 0, ARRAY_SIZE(labels));
	suite_add_tcase(s, c);
	return s;
}
