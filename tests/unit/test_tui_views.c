/* SPDX-License-Identifier: MIT */
/* Keys in the views that are made of the tree: bottom-up, callers, flame graph, roofline,
 * durations; and that any keys in any order leave them whole. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/activity.h"
#include "core/copy_rows.h"
#include "core/launch_rows.h"
#include "core/source.h"
#include "core/traffic.h"
#include "naming/code.h"
#include "test_tui_session.h"
#include "tui/mouse.h"
#include "tui/names.h"
#include "tui/picture.h"
#include "tui/requests.h"
#include "tui/settings.h"
#include "tui/tabs.h"
#include "tui/tui_impl.h"
#include "count_ns.h"

static const struct tui_options live = {.live = true, .command = "top"};
static struct world w;

static void setup(void)
{
	world_init(&w);
	world_open(&w, &live);
	world_tick(&w);
	world_draw(&w, 24, 80);
}

static void teardown(void)
{
	world_done(&w);
}

static const char *here(void)
{
	struct panel *p = tui_panel(w.t);

	panel_refresh(p);
	ck_assert_uint_lt(p->cursor, p->n_rows);
	return p->ops->row_name(p, p->cursor);
}

static size_t n_rows(void)
{
	panel_refresh(tui_panel(w.t));
	return tui_panel(w.t)->n_rows;
}

/* A context that changes the order and the numbers of nodes. */
static void add_context(void)
{
	uint32_t scope = world_node(&w, SESSION_ROOT, FRAME_SCOPE, "newcomer");

	world_kernel(&w, world_node(&w, scope, FRAME_KERNEL, "new_kernel"), w.lanes[0],
		     &(struct kernel_values){UINT64_C(90000000000), 1, 1, 1});
	world_kernel(&w, world_node(&w, scope, FRAME_KERNEL, "sm90_xmma_gemm_bf16"), w.lanes[0],
		     &(struct kernel_values){UINT64_C(90000000000), 1, 1, 1});
	world_tick(&w);
	world_draw(&w, 24, 80);
}

START_TEST(bottom_up_folds)
{
	size_t n;

	world_keys(&w, "7 C");
	n = n_rows();
	ck_assert_uint_eq(n, 12);
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad");
	world_keys(&w, "Right");
	ck_assert_uint_eq(n_rows(), n + 1);
	world_keys(&w, "Right");
	ck_assert_str_eq(here(), "backward");
	world_keys(&w, "+ Right");
	ck_assert_str_eq(here(), "train_step");
	world_keys(&w, "+ Right"); /* nobody calls it */
	ck_assert_uint_eq(n_rows(), n + 2);
	world_keys(&w, "u u }");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	world_keys(&w, "H");
	ck_assert_str_eq(here(), "train_step");
	world_keys(&w, "{ u u u c E");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	ck_assert_uint_gt(n_rows(), 30);
	world_keys(&w, "C");
	ck_assert_uint_eq(n_rows(), n);
}
END_TEST

/* Numbers of nodes change with a picture, paths do not. */
START_TEST(bottom_up_stays_open)
{
	world_keys(&w, "7 C Down Right Down");
	ck_assert_str_eq(here(), "mlp");
	add_context();
	ck_assert_str_eq(here(), "mlp");
	ck_assert_uint_eq(n_rows(), 13 + 3); /* with its brother, a new one, and a new kernel */
	world_keys(&w, "t");
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	ck_assert_str_eq(here(), "mlp");
}
END_TEST

/* However many contexts move bytes and in whatever order they come: the 32 largest have rows, the
 * largest first, and their shares are of all. */
START_TEST(memory_keeps_the_largest)
{
	char name[32];

	for (unsigned i = 0; i < 100; i++) {
		uint32_t scope, copy;

		snprintf(name, sizeof(name), "moves %u", (i * 37 + 11) % 100);
		scope = world_node(&w, SESSION_ROOT, FRAME_SCOPE, name);
		copy = world_node(&w, scope, FRAME_COPY, "copy HtoD pinned");
		world_number(&w, copy, w.lanes[0], METRIC_BYTES, 1e15 * ((i * 37 + 11) % 100));
	}
	world_tick(&w);
	world_keys(&w, "3 End");
	ck_assert_str_eq(here(), "moves 68 › copy HtoD pinned");
	ck_assert(world_shows(&w, "69.7P   1.4")); /* of 99 * 100 / 2, each grown by a fortieth */
	for (unsigned i = 69; i < 100; i++) {
		world_keys(&w, "Up");
		snprintf(name, sizeof(name), "moves %u ›", i);
		ck_assert_msg(!strncmp(here(), name, strlen(name)), "%s: not %s", here(), name);
	}
}
END_TEST

/* What the filter of names leaves is all that counts, as with that of expressions. */
START_TEST(memory_is_filtered)
{
	world_node(&w, world_node(&w, SESSION_ROOT, FRAME_SCOPE, "quiet"), FRAME_SCOPE, "within");
	for (unsigned i = 1; i < 4; i++) {
		char name[32];
		uint32_t scope, copy;

		snprintf(name, sizeof(name), "moves %u", i);
		scope = world_node(&w, SESSION_ROOT, FRAME_SCOPE, name);
		copy = world_node(&w, scope, FRAME_COPY, "copy of ours");
		world_number(&w, copy, w.lanes[0], METRIC_BYTES, 1e15 * i);
	}
	world_tick(&w);
	world_keys(&w, "3 \\ 'moves 2' Enter End");
	ck_assert_str_eq(here(), "moves 2 › copy of ours");
	ck_assert(!world_shows(&w, "moves 1") && !world_shows(&w, "moves 3"));
	ck_assert(!world_shows(&w, "memcpy")); /* of all else, in neither table */
	ck_assert(world_shows(&w, "100.0"));
	world_keys(&w, "\\ 'quiet' Enter");
	ck_assert(world_shows(&w, "none with this filter"));
	world_keys(&w, "Esc End");
	ck_assert(world_shows(&w, "moves 1"));
}
END_TEST

/* Where a search comes by until it begins again, as keys of rows. */
static size_t tour(const char *key, uint64_t *keys, size_t max)
{
	size_t n = 0;

	do {
		struct panel *p = tui_panel(w.t);

		ck_assert_uint_lt(n, max);
		panel_refresh(p);
		ck_assert_ptr_nonnull(strstr(here(), w.t->search));
		keys[n++] = p->cursor_key;
		w.t->message[0] = '\0';
		world_keys(&w, key);
	} while (!strstr(w.t->message, "began again"));
	return n;
}

/* What is folded is found, in the order of the rows as if all were open, there and back. */
START_TEST(bottom_up_finds_folded)
{
	uint64_t there[64], back[64];
	size_t n, first;

	world_keys(&w, "7 C");
	first = n_rows();
	world_keys(&w, "/ 'train_step' Enter");
	ck_assert_str_eq(here(), "train_step");
	ck_assert_uint_gt(n_rows(), first);
	world_keys(&w, "/ 'mlp' Enter C Home n");
	n = tour("n", there, ARRAY_SIZE(there));
	ck_assert_uint_gt(n, 1);
	world_keys(&w, "C Home N");
	ck_assert_uint_eq(tour("N", back, ARRAY_SIZE(back)), n);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(back[i], there[n - 1 - i]);
	world_keys(&w, "C I Home n");
	ck_assert_uint_eq(tour("n", back, ARRAY_SIZE(back)), n);
	world_keys(&w, "C / 'no such name' Enter");
	ck_assert(world_shows(&w, "is not in Bottom-up"));
}
END_TEST

/* Scopes without work on a device stand behind the others, those with the most time on the host first. */
START_TEST(tree_orders_host_time)
{
	static const struct {
		const char *name;
		double ns;
	} scopes[] = {{"zz small", 10}, {"zz none", 0}, {"zz big", 100}};
	static const char *const wanted[] = {"zz none", "zz small", "zz big"}; /* from the end */

	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		uint32_t node = world_node(&w, SESSION_ROOT, FRAME_SCOPE, scopes[i].name);

		if (scopes[i].ns > 0)
			world_number(&w, node, w.lanes[0], METRIC_CPU_TIME, scopes[i].ns);
	}
	world_tick(&w);
	world_draw(&w, 24, 80);
	world_keys(&w, "1 End");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		ck_assert_str_eq(here(), wanted[i]);
		world_keys(&w, "Up");
	}
}
END_TEST

/* Details of a row of Kernels are those of one context: what all have together stands beside it. */
START_TEST(details_of_several_contexts)
{
	world_keys(&w, "2 Home / 'flash_fwd' Enter d");
	ck_assert(world_shows(&w, "in all"));
	ck_assert(world_shows(&w, "paths        2"));
	world_keys(&w, "Esc 1 / 'train_step' Enter d");
	ck_assert(!world_shows(&w, "in all"));
}
END_TEST

/* A rate is over the time of what has such a number: for a kernel all of it. */
START_TEST(details_tell_what_rates_are_over)
{
	world_keys(&w, "/ 'train_step' Enter d");
	ck_assert(world_shows(&w, "TF/s   over 80.7 % of its time"));
	world_keys(&w, "Esc / 'flash_fwd' Enter d");
	ck_assert(world_shows(&w, "TF/s "));
	ck_assert(!world_shows(&w, "of its time"));
}
END_TEST

/* Names that have nothing of the raw ones. */
static char *short_names(const char *raw, enum frame_kind kind, unsigned level)
{
	(void)kind;
	return level || strcmp(raw, "flash_fwd<128,128>") ? NULL : strdup("attention");
}

static const struct naming short_naming = {.name = short_names};

/* What is looked for may be in a name that is not shown. */
START_TEST(names_match_however_they_are_shown)
{
	teardown();
	world_init(&w);
	w.naming = &short_naming;
	world_open(&w, &live);
	world_tick(&w);
	world_draw(&w, 24, 80);
	for (const char *panel = "1270"; *panel; panel++) {
		char key[] = {*panel, '\0'};

		world_keys(&w, key);
		world_keys(&w, "Home / 'flash_fwd' Enter");
		ck_assert_msg(!strcmp(here(), "attention"), "panel %s: %s", key, here());
		world_keys(&w, "Home / 'attention' Enter");
		ck_assert_str_eq(here(), "attention");
	}
	world_keys(&w, "2 F4 'flash_fwd' Enter");
	ck_assert_uint_eq(n_rows(), 1);
	ck_assert_str_eq(here(), "attention");
	world_keys(&w, "Esc 1 / 'flash_fwd'"); /* which is said */
	ck_assert(world_shows(&w, " found, in names that m shows"));
	world_keys(&w, "C-u 'attention'");
	ck_assert(world_shows(&w, " found"));
	ck_assert(!world_shows(&w, "names that"));
	world_keys(&w, "Esc \\ 'flash_fwd' Enter");
	ck_assert(world_shows(&w, "; some in names that m shows"));
	world_keys(&w, "\\ C-u 'attention' Enter");
	ck_assert(!world_shows(&w, "names that"));
}
END_TEST

static const char *sort_title(const struct panel *p)
{
	return p->columns.v[p->sort].title;
}

static void on_skipped(void *data, unsigned line, const char *why)
{
	(void)data;
	ck_abort_msg("line %u: %s", line, why);
}

/* The line of the most expensive finding has the kernel's name, and its price once. */
START_TEST(a_finding_names_its_kernel)
{
	static const struct kernel_values v = {100000000000, 3, 30000000000, 40000000000};

	world_kernel(&w, world_node(&w, SESSION_ROOT, FRAME_KERNEL, "huge"), w.lanes[0], &v);
	w.t->advice.made_ns = 0; /* or it would be found in a while */
	world_tick(&w);
	ck_assert(world_shows(&w, "one kernel is most of the time  huge  at most 10"));
	ck_assert(!world_shows(&w, "device time  10")); /* the price before the numbers */
}
END_TEST

/* The end of the program takes no line from the finding, and what was saved where is said. */
START_TEST(the_end_leaves_the_finding)
{
	w.status.run = TUI_RUN_ENDED;
	w.status.file = "/tmp/proton.train.py.7.hatchet";
	world_tick(&w);
	world_draw(&w, 24, 80);
	ck_assert(world_shows(&w, "work is spread unevenly"));
	ck_assert(world_shows(&w, "ended: exit 0"));
	world_keys(&w, "F9");
	ck_assert(world_shows(&w, "saved in proton.train.py.7.hatchet; q leaves"));
}
END_TEST

/* A picture that is held stays one of before the end: no share of the run beside it. */
START_TEST(a_held_picture_outlives_the_run)
{
	ck_assert(world_shows(&w, "GPU0  95%"));
	world_keys(&w, "z");
	w.status.run = TUI_RUN_ENDED;
	w.s->ended = true;
	world_tick(&w);
	ck_assert(world_shows(&w, "GPU0  95%"));
	ck_assert(!world_shows(&w, "GPU0 busy"));
}
END_TEST

/* One device has one name, in the line of the end, too. */
START_TEST(other_devices_are_no_gpus)
{
	for (size_t i = 0; i < w.s->n_devices; i++)
		w.s->devices[i].type = strtab_adds(w.s->strings, "OpenCL");
	ck_assert(world_shows(&w, "OpenCL0  95%"));
	ck_assert(!world_shows(&w, "GPU0"));
}
END_TEST

/* Help begins with the keys of the panel, of whichever; a finding leads to its kernel. */
START_TEST(help_of_every_panel)
{
	for (unsigned i = 0; i < TUI_N_PANELS; i++) {
		char title[64];

		tui_show_panel(w.t, i);
		snprintf(title, sizeof(title), "\n In this panel (%s)\n",
			 w.t->panels[i]->ops->title);
		world_keys(&w, "?");
		ck_assert_msg(world_shows(&w, title), "%s", title);
		world_keys(&w, "Esc");
	}
}
END_TEST

START_TEST(findings_lead_to_their_kernel)
{
	static const struct kernel_values v = {100000000000, 3, 30000000000, 40000000000};

	world_kernel(&w, world_node(&w, SESSION_ROOT, FRAME_KERNEL, "huge"), w.lanes[0], &v);
	w.t->advice.made_ns = 0;
	world_tick(&w);
	world_keys(&w, "M-4 Home t");
	ck_assert_ptr_eq(tui_panel(w.t), w.t->panels[TUI_PANEL_TREE]);
	ck_assert_str_eq(here(), "huge");
}
END_TEST

/* A text and a selector both say what they leave, and each panel how far they hold in it. */
START_TEST(filters_say_what_is_left)
{
	world_keys(&w, "\\ 'flash'");
	ck_assert(world_shows(&w, "8 of 22 rows, 11.80s of 43.67s (27.0 %)"));
	world_keys(&w, "Enter");
	ck_assert(world_shows(&w, "left: 8 of 22 rows, 11.80s of 43.67s (27.0 %)"));
	ck_assert(world_shows(&w, "filter: flash (numbers of all)"));
	world_keys(&w, "9");
	ck_assert(!world_shows(&w, "(numbers of all)"));
	world_keys(&w, "4");
	ck_assert(world_shows(&w, "filter: flash (whole run here)"));
	world_keys(&w, "\\ C-u 'nowhere' Enter");
	ck_assert(world_shows(&w, "nothing is left"));
	world_keys(&w, "Esc ! 'train_step' Enter M-4");
	ck_assert(world_shows(&w, "without: train_step (whole run here)"));
	world_keys(&w, "Esc & 'flash_fwd' Enter 3");
	ck_assert(world_shows(&w, "none with this filter"));
	ck_assert(!world_shows(&w, "were seen"));
}
END_TEST

/* A saved layout sorts panels that were never looked at. */
START_TEST(layout_sorts)
{
	static const char text[] = "sort bottom-up CALLS\nsort callers AVG ascending\n"
				   "sort flame BYTES\ncolumns bottom-up CALLS %\n";
	struct settings settings;
	struct tui_options options = {.live = true, .settings = &settings};
	struct tui *t;

	settings_init(&settings);
	settings_parse(&settings, text, strlen(text), on_skipped, NULL);
	t = tui_new(&options, w.snap, NULL);
	ck_assert_str_eq(sort_title(t->panels[TUI_PANEL_BOTTOM_UP]), "CALLS");
	ck_assert_str_eq(sort_title(t->panels[TUI_PANEL_CALLERS]), "AVG");
	ck_assert(t->panels[TUI_PANEL_CALLERS]->ascending);
	ck_assert_str_eq(sort_title(t->panels[TUI_PANEL_FLAME]), "BYTES");
	tui_free(t);
}
END_TEST

START_TEST(callers_go_on_and_back)
{
	world_keys(&w, "/ 'mlp' Enter 8");
	ck_assert_str_eq(here(), "mlp");
	world_keys(&w, "Down Enter");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	world_keys(&w, "Up Enter");
	ck_assert_str_eq(here(), "mlp");
	add_context();
	ck_assert_str_eq(here(), "mlp");
	world_keys(&w, "BkSp BkSp");
	ck_assert_str_eq(here(), "mlp");
	world_keys(&w, "1 8"); /* what the tree's cursor is on, again */
	ck_assert_str_eq(here(), "mlp");
	world_keys(&w, "G");
	world_draw(&w, 24, 80);
	ck_assert_str_eq(here(), "mlp");
}
END_TEST

/* Rows without a number are the farthest from the function, in either order. */
START_TEST(callers_sort_what_is_absent)
{
	world_keys(&w, "8 Down Enter Down Enter B");
	ck_assert_str_eq(here(), "backward");
	for (int i = 0; i < 2; i++, world_keys(&w, "I")) {
		world_keys(&w, "End");
		ck_assert_str_eq(here(), "sm90_xmma_gemm_dgrad");
		world_keys(&w, "Up");
		ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad");
	}
}
END_TEST

/* Where one came from is known by name when ids start anew. */
START_TEST(callers_back_after_grouping)
{
	world_keys(&w, "/ 'mlp' Enter 8 Down Enter");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	world_keys(&w, "G G G G");
	world_draw(&w, 24, 80);
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	world_keys(&w, "BkSp");
	world_draw(&w, 24, 80);
	ck_assert_str_eq(here(), "mlp");
	world_keys(&w, "BkSp");
	ck_assert(world_shows(&w, "this is where you came in"));
	world_keys(&w, "Right");
	ck_assert(world_shows(&w, "the function itself"));
}
END_TEST

/* Keys that cannot do what they do elsewhere say so. */
START_TEST(keys_that_do_nothing)
{
	world_keys(&w, "M-1 >");
	ck_assert(world_shows(&w, "the shortest executions come first"));
	world_keys(&w, "F6");
	ck_assert(world_shows(&w, "the shortest executions come first"));
	world_keys(&w, "9 BkSp");
	ck_assert(world_shows(&w, "this is everything"));
	world_keys(&w, "7 H Right");
	ck_assert(world_shows(&w, "no further callers"));
	world_keys(&w, "0 Home PgDn");
	ck_assert_str_ne(here(), "sm90_xmma_gemm_bf16");
	world_keys(&w, "PgUp");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
}
END_TEST

START_TEST(flame_zooms)
{
	world_keys(&w, "9 Home Down Down Right");
	ck_assert_str_eq(here(), "forward");
	world_keys(&w, "Enter");
	ck_assert(world_shows(&w, "zoom: forward"));
	world_keys(&w, "Down Right");
	ck_assert_str_eq(here(), "attention");
	add_context();
	ck_assert_str_eq(here(), "attention");
	ck_assert(world_shows(&w, "zoom: forward"));
	world_keys(&w, "Enter H F2");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	ck_assert(world_shows(&w, "boxes have no columns"));
	world_keys(&w, "BkSp u Esc");
	ck_assert(!world_shows(&w, "zoom:"));
	ck_assert_str_eq(here(), "attention");
}
END_TEST

/* What has no box is zoomed to; the view before is gone back to. */
START_TEST(flame_finds_narrow)
{
	uint32_t scope = world_node(&w, w.forward, FRAME_SCOPE, "narrow");

	for (int i = 0; i < 3; i++) {
		char name[24];

		snprintf(name, sizeof(name), "tiny_%d", i);
		world_kernel(&w, world_node(&w, scope, FRAME_KERNEL, name), w.lanes[0],
			     &(struct kernel_values){1000 + (uint64_t)i, 1, 1, 1});
	}
	world_tick(&w);
	world_keys(&w, "9");
	ck_assert(!world_shows(&w, "tiny"));
	world_keys(&w, "/ 'tiny' Enter");
	ck_assert_str_eq(here(), "tiny_2");
	ck_assert(world_shows(&w, "zoom: narrow"));
	world_keys(&w, "n n");
	ck_assert_str_eq(here(), "tiny_0");
	ck_assert(world_shows(&w, "zoom: narrow"));
	world_keys(&w, "/ 'optim' Enter");
	ck_assert_str_eq(here(), "optim.py:210@step");
	ck_assert(!world_shows(&w, "zoom:"));
	world_keys(&w, "x x / 'narrow' Enter");
	ck_assert_str_eq(here(), "narrow");
	ck_assert(world_shows(&w, "zoom: tiny_2"));
	world_keys(&w, "N");
	ck_assert(world_shows(&w, "zoom: tiny_0"));
}
END_TEST

START_TEST(flame_by_callers)
{
	world_keys(&w, "9 x x Home Down Right Enter H");
	ck_assert_str_eq(here(), "train_step");
	add_context(); /* the largest caller is another one now */
	ck_assert_str_eq(here(), "train_step");
	ck_assert(world_shows(&w, "zoom: sm90_xmma_gemm_bf16"));
	world_keys(&w, "Home H");
	ck_assert_str_eq(here(), "newcomer");
	world_keys(&w, "BkSp G");
	world_draw(&w, 24, 80);
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16"); /* as if it were opened anew */
}
END_TEST

/* The key that folds elsewhere stays in this panel: into a box, and out of the one that is the view. */
START_TEST(flame_fold_key_zooms)
{
	world_keys(&w, "9 Home Down Down Right F7");
	ck_assert(world_shows(&w, "zoom: forward"));
	ck_assert(world_shows(&w, "callees below"));
	world_keys(&w, "Home F7");
	ck_assert(!world_shows(&w, "zoom:"));
	world_keys(&w, "Home o");
	ck_assert(world_shows(&w, "as wide as it gets"));
	ck_assert(world_shows(&w, "callees below"));
}
END_TEST

/* Of the root and a scope around nearly everything, numbers would say that they are everything. */
START_TEST(flame_begins_with_the_largest_part)
{
	world_keys(&w, "9");
	world_draw(&w, 24, 80);
	ck_assert_str_eq(here(), "backward");
	world_keys(&w, "Up Up");
	ck_assert_str_eq(here(), "ROOT");
	add_context(); /* what was selected stays so, the root too */
	ck_assert_str_eq(here(), "ROOT");
	world_keys(&w, "Up"); /* there is nothing above it */
	ck_assert_str_eq(here(), "ROOT");
}
END_TEST

/* A level is one step, however many lines its boxes have. */
START_TEST(flame_steps_by_level)
{
	world_keys(&w, "9 Home Down Down");
	ck_assert_str_eq(here(), "backward");
	world_keys(&w, "Up");
	ck_assert_str_eq(here(), "train_step");
	world_keys(&w, "x Down");
	ck_assert_str_eq(here(), "ROOT");
	world_keys(&w, "Up Up");
	ck_assert_str_eq(here(), "backward");
}
END_TEST

/* A press selects a box, a second one zooms in, the right button zooms out. */
START_TEST(flame_mouse)
{
	struct mouse_event event = {
		.y = 9, .x = 50, .button = MOUSE_LEFT}; /* a box's second line */

	world_keys(&w, "9");
	world_draw(&w, 24, 80);
	mouse_press(w.t, &event);
	ck_assert_str_eq(here(), "forward");
	mouse_press(w.t, &event);
	ck_assert(world_shows(&w, "zoom: forward"));
	event.button = MOUSE_RIGHT;
	mouse_press(w.t, &event);
	ck_assert(!world_shows(&w, "zoom:"));
}
END_TEST

/* One rule for all panels: the cursor goes along to the row, box or point of what it was on. */
/* What a context allocates on the first device: 3 blocks, one of which is released. */
static uint32_t allocate(uint32_t parent, double held, double at_peak)
{
	uint32_t node = world_node(&w, parent, FRAME_ALLOC, "alloc device");

	world_number(&w, node, w.lanes[0], METRIC_ALLOCS, 3);
	world_number(&w, node, w.lanes[0], METRIC_ALLOCATED, held + 1e6);
	world_number(&w, node, w.lanes[0], METRIC_FREES, 1);
	world_number(&w, node, w.lanes[0], METRIC_FREED, 1e6);
	world_number(&w, node, w.lanes[0], METRIC_MEM_LIVE, held);
	world_number(&w, node, w.lanes[0], METRIC_MEM_PEAK, held + 1e6);
	world_number(&w, node, w.lanes[0], METRIC_AT_PEAK, at_peak);
	return node;
}

/* There is nothing to show, and it is known why. */
START_TEST(why_nobody_holds_memory)
{
	world_tick(&w);
	world_keys(&w, "3");
	ck_assert(!world_shows(&w, "Allocated memory"));
	session_note(w.s, SESSION_NONE, NOTE_WARNING, NO_MEMORY_EVENTS ": this CUPTI is old");
	world_tick(&w);
	ck_assert(world_shows(&w, "Allocated memory"));
	ck_assert(world_shows(&w, NO_MEMORY_EVENTS ": this CUPTI"));
}
END_TEST

static void grow(uint32_t parent, double bytes, double fragmented, double times)
{
	uint32_t node = world_node(&w, parent, FRAME_ALLOC, "alloc device pool");

	world_number(&w, node, w.lanes[0], METRIC_POOL_GROWN, bytes);
	world_number(&w, node, w.lanes[0], METRIC_FRAGMENTED, fragmented);
	world_number(&w, node, w.lanes[0], METRIC_FRAGMENTED_TIMES, times);
}

START_TEST(who_holds_memory)
{
	uint32_t total = world_node(&w, 0, FRAME_ALLOC, "alloc device"),
		 pool = world_node(&w, 0, FRAME_ALLOC, "pool");

	allocate(w.forward, 2.5e9, 1.5e9);
	allocate(w.step, 1e6, 4e9);
	world_number(&w, total, w.lanes[0], METRIC_MEM_PEAK, 5.5e9);
	world_number(&w, total, w.lanes[0], METRIC_PEAK_AT, 12.5e9);
	world_number(&w, pool, w.lanes[0], METRIC_POOL_SIZE, 4e9);
	world_number(&w, pool, w.lanes[0], METRIC_POOL_USED, 1e9);
	world_number(&w, pool, w.lanes[0], METRIC_POOL_PEAK, 6e9);
	world_number(&w, pool, w.lanes[0], METRIC_POOL_USED_PEAK, 5.5e9);
	world_number(&w, pool, w.lanes[0], METRIC_POOL_UNUSED, 1.5e9);
	grow(w.forward, 2e9, 0, 0);
	grow(w.step, 4e9, 3e9, 12);
	world_tick(&w);
	world_keys(&w, "3");
	world_golden(&w, 24, 80, "held_80x24");
	world_golden(&w, 40, 140, "held_140x40");
	world_golden(&w, 10, 40, "held_40x10");
	world_keys(&w, "End");
	world_golden(&w, 24, 80, "pools_80x24");
	world_golden(&w, 40, 140, "pools_140x40");
	world_keys(&w, "Up Up Up Up");
	world_golden(&w, 10, 40, "pools_40x10");
	world_keys(&w, "1"); /* in the tree they would be rows without numbers */
	ck_assert(!world_shows(&w, "alloc device"));
	world_keys(&w, "3 \\ 'forward' Enter");
	world_golden(&w, 24, 80, "held_filtered"); /* all of a kind is of the whole run */
}
END_TEST

/* A leak of PyTorch's tensors: all are released in the end; what they lay in is kept. */
START_TEST(what_scopes_leave)
{
	static const char *const names[] = {"alloc device", "alloc tensors"};

	for (unsigned i = 0; i < 4; i++) {
		uint32_t node =
			world_node(&w, i < 2 ? w.forward : w.step, FRAME_ALLOC, names[i % 2]);
		double bytes = (i % 2 ? 83.9e6 : 105e6) * (i < 2 ? 1 : 2);

		world_number(&w, node, w.lanes[0], METRIC_LEFT_BYTES, bytes);
		world_number(&w, node, w.lanes[0], METRIC_LEFT_BLOCKS, i % 2 ? 20 : 5);
		world_number(&w, node, w.lanes[0], METRIC_LEFT_TIMES, i % 2 ? 20 : 5);
		world_number(&w, node, w.lanes[0], METRIC_LEFT_MOST, bytes);
		world_number(&w, node, w.lanes[0], METRIC_LEFT_HELD, i % 2 ? 0 : bytes);
	}
	world_tick(&w);
	world_keys(&w, "3 End");
	world_golden(&w, 24, 80, "left_80x24");
	world_golden(&w, 40, 140, "left_140x40");
	world_keys(&w, "Up Up Up Up");
	world_golden(&w, 10, 40, "left_40x10");
}
END_TEST

static void copies_of(uint32_t device, uint32_t stream, uint8_t direction, uint8_t kind, uint64_t n,
		      double ms, double hidden_ms)
{
	struct session_copy_lane of = {.device = device,
				       .context = stream == SESSION_NONE ? SESSION_NONE : 1,
				       .stream = stream,
				       .direction = direction,
				       .channel_kind = kind,
				       .channel = kind ? 12 : 0};
	struct session_copy_lane *lane = session_copy_lane_of(w.s, &of);

	ck_assert_ptr_nonnull(lane);
	lane->count += n;
	lane->time_ns += (uint64_t)(ms * 1e6);
	lane->hidden_ns += (uint64_t)(hidden_ms * 1e6);
}

/* The longest first; what is not told apart, what is not known, and how sure it is. */
START_TEST(copies_by_stream)
{
	copies_of(1, 7, COPY_HOST_TO_DEVICE, CHANNEL_COPY, 1180, 564, 282);
	copies_of(1, 8, COPY_DEVICE_TO_HOST, CHANNEL_UNKNOWN, 98, 61.5, 0);
	copies_of(1, 7, COPY_PEER_TO_PEER, CHANNEL_COMPUTE, 12, 700, 700);
	copies_of(1, SESSION_NONE, COPY_UNKNOWN, CHANNEL_UNKNOWN, 5, 1, 0.5);
	world_tick(&w);
	world_keys(&w, "3 End");
	world_golden(&w, 24, 80, "copies_80x24");
	world_golden(&w, 10, 40, "copies_40x10");
	w.s->copy_lanes[0].unsure_ns = 1500000;
	world_tick(&w);
	world_golden(&w, 40, 140, "copies_140x40");
}
END_TEST

#define OF_ALL " (of the whole run)"

static void launched(const char *name, struct launch_config of, uint64_t n, double ms)
{
	struct session_config key = {.node = world_node(&w, w.step, FRAME_KERNEL, name),
				     .device = w.s->lanes[w.lanes[0]].device,
				     .process = w.s->lanes[w.lanes[0]].process,
				     .of = of};
	struct session_config *c = session_config_of(w.s, &key);

	world_number(&w, key.node, w.lanes[0], METRIC_COUNT, (double)n);
	world_number(&w, key.node, w.lanes[0], METRIC_TIME, ms * 1e6);
	c->count = n;
	c->time_ns = (uint64_t)(ms * 1e6);
}

/* The longest first; of one kernel as many rows as there are ways; what a filter leaves. */
START_TEST(launches)
{
	struct session_device *d = &w.s->devices[w.s->lanes[w.lanes[0]].device];

	d->arch = strtab_adds(w.s->strings, "90");
	d->num_sms = 132;
	launched("limited", (struct launch_config){{{600, 1, 1}, {256, 1, 1}}, .registers = 64}, 10,
		 20);
	launched("limited",
		 (struct launch_config){
			 {{123456, 789, 1}, {32, 8, 1}}, .registers = 64, .local = 128},
		 2, 30);
	launched("both",
		 (struct launch_config){{{132, 1, 1}, {384, 1, 1}},
					.registers = 168,
					.static_shared = 1024,
					.dynamic_shared = 204800},
		 4, 10);
	launched("unknown", (struct launch_config){.registers = 0}, 7, 5);
	world_tick(&w);
	world_keys(&w, "M-6");
	world_golden(&w, 24, 80, "launches_80x24");
	world_golden(&w, 40, 140, "launches_140x40");
	world_golden(&w, 10, 40, "launches_40x10");
	world_keys(&w, "\\ 'both' Enter");
	ck_assert(world_shows(&w, "regs+shared"));
	ck_assert(!world_shows(&w, "unknown"));
	ck_assert(!world_shows(&w, OF_ALL));
	world_keys(&w, "\\ C-u Enter r");
	world_tick(&w);
	ck_assert(world_shows(&w, LAUNCH_ROWS_TITLE OF_ALL));
	world_keys(&w, "R");
	ck_assert(!world_shows(&w, OF_ALL));
}
END_TEST

/* ---- source ---- */

static struct source_text text_of_line(void *ctx, const char *file, size_t file_len, uint32_t line)
{
	static const char *const lines[] = {
		"/* gathers */",
		"__global__ void gather(float *out, const float *table, int n)",
		"{",
		"\tint at = threadIdx.x;",
		"",
		"\tout[at] = table[at * 32];",
		"}"};
	const char *text = line <= ARRAY_SIZE(lines) ? lines[line - 1] : NULL;

	(void)ctx;
	if (file_len != strlen("/src/k.cu") || memcmp(file, "/src/k.cu", file_len) != 0)
		text = NULL;
	return (struct source_text){text, text ? strlen(text) : 0};
}

static bool is_newer(void *ctx, const char *file, size_t file_len)
{
	(void)ctx;
	(void)file;
	return file_len == 0;
}

static unsigned n_asked; /* instructions */

static const char *text_of_instruction(void *ctx, const struct pc_instruction *is)
{
	(void)ctx;
	n_asked++;
	return is->offset == 0xd0 ? "LDG.E R2, desc[UR4][R2.64]" : NULL;
}

static unsigned functions_at(void *ctx, const struct pc_instruction *is,
			     struct object_function ret[NATIVE_INLINED_MAX])
{
	(void)ctx;
	ret[0] = (struct object_function){"gather", "/src/k.cu", 6};
	ret[1] = (struct object_function){"load", "/src/load.h", 3};
	return is->offset == 0xd0 ? 2 : 0;
}

static const char *why_none(void *ctx)
{
	return ctx;
}

static const struct code_reader code = {text_of_line, is_newer, text_of_instruction,
					functions_at, why_none, NULL};

static void sampled(uint32_t parent, const char *instruction, enum pc_reason reason, double n)
{
	world_number(&w, world_node(&w, parent, FRAME_INSTRUCTION, instruction), w.lanes[0],
		     METRIC_STALLED_LONG_SCOREBOARD + (uint32_t)reason, n);
	world_number(&w, world_node(&w, parent, FRAME_INSTRUCTION, instruction), w.lanes[0],
		     METRIC_PC_STALLED_SAMPLES, n);
}

/* The title of the column that says why warps waited: one on any screen, as wide as there is room for. */
static void check_stalled_title(int cols)
{
	struct buf screen;
	const char *at;

	buf_init(&screen, 1 << 20);
	ck_assert_int_eq(tui_dump(w.t, 24, cols, false, &screen), 0);
	at = strstr(buf_str(&screen), " STALLED");
	ck_assert_msg(at && !strstr(at + 1, " STALLED"), "%d columns", cols);
	ck_assert_int_eq(!strncmp(at, " STALLED BY %", strlen(" STALLED BY %")), cols >= 72);
	buf_done(&screen);
}

/* Who comes is at the line that waits most; its instructions are asked for when they are to be seen. */
START_TEST(source)
{
	uint32_t k = world_node(&w, w.step, FRAME_KERNEL, "gather");
	uint32_t six = world_node(&w, k, FRAME_LINE, "/src/k.cu:6@gather");
	uint32_t four = world_node(&w, k, FRAME_LINE, "/src/k.cu:4@gather");
	uint32_t other = world_node(&w, w.step, FRAME_KERNEL, "other");

	sampled(six, "+0x00d0 gather@0000000000000001.cubin", PC_LONG_SCOREBOARD, 800);
	sampled(six, "+0x00e0 gather@0000000000000001.cubin", PC_SELECTED, 40);
	sampled(six, "+0x00d0 gather@0000000000000001.cubin", PC_BARRIER, 90);
	sampled(six, "+0x00d0 gather@0000000000000001.cubin", PC_WAIT, 60);
	sampled(six, "+0x00d0 gather@0000000000000001.cubin", PC_DRAIN, 3);
	sampled(four, "+0x0010 gather@0000000000000001.cubin", PC_WAIT, 30);
	sampled(four, "+0x0010 gather@0000000000000001.cubin", PC_DRAIN, 10);
	sampled(other, "+0x0000 other@0000000000000002.cubin", PC_BARRIER, 100);
	w.t->options.code = &code;
	world_tick(&w);
	world_keys(&w, "M-7");
	world_golden(&w, 24, 80, "source_80x24");
	ck_assert_str_eq(here(), "        out[at] = table[at * 32];");
	ck_assert_uint_eq(n_asked, 0);
	world_keys(&w, "o");
	world_golden(&w, 40, 140, "source_140x40");
	ck_assert_uint_gt(n_asked, 0);
	ck_assert_str_eq(here(), "        out[at] = table[at * 32];");
	world_keys(&w, "End H");
	ck_assert_str_eq(here(), "        out[at] = table[at * 32];");
	world_keys(&w, "Enter");
	ck_assert(!world_shows(&w, "LDG.E"));
	world_golden(&w, 10, 40, "source_40x10");
	for (int cols = 40; cols < 160; cols++)
		check_stalled_title(cols);
	w.t->options.code = NULL; /* texts are gone: numbers stay */
	world_keys(&w, "\\ 'gather' Enter");
	ck_assert(world_shows(&w, "1017"));
	ck_assert(!world_shows(&w, "table[at"));
	ck_assert(!world_shows(&w, "other"));
}
END_TEST

/* Which there are, and why there are none. */
START_TEST(counters)
{
	world_keys(&w, "M-8");
	ck_assert(world_shows(&w, "proton top and record read hardware counters with --counters"));
	w.s->counters_asked = true;
	world_tick(&w);
	ck_assert(world_shows(&w, "no hardware counters have come so far"));
	session_note(w.s, SESSION_NONE, NOTE_WARNING,
		     COUNTERS_NONE " of GPU1: another tool has them, such as DCGM");
	world_tick(&w);
	ck_assert(world_shows(&w, "no hardware counters of GPU1: another tool has them"));
	world_counters(&w, 0);
	w.s->counting = true;
	world_tick(&w);
	ck_assert(world_shows(&w, "  NOW   MEAN"));
	ck_assert(world_shows(&w, "no hardware counters of GPU1: another tool has them"));
	ck_assert(!world_shows(&w, "GPU0 SM active"));
	world_counters(&w, 1);
	w.s->counting = false; /* it is over */
	world_tick(&w);
	ck_assert(!world_shows(&w, "NOW   MEAN"));
	ck_assert(world_shows(&w, "GPU0 SM active"));
}
END_TEST

/* On a screen with room for all tables. */
static bool is_there(const char *text)
{
	struct buf screen;
	bool found;

	buf_init(&screen, 1 << 20);
	ck_assert_int_eq(tui_dump(w.t, 60, 100, false, &screen), 0);
	found = strstr(buf_str(&screen), text) != NULL;
	buf_done(&screen);
	return found;
}

/* Tables of copies are of what a filter leaves; where it leaves a part of a stream's, they say that they are not. */
START_TEST(copies_that_are_left)
{
	uint32_t node = world_node(&w, w.step, FRAME_COPY, "memcpy DtoH pinned");

	world_number(&w, node, w.lanes[0], METRIC_COUNT, 98);
	world_number(&w, node, w.lanes[0], METRIC_BYTES, 7e6);
	world_number(&w, node, w.lanes[0], METRIC_TIME, 1e6);
	copies_of(0, 13, COPY_HOST_TO_DEVICE, CHANNEL_COPY, 1250, 600, 282);
	copies_of(0, 7, COPY_DEVICE_TO_HOST, CHANNEL_UNKNOWN, 98, 1, 0);
	world_tick(&w);
	world_keys(&w, "3");
	ck_assert(is_there("GPU0 HtoD, stream 13, copy 12"));
	ck_assert(is_there("GPU0 DtoH, stream 7"));
	ck_assert(!is_there(OF_ALL));
	world_keys(&w, "\\ 'DtoH' Enter");
	ck_assert(is_there("GPU0 to host pinned"));
	ck_assert(!is_there("host pinned to GPU0"));
	ck_assert(is_there("GPU0 DtoH, stream 7"));
	ck_assert(!is_there("GPU0 HtoD, stream 13"));
	ck_assert(!is_there(OF_ALL));
	world_keys(&w, "\\ C-u 'HtoD pinned' Enter");
	ck_assert(is_there("host pinned to GPU0"));
	ck_assert(!is_there("host pageable to GPU0"));
	ck_assert(is_there(COPY_ROWS_TITLE OF_ALL));
	ck_assert(is_there("GPU0 DtoH, stream 7"));
	world_keys(&w, "\\ C-u 'forward' Enter");
	ck_assert(!is_there(COPY_ROWS_TITLE));
}
END_TEST

/* What is counted from a moment on is not known of them. */
START_TEST(copies_since_a_reset)
{
	copies_of(0, 13, COPY_HOST_TO_DEVICE, CHANNEL_COPY, 1250, 600, 282);
	world_tick(&w);
	world_keys(&w, "3 r");
	ck_assert(is_there(COPY_ROWS_TITLE OF_ALL));
	ck_assert(is_there(TRAFFIC_TITLE OF_ALL));
}
END_TEST

START_TEST(what_unified_memory_does)
{
	uint32_t total = world_node(&w, 0, FRAME_ALLOC, "alloc managed"),
		 node = world_node(&w, w.forward, FRAME_ALLOC, "alloc managed");

	world_number(&w, total, w.lanes[0], METRIC_MEM_PEAK, 5.5e9);
	world_number(&w, total, w.lanes[0], METRIC_PEAK_AT, 12.5e9);
	world_tick(&w);
	world_keys(&w, "3");
	ck_assert(world_shows(&w, "what it did is recorded with --unified"));
	session_note(w.s, SESSION_NONE, NOTE_WARNING, NO_UNIFIED_EVENTS ": this CUPTI is old");
	world_tick(&w);
	ck_assert(world_shows(&w, NO_UNIFIED_EVENTS ": this CUPTI is old"));
	world_number(&w, node, w.lanes[0], METRIC_MIGRATIONS, 300);
	world_number(&w, node, w.lanes[0], METRIC_MIGRATING, 25e6);
	world_number(&w, node, w.lanes[0], METRIC_TO_DEVICE, 1e9);
	world_number(&w, node, w.lanes[0], METRIC_TO_HOST, 0);
	world_number(&w, node, w.lanes[0], METRIC_GPU_FAULTS, 77);
	world_tick(&w);
	world_golden(&w, 40, 100, "unified_100x40");
}
END_TEST

START_TEST(the_cursor_goes_along)
{
	static const char *const panels[] = {"2", "7", "9", "0", "M-1", "8"};
	uint32_t node;

	world_keys(&w, "/ 'flash_fwd' Enter");
	node = panel_node(tui_panel(w.t));
	for (size_t i = 0; i < ARRAY_SIZE(panels); i++) {
		world_keys(&w, panels[i]);
		world_draw(&w, 24, 80);
		ck_assert_msg(tui_node_has(w.t, panel_node(tui_panel(w.t)), "flash_fwd", false),
			      "panel %s", panels[i]);
		ck_assert_uint_eq(tui_panel(w.t)->top, 0);
	}
	world_keys(&w, "2");
	ck_assert(world_shows(&w, "\xc2\xbb")); /* marked, also when the cursor goes elsewhere */
	world_keys(&w, "Up");
	ck_assert(world_shows(&w, "\xc2\xbb"));
	world_keys(&w, "/ 'pageable' Enter 1 3"); /* transfers by kind, not by path */
	ck_assert_ptr_eq(strstr(here(), "memcpy HtoD pageable"), here());
	ck_assert(world_shows(&w, "F7Tree"));
	world_keys(&w, "2 / 'flash_fwd' Enter 5 1"); /* a panel without rows takes nothing away */
	ck_assert_uint_eq(panel_node(tui_panel(w.t)), node);
}
END_TEST

/* Who only looks at another panel comes back to where he was; who goes on there takes that along, to
 * its nearest caller where it has no row. */
START_TEST(the_cursor_comes_back)
{
	world_keys(&w, "/ 'forward' Enter 2");
	world_draw(&w, 24, 80);
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad"); /* no row for a scope */
	world_keys(&w, "1");
	ck_assert_str_eq(here(), "forward");
	world_keys(&w, "C Right 2 Down Down");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "1");
	ck_assert_str_eq(here(), "forward"); /* what is folded stays so */
}
END_TEST

/* The largest is first while nobody has chosen a row; a row that was chosen keeps the cursor. */
START_TEST(an_unused_list_stays_at_its_top)
{
	world_keys(&w, "2");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad");
	world_kernel(&w, world_node(&w, w.forward, FRAME_KERNEL, "grown"), w.lanes[0],
		     &(struct kernel_values){UINT64_C(60000000000), 10, 1, 2});
	world_tick(&w);
	world_draw(&w, 24, 80);
	ck_assert_str_eq(here(), "grown");
	world_keys(&w, "Home");
	world_kernel(&w, world_node(&w, w.forward, FRAME_KERNEL, "grown_more"), w.lanes[0],
		     &(struct kernel_values){UINT64_C(90000000000), 10, 1, 2});
	world_tick(&w);
	world_draw(&w, 24, 80);
	ck_assert_str_eq(here(), "grown");
}
END_TEST

START_TEST(roofline_selects)
{
	world_keys(&w, "0");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	world_keys(&w, "Down");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "Left");
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	world_keys(&w, "Left");
	ck_assert_str_eq(here(), "flash_bwd<64,128>");
	world_keys(&w, "Right Right Right");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	add_context();
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	world_keys(&w, "x");
	ck_assert(world_shows(&w, "scopes"));
}
END_TEST

START_TEST(durations_follow_the_row)
{
	world_keys(&w, "/ 'flash_fwd' Enter M-1");
	ck_assert(world_shows(&w, "in all contexts"));
	ck_assert(!world_shows(&w, "below it"));
	ck_assert(world_shows(&w, "p99 1.41ms"));
	world_keys(&w, "x");
	ck_assert(world_shows(&w, "in this context"));
	world_keys(&w, "8"); /* a row of it is the same function */
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "5 M-1"); /* no row: the one before stays */
	ck_assert(world_shows(&w, "flash_fwd"));
}
END_TEST

/* Frozen, the histogram stands still as all else does. */
START_TEST(durations_freeze)
{
	world_keys(&w, "/ 'flash_fwd' Enter M-1 z");
	ck_assert(world_shows(&w, "7688"));
	count_ns(w.s, w.flash, 0, 810000, 123456 - 7488);
	world_tick(&w);
	world_keys(&w, "1 M-1"); /* made anew when it is shown again */
	ck_assert(!world_shows(&w, "124K"));
	world_keys(&w, "z");
	world_tick(&w);
	ck_assert(world_shows(&w, "124K"));
}
END_TEST

/* As in every other view, what a filter leaves out is not counted. */
START_TEST(durations_are_filtered)
{
	world_keys(&w, "1 Home M-1");
	ck_assert(world_shows(&w, "7688 calls of"));
	ck_assert(world_shows(&w, " below it  in all contexts  kernels, copies and sets"));
	world_keys(&w, "! 'flash_fwd' Enter");
	ck_assert(!world_shows(&w, "calls of"));
	ck_assert(world_shows(&w, "holds their sum only"));
	world_keys(&w, "Esc \\ 'attention' Enter");
	ck_assert(world_shows(&w, "7488 calls of"));
	ck_assert(world_shows(&w, ", filtered"));
	world_keys(&w, "\\ C-u 'optimizer' Enter");
	ck_assert(world_shows(&w, "nothing of it passes the filter") ||
		  world_shows(&w, "holds their sum only"));
}
END_TEST

/* The row stays what it is about when the tree is grouped. */
START_TEST(durations_are_grouped)
{
	world_keys(&w, "/ 'flash_fwd' Enter M-1 x");
	ck_assert(world_shows(&w, "7488 calls of"));
	world_keys(&w, "G G");
	ck_assert(world_shows(&w, "flash_fwd"));
	ck_assert(world_shows(&w, "in this context"));
	world_keys(&w, "t u u u u M-1");
	ck_assert(world_shows(&w, "H200"));
}
END_TEST

static void end_processes(enum process_end end)
{
	for (size_t i = 0; i < w.s->n_processes; i++)
		w.s->processes[i].end = end;
}

/* Paths whose ends read alike keep what differs, however far above it is; one is the end of another. */
START_TEST(paths_are_told_apart)
{
	static const char *const names[] = {"Model",       "layers.0",    "aten::masked_fill",
					    "aten::clone", "aten::copy_", "memcpy DtoD"};
	char layer[] = "layers.0";

	for (unsigned i = 0; i < 4; i++) {
		uint32_t node =
			i < 2 ? SESSION_ROOT : world_node(&w, SESSION_ROOT, FRAME_SCOPE, "replay");

		layer[sizeof(layer) - 2] = (char)('0' + i % 2);
		for (unsigned k = 0; k < ARRAY_SIZE(names); k++)
			node = world_node(&w, node,
					  k + 1 < ARRAY_SIZE(names) ? FRAME_SCOPE : FRAME_COPY,
					  k == 1 ? layer : names[k]);
		world_number(&w, node, 0, METRIC_BYTES, 1e12 * (4 - i));
		world_number(&w, node, 0, METRIC_TIME, 1e6);
		world_number(&w, node, 0, METRIC_COUNT, 1);
	}
	world_tick(&w);
	world_keys(&w, "3 End");
	ck_assert(world_shows(&w, "Model › layers.0 › … › aten::copy_ › memcpy DtoD"));
	ck_assert(world_shows(&w, "Model › layers.1 › … › aten::copy_ › memcpy DtoD"));
	ck_assert(world_shows(&w, " replay › … › layers.0 › … › memcpy DtoD"));
	ck_assert(world_shows(&w, " replay › … › layers.1 › … › memcpy DtoD"));
	ck_assert(world_shows(&w, " train_step › memcpy HtoD pinned")); /* stays as it was */
	world_golden(&w, 24, 46, "paths_apart_46x24");
}
END_TEST

/* A wait within a scope within a scope: each second is counted once. */
START_TEST(host_tells_its_own_time)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	uint32_t load = world_node(&w, w.step, FRAME_SCOPE, "load");
	uint32_t wait;

	ck_assert(!tui_has_panel(w.t, TUI_PANEL_HOST));
	world_number(&w, w.step, host, METRIC_CPU_TIME, 40e9);
	world_number(&w, w.step, host, METRIC_CPU_COUNT, 40);
	world_number(&w, load, host, METRIC_CPU_TIME, 16e9);
	world_number(&w, load, host, METRIC_CPU_COUNT, 80);
	world_tick(&w);
	world_keys(&w, "M-3");
	ck_assert(world_shows(&w, "with --sync"));
	wait = world_node(&w, load, FRAME_SYNC, "stream");
	world_number(&w, wait, host, METRIC_CPU_TIME, 12e9);
	world_number(&w, wait, host, METRIC_CPU_COUNT, 160);
	world_tick(&w);
	world_golden(&w, 24, 80, "host_live_80x24"); /* the step is not over, what is within is */
	w.s->ended = true;
	end_processes(PROCESS_ENDED);
	tui_spoil(w.t);
	world_golden(&w, 24, 80, "host_80x24");
	world_golden(&w, 10, 40, "host_40x10");
	ck_assert(world_shows(&w, " 25.21s  84.8      42  42.02s   1.00s  train_step"));
	w.t->least.share = 0.2; /* load has less, the wait in it has all */
	tui_spoil(w.t);
	ck_assert(world_shows(&w, " 25.21s  84.8      42  42.02s   1.00s  train_step"));
	ck_assert(!world_shows(&w, "200ms  load"));
	ck_assert(world_shows(&w, "12.30s 100.0     164  75.0ms  stream"));
	world_keys(&w, "Esc");
	ck_assert(world_shows(&w, "200ms  load"));
	world_keys(&w, "\\ 'train' Enter");
	ck_assert(world_shows(&w, " 25.21s "));
	world_keys(&w, "Esc ! 'load' Enter"); /* its time is nobody's own */
	ck_assert(world_shows(&w, "none with this filter"));
	ck_assert(!world_shows(&w, "with --sync"));
	ck_assert(!world_shows(&w, "200ms  load"));
	ck_assert(world_shows(&w, "what the filter leaves of their time; TIME, AVG: as measured"));
	ck_assert(world_shows(&w, " 25.21s      42  42.02s   1.00s  train_step"));
	world_keys(&w, "Esc");
	ck_assert(world_shows(&w, "stream"));
}
END_TEST

/* A low screen begins with the title, whatever the cursor was on; where rows go up, what their columns are
 * stays. */
START_TEST(tables_keep_their_heads)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	char name[24];

	for (int i = 0; i < 20; i++) {
		uint32_t part;

		snprintf(name, sizeof(name), "part %d", i);
		part = world_node(&w, w.step, FRAME_SCOPE, name);
		world_number(&w, part, host, METRIC_CPU_TIME, (20 - i) * 1e9);
		world_number(&w, part, host, METRIC_CPU_COUNT, 1);
	}
	world_tick(&w);
	world_keys(&w, "/ 'part 17' Enter M-3");
	world_golden(&w, 10, 40, "host_many_40x10");
	world_keys(&w, "PgDn PgDn");
	world_golden(&w, 10, 40, "host_scrolled_40x10");
	world_keys(&w, "Up Up Up Up Up Up Up");
	world_golden(&w, 10, 40, "host_scrolled_back_40x10");
	world_keys(&w, "Home");
	world_golden(&w, 10, 40, "host_many_home_40x10");
	world_keys(&w, "1 / 'part 2' Enter M-3"); /* it is seen from the top, so it is marked */
	ck_assert(world_shows(&w, "part 2"));
}
END_TEST

/* What is open at a cut has no time, and what is within has: nobody's own time is known. */
START_TEST(host_has_no_own_time_of_a_part)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	uint32_t load = world_node(&w, w.step, FRAME_SCOPE, "load");

	world_number(&w, w.step, host, METRIC_CPU_TIME, 40e9);
	world_number(&w, load, host, METRIC_CPU_TIME, 16e9);
	end_processes(PROCESS_ENDED);
	w.s->ended = true;
	world_tick(&w);
	world_keys(&w, "M-3");
	ck_assert(world_shows(&w, "by their own time"));
	ck_assert(world_shows(&w,
			      "24.60s  60.0       -  41.00s       -  train_step")); /* no counts */
	w.s->losses[LOSS_LEFT_OPEN] = 1;
	tui_spoil(w.t);
	ck_assert(world_shows(&w, "by time on the host, with what"));
	w.s->losses[LOSS_LEFT_OPEN] = 0;
	end_processes(PROCESS_RUNS);
	tui_spoil(w.t);
	ck_assert(world_shows(&w, "by time on the host, with what"));
	end_processes(PROCESS_VANISHED);
	tui_spoil(w.t);
	ck_assert(world_shows(&w, "by time on the host, with what"));
	end_processes(PROCESS_ENDED);
	world_keys(&w, "r");
	world_number(&w, w.step, host, METRIC_CPU_TIME, 50e9);
	world_tick(&w);
	ck_assert(world_shows(&w, "by time on the host, with what"));
	world_keys(&w, "R");
	ck_assert(world_shows(&w, "by their own time"));
}
END_TEST

/* "load" within itself: its time is that of the outer one, its mean what that is for each that was entered. */
START_TEST(host_counts_recursion_once)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	uint32_t load = world_node(&w, w.step, FRAME_SCOPE, "load");
	uint32_t part = world_node(&w, load, FRAME_SCOPE, "part");
	uint32_t again = world_node(&w, part, FRAME_SCOPE, "load");

	world_number(&w, load, host, METRIC_CPU_TIME, 30e9);
	world_number(&w, load, host, METRIC_CPU_COUNT, 2);
	world_number(&w, again, host, METRIC_CPU_TIME, 10e9);
	world_number(&w, again, host, METRIC_CPU_COUNT, 2);
	world_tick(&w);
	world_keys(&w, "M-3");
	ck_assert(world_shows(&w, " 30.75s       4   7.69s  load"));
	world_keys(&w, "! 'train' Enter");
	ck_assert(!world_shows(&w, "30.75s"));
}
END_TEST

/* One rank needs no panel, but who asks for it sees where they are. */
START_TEST(front_has_a_tab)
{
	ck_assert(!world_shows(&w, "M-2"));
	world_keys(&w, "M-2");
	ck_assert(world_shows(&w, "M-2:Ranks"));
	world_keys(&w, "1");
	ck_assert(!world_shows(&w, "M-2"));
}
END_TEST

/* A scope works on devices through what is below it; itself it is in threads of the host. */
START_TEST(details_tell_threads_from_devices)
{
	uint32_t one = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 71});
	uint32_t two = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 72});
	uint32_t load = world_node(&w, w.step, FRAME_SCOPE, "load");

	world_number(&w, w.step, one, METRIC_CPU_TIME, 30e9);
	world_number(&w, w.step, one, METRIC_CPU_COUNT, 3);
	world_number(&w, w.step, two, METRIC_CPU_TIME, 10e9);
	world_number(&w, w.step, two, METRIC_CPU_COUNT, 1);
	world_number(&w, load, two, METRIC_CPU_TIME, 9e9); /* a part of that */
	world_tick(&w);
	world_keys(&w, "/ 'train_step' Enter d");
	ck_assert(world_shows(&w, "DEVICE, STREAM, PROCESS"));
	ck_assert(!world_shows(&w, "host  stream 0"));
	world_keys(&w, "End");
	ck_assert(world_shows(&w, "Where it was on the host"));
	ck_assert(world_shows(&w, " 30.75s  75.0       3  10.25s  thread 71  pid 41207"));
	ck_assert(world_shows(&w, " 10.25s  25.0       1  10.25s  thread 72  pid 41207"));
	world_keys(&w, "Esc / 'load' Enter d");
	ck_assert(!world_shows(&w, "Where it ran")); /* nothing did */
	ck_assert(world_shows(&w, "  9.22s 100.0       -       -  thread 72  pid 41207"));
}
END_TEST

/* Bytes that a program gave a scope are where the work within ran, as grouping by stream has them, and what
 * is hidden is not. */
START_TEST(details_tell_where_bytes_of_scopes_were_moved)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	uint32_t one = world_node(&w, w.step, FRAME_SCOPE, "on_one");
	uint32_t two = world_node(&w, w.step, FRAME_SCOPE, "on_two");
	const struct kernel_values v = {1000, 1, 1000, 1000};

	world_kernel(&w, world_node(&w, one, FRAME_KERNEL, "k1"), w.lanes[0], &v);
	world_kernel(&w, world_node(&w, two, FRAME_KERNEL, "k1"), w.lanes[0], &v);
	world_kernel(&w, world_node(&w, two, FRAME_KERNEL, "k2"), w.lanes[1], &v);
	world_number(&w, one, host, METRIC_BYTES, 7e12);
	world_number(&w, two, host, METRIC_BYTES, 9e12);
	world_tick(&w);
	world_keys(&w, "/ 'on_one' Enter d");
	ck_assert(world_shows(&w, "1.02us 100.0      1  7.17T  GPU0"));
	ck_assert(!world_shows(&w, "  host  "));
	world_keys(&w, "Esc / 'on_two' Enter d");
	ck_assert(world_shows(&w, "-     -      -  9.22T  host"));
	world_keys(&w, "Esc ! 'k2' Enter / 'on_two' Enter d");
	ck_assert(!world_shows(&w, "9.22T"));
	ck_assert(world_shows(&w, "1.02us 100.0      1      -  GPU0"));
}
END_TEST

/* The tree has for its root what the flame graph says that its own is a part of. */
START_TEST(a_filtered_flame_graph_says_of_how_much)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	uint32_t load = world_node(&w, w.step, FRAME_SCOPE, "load");

	world_number(&w, w.step, host, METRIC_CPU_TIME, 40e9);
	world_number(&w, load, host, METRIC_CPU_TIME, 16e9);
	end_processes(PROCESS_ENDED);
	w.s->ended = true;
	world_tick(&w);
	world_keys(&w, "9 <");
	ck_assert(world_shows(&w, " HOST 41.00s  callees below"));
	world_keys(&w, "\\ 'load' Enter");
	ck_assert(world_shows(&w, " HOST 16.40s of 41.00s  callees below"));
	world_keys(&w, "Down Enter"); /* zoomed in, there is no whole to compare with */
	ck_assert(!world_shows(&w, "of 41.00s"));
}
END_TEST

START_TEST(host_says_why_there_is_no_wait)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	uint32_t wait = world_node(&w, w.step, FRAME_SYNC, "stream");

	world_number(&w, w.step, host, METRIC_CPU_TIME, 40e9);
	world_tick(&w);
	world_keys(&w, "M-3");
	ck_assert(world_shows(&w, "none so far"));
	world_number(&w, wait, host, METRIC_CPU_TIME, 1e9);
	world_tick(&w);
	ck_assert(!world_shows(&w, "none so far"));
	world_keys(&w, "\\ 'gemm' Enter");
	ck_assert(world_shows(&w, "none with this filter"));
}
END_TEST

START_TEST(host_knows_that_waits_are_recorded)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});

	world_number(&w, w.step, host, METRIC_CPU_TIME, 40e9);
	world_tick(&w);
	world_keys(&w, "M-3");
	ck_assert(world_shows(&w, "with --sync"));
	w.t->options.sync = true;
	tui_spoil(w.t);
	ck_assert(world_shows(&w, "none so far"));
}
END_TEST

/* A scope with time on the host only has none on the device. */
START_TEST(detail_tells_none_from_0)
{
	uint32_t host = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});

	world_number(&w, world_node(&w, w.step, FRAME_SCOPE, "load"), host, METRIC_CPU_TIME, 4e9);
	world_number(&w, world_node(&w, w.forward, FRAME_SCOPE, "load"), host, METRIC_CPU_TIME,
		     2e9);
	world_tick(&w);
	world_keys(&w, "/ 'load' Enter d");
	ck_assert(world_shows(&w, "      -     -      -  train_step › load"));
	ck_assert(world_shows(&w, "      -     -      -  train_step › forward › load"));
}
END_TEST

/* Keys at random, pictures in between, sizes that change. share: rows with less are left out. */
static void press_any(unsigned seed, double share)
{
	static const char *const keys[] = {
		"Down",
		"Up",
		"Left",
		"Right",
		"PgDn",
		"PgUp",
		"Home",
		"End",
		"Enter",
		"BkSp",
		"o",
		"+",
		"-",
		"e",
		"c",
		"E",
		"C",
		"=",
		"H",
		"L",
		"u",
		"}",
		"{",
		".",
		"x",
		">",
		"<",
		"I",
		"m",
		"%",
		"G",
		"r",
		"R",
		"7",
		"8",
		"9",
		"0",
		"M-1",
		"M-2",
		"M-3",
		"N",
		"S",
		"T",
		"/ 'step' Enter",
		"! 'flash.*' Enter",
		"Esc",
		"n",
		"B",
		"/ 'a' Enter",
		"\\ 'e' Enter",
		"t",
		"S-Right",
	};
	static const int sizes[][2] = {{24, 80}, {10, 40}, {5, 20}, {40, 140}, {7, 33}};

	w.t->options.print_dir = "/nonexistent"; /* typing a search's text may ask for files */
	srand(seed);
	for (int i = 0; i < 400; i++) {
		const int *size = sizes[(size_t)rand() / 7 % ARRAY_SIZE(sizes)];

		if (i % 10 == 0) /* Esc has cleared it */
			w.t->least.share = share;
		world_keys(&w, keys[(size_t)rand() / 7 % ARRAY_SIZE(keys)]);
		if (i % 5 == 0)
			world_draw(&w, size[0], size[1]);
		if (i % 97 == 0)
			world_tick(&w);
		if (i == 200)
			add_context();
	}
}

START_TEST(any_keys)
{
	press_any((unsigned)_i + 1, 0);
}
END_TEST

/* With rows that are left out, looking for those that are not makes nodes. */
START_TEST(any_keys_limited)
{
	press_any((unsigned)_i + 100, 0.02);
}
END_TEST

Suite *suite_views(void)
{
	const TTest *const tests[] = {
		memory_keeps_the_largest,
		memory_is_filtered,
		bottom_up_folds,
		bottom_up_stays_open,
		bottom_up_finds_folded,
		names_match_however_they_are_shown,
		filters_say_what_is_left,
		a_finding_names_its_kernel,
		the_end_leaves_the_finding,
		a_held_picture_outlives_the_run,
		why_nobody_holds_memory,
		other_devices_are_no_gpus,
		help_of_every_panel,
		findings_lead_to_their_kernel,
		tree_orders_host_time,
		details_of_several_contexts,
		details_tell_what_rates_are_over,
		flame_finds_narrow,
		layout_sorts,
		callers_go_on_and_back,
		callers_back_after_grouping,
		callers_sort_what_is_absent,
		keys_that_do_nothing,
		flame_zooms,
		flame_by_callers,
		flame_mouse,
		who_holds_memory,
		what_scopes_leave,
		copies_by_stream,
		launches,
		source,
		counters,
		copies_that_are_left,
		copies_since_a_reset,
		what_unified_memory_does,
		the_cursor_goes_along,
		the_cursor_comes_back,
		an_unused_list_stays_at_its_top,
		flame_fold_key_zooms,
		flame_begins_with_the_largest_part,
		flame_steps_by_level,
		roofline_selects,
		durations_follow_the_row,
		durations_freeze,
		durations_are_filtered,
		durations_are_grouped,
		paths_are_told_apart,
		host_tells_its_own_time,
		tables_keep_their_heads,
		details_tell_where_bytes_of_scopes_were_moved,
		detail_tells_none_from_0,
		host_has_no_own_time_of_a_part,
		host_counts_recursion_once,
		front_has_a_tab,
		details_tell_threads_from_devices,
		a_filtered_flame_graph_says_of_how_much,
		host_says_why_there_is_no_wait,
		host_knows_that_waits_are_recorded,
	};
	Suite *s = suite_create("views");
	TCase *c = tcase_create("keys");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, any_keys, 0, 6);
	tcase_add_loop_test(c, any_keys_limited, 0, 6);
	suite_add_tcase(s, c);
	return s;
}
