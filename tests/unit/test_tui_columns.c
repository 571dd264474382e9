/* SPDX-License-Identifier: MIT */
/* Columns of the tree that are asked for by name, limits, and comparisons on the screen. */
#include "config.h" // IWYU pragma: keep
#include "test_tui_session.h"
#include <errno.h>
#include <stdio.h>
#include "core/merge.h"
#include "core/pair.h"
#include "tui/picture.h"
#include "tui/settings.h"
#include "tui/tui_impl.h"

static const char all_metrics[] =
	"total,time/ms,avg_time/us,time/%,bytes/MB,byte/s,count,util,direction";

static void file_world(struct world *w, const struct tui_options *options)
{
	world_init(w);
	w->status = (struct tui_status){.run = TUI_RUN_FILE, .target = "run.hatchet"};
	w->s->ended = true;
	world_open(w, options);
}

START_TEST(named_columns)
{
	static const struct tui_options options = {.command = "view", .metrics = all_metrics};
	struct world w;

	file_world(&w, &options);
	ck_assert_int_eq(tui_columns_error(w.t), 0);
	ck_assert(tui_has_column(w.t, "TIME/MS"));
	ck_assert(tui_has_column(w.t, "calls")); /* what has a name can be sorted by */
	ck_assert(!tui_has_column(w.t, "no such metric"));
	world_golden(&w, 24, 140, "columns_named_140x24");
	world_golden(&w, 24, 80, "columns_named_80x24");
	world_done(&w);
}
END_TEST

START_TEST(sorted_by_a_named_column)
{
	static const struct tui_options options = {
		.command = "view", .metrics = "time/ms,avg_time/us", .sort = "avg_time/us"};
	struct world w;

	file_world(&w, &options);
	world_golden(&w, 24, 80, "columns_sorted");
	world_done(&w);
}
END_TEST

/* What is asked for by name is there in each view of calling contexts. */
START_TEST(named_columns_of_views)
{
	static const struct tui_options options = {
		.command = "view", .metrics = "time/ms,time (exc),avg_time/us,p99/us,calls,util"};
	struct world w;

	file_world(&w, &options);
	world_keys(&w, "7");
	world_golden(&w, 16, 80, "columns_named_bottom_up");
	world_keys(&w, "8");
	world_golden(&w, 16, 80, "columns_named_callers");
	world_keys(&w, "F6 End Enter");
	ck_assert(world_shows(&w, "util"));
	world_done(&w);
}
END_TEST

/* The chooser has all that the tree has. */
START_TEST(more_columns_of_views)
{
	static const char *const titles[] = {"TOTAL", "SELF", "P50", "P90", "P99", "AVG"};
	static const enum tui_panel panels[] = {TUI_PANEL_BOTTOM_UP, TUI_PANEL_CALLERS};
	static const struct tui_options options = {.command = "view"};
	struct world w;

	file_world(&w, &options);
	for (unsigned i = 0; i < ARRAY_SIZE(panels); i++) {
		const struct panel *p = w.t->panels[panels[i]];

		for (unsigned k = 0; k < ARRAY_SIZE(titles); k++)
			ck_assert_int_ge(columns_find(&p->columns, titles[k]), 0);
	}
	world_keys(&w, "7 F2 / 'P99' Enter Space Esc S");
	ck_assert(world_shows(&w, "P99"));
	ck_assert(world_shows(&w, "1.41ms"));
	ck_assert(world_shows(&w, "SELF"));
	world_done(&w);
}
END_TEST

/* As many metrics of its own as a profile has: each has a column, everywhere, and can be chosen. */
START_TEST(many_metrics)
{
	static const enum tui_panel panels[] = {TUI_PANEL_TREE, TUI_PANEL_KERNELS,
						TUI_PANEL_BOTTOM_UP, TUI_PANEL_CALLERS};
	static const struct tui_options options = {.command = "view"};
	char name[48];
	struct panel *p;
	struct world w;

	world_init(&w);
	w.status = (struct tui_status){.run = TUI_RUN_FILE, .target = "run.hatchet"};
	w.s->ended = true;
	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "a metric with quite a long name %u", i);
		ck_assert_int_eq(
			session_add(w.s, SESSION_ROOT, w.lanes[0], 0,
				    session_metric_add(w.s, &(struct metric){.name = name}),
				    (union metric_value){.u64 = i + 1}),
			0);
	}
	world_open(&w, &options);
	for (unsigned i = 0; i < ARRAY_SIZE(panels); i++) {
		struct panel *p = w.t->panels[panels[i]];
		bool early = i % 2 && panel_column(p, name) >= 0; /* before there are any rows */
		unsigned n = 0;

		panel_refresh(p);
		ck_assert(early == (i % 2));
		ck_assert_int_ge(panel_column(p, name), 0);
		for (unsigned k = 0; k < p->columns.n; k++)
			n += !strcmp(p->columns.v[k].title, name);
		ck_assert_uint_eq(n, 1);
		ck_assert_uint_ge(p->columns.n, 300);
	}
	world_keys(&w, "F2 End");
	ck_assert(world_shows(&w, name));
	world_keys(&w, "Space Esc");
	p = w.t->panels[TUI_PANEL_TREE];
	ck_assert_str_eq(p->choice.titles[p->choice.n - 1], name);
	p->choice = (struct column_choice){.n = 1};
	snprintf(p->choice.titles[0], sizeof(p->choice.titles[0]), "%s", name);
	tui_spoil(w.t);
	ck_assert(world_shows(&w, name));
	ck_assert(world_shows(&w, "300"));
	world_done(&w);
}
END_TEST

/* What a configuration or an order names need be no column that a panel has by itself. */
START_TEST(columns_made_for_a_choice)
{
	static const struct tui_options options = {.command = "view", .sort = "avg_time/us"};
	struct world w;
	struct panel *p;

	file_world(&w, &options);
	p = w.t->panels[TUI_PANEL_TREE];
	ck_assert_str_eq(p->columns.v[p->sort].title, "avg_time/us");
	ck_assert(world_shows(&w, "avg_time/us"));
	ck_assert(!world_shows(&w, "time/ms"));
	p->choice = (struct column_choice){.titles = {"time/ms", "calls"}, .n = 2};
	tui_spoil(w.t);
	ck_assert(world_shows(&w, "time/ms"));
	p = w.t->panels[TUI_PANEL_FLAME]; /* a share makes nothing wide */
	ck_assert_int_eq(panel_column(p, "time/%"), -1);
	ck_assert_int_ge(panel_column(p, "flops16"), 0);
	world_done(&w);
}
END_TEST

/* Kernels have the columns that are asked for, of all their contexts. */
START_TEST(named_columns_of_kernels)
{
	static const struct tui_options options = {.command = "view",
						   .metrics = "time/ms,calls,stddev"};
	struct world w;

	file_world(&w, &options);
	world_keys(&w, "2");
	world_golden(&w, 12, 80, "columns_named_kernels");
	world_done(&w);
}
END_TEST

/* An empty list asks for nothing. */
START_TEST(no_columns_asked_for)
{
	static const struct tui_options options = {.command = "view", .metrics = ""};
	struct world w;

	file_world(&w, &options);
	ck_assert(world_shows(&w, "TOTAL"));
	world_keys(&w, "2");
	ck_assert(world_shows(&w, "SELF"));
	world_keys(&w, "7");
	ck_assert(world_shows(&w, "SELF"));
	world_done(&w);
}
END_TEST

START_TEST(columns_that_cannot_be)
{
	static const struct {
		const char *metrics;
		int error;
	} wrong[] = {{"time/ms,nothing", -ENOENT}, {"time/furlongs", -EINVAL}};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct tui_options options = {.command = "view", .metrics = wrong[i].metrics};
		struct world w;

		file_world(&w, &options);
		ck_assert_int_eq(tui_columns_error(w.t), wrong[i].error);
		world_done(&w);
	}
}
END_TEST

/* What a running program has not reported yet is empty, then there; a wrong unit is one at once. */
START_TEST(a_metric_that_comes_later)
{
	static const struct tui_options options = {
		.command = "top", .live = true, .metrics = "tokens,time/ms"};
	static const struct tui_options wrong = {
		.command = "top", .live = true, .metrics = "tokens,time/furlong"};
	struct metric tokens = {.name = "tokens", .unit = "", .type = METRIC_U64};
	struct world w;

	world_init(&w);
	world_open(&w, &options);
	ck_assert_int_eq(tui_columns_error(w.t), 0);
	ck_assert_str_eq(tui_missing_column(w.t), "tokens");
	ck_assert(!world_shows(&w, "1234"));
	world_number(&w, w.forward, w.lanes[0], metric_table_add(w.s->metrics, &tokens), 1234);
	world_tick(&w);
	ck_assert(world_shows(&w, "1264"));
	ck_assert_ptr_null(tui_missing_column(w.t));
	world_done(&w);
	world_init(&w);
	world_open(&w, &wrong);
	ck_assert_int_eq(tui_columns_error(w.t), -EINVAL);
	world_done(&w);
}
END_TEST

static const char *sorted_by(const struct panel *p)
{
	return p->columns.v[p->sort].title;
}

/* An order by what is not there yet waits for it, but not when somebody has chosen another. */
START_TEST(an_order_that_comes_later)
{
	static const struct tui_options options = {
		.command = "top", .live = true, .sort = "tokens"};
	struct metric tokens = {.name = "tokens", .unit = "", .type = METRIC_U64};

	for (int chosen = 0; chosen < 2; chosen++) {
		struct world w;
		const struct panel *p;

		world_init(&w);
		world_open(&w, &options);
		p = w.t->panels[TUI_PANEL_TREE];
		ck_assert(tui_has_column(w.t, "tokens"));
		ck_assert_ptr_null(tui_missing_column(w.t));
		ck_assert_str_eq(tui_missing_sort(w.t), "tokens");
		ck_assert(!world_shows(&w, "tokens"));
		ck_assert_str_eq(sorted_by(p), "TOTAL");
		if (chosen)
			world_keys(&w, "A");
		world_number(&w, w.forward, w.lanes[0], metric_table_add(w.s->metrics, &tokens),
			     1234);
		world_tick(&w);
		ck_assert(world_shows(&w, chosen ? "AVG" : "tokens"));
		ck_assert_str_eq(sorted_by(p), chosen ? "AVG" : "tokens");
		ck_assert_ptr_null(tui_missing_sort(w.t));
		world_done(&w);
	}
}
END_TEST

/* The first picture has no numbers: what stands in for the order then is no wish. */
START_TEST(an_order_before_there_are_numbers)
{
	static const struct tui_options options = {.command = "top", .live = true};
	const struct panel *p;
	struct world w;
	bool ascending;

	world_init_empty(&w);
	session_process_add(w.s, 7);
	w.lanes[0] = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	world_open(&w, &options);
	p = w.t->panels[TUI_PANEL_TREE];
	ck_assert(world_shows(&w, "proton top"));
	ck_assert_str_eq(sorted_by(p), "TOTAL");
	world_number(&w, world_node(&w, SESSION_ROOT, FRAME_SCOPE, "parse"), w.lanes[0],
		     METRIC_CPU_TIME, 3e9);
	world_tick(&w);
	ck_assert(world_shows(&w, "parse"));
	ck_assert_str_eq(sorted_by(p), "HOST"); /* the only number */
	ck_assert_str_eq(p->columns.v[panel_wished_sort(p, &ascending)].title, "TOTAL");
	world_kernel(&w, world_node(&w, SESSION_ROOT, FRAME_KERNEL, "gemm"), w.lanes[0],
		     &(struct kernel_values){1000000, 1, 1000, 2000});
	world_tick(&w);
	ck_assert(world_shows(&w, "gemm"));
	ck_assert_str_eq(sorted_by(p), "TOTAL");
	ck_assert(!ascending);
	world_done(&w);
}
END_TEST

/* Where the first row that shows a text is; -1: nowhere. */
static int line_of(struct world *w, const char *text)
{
	struct buf screen = {0};
	const char *at;
	int line = -1;

	tui_dump(w->t, 40, 120, false, &screen);
	at = strstr(buf_str(&screen), text);
	for (const char *c = buf_str(&screen); at && c <= at; c++)
		line += *c == '\n' || c == buf_str(&screen);
	buf_done(&screen);
	return line;
}

/* Names, and words that are values, go from a to z and back. */
START_TEST(words_in_their_order)
{
	static const struct tui_options by_name = {.command = "view", .sort = "name"};
	static const struct tui_options by_tag = {
		.command = "view", .metrics = "tag,calls", .depth = 9};
	static const char *const tags[] = {"walnut", "apple", "zebra", "mango"};
	struct metric tag = {.name = "tag",
			     .type = METRIC_TEXT,
			     .scope = METRIC_PROPERTY,
			     .add = METRIC_LAST,
			     .weight = METRIC_NONE};
	struct world w;
	uint32_t metric;

	file_world(&w, &by_name);
	ck_assert_str_eq(sorted_by(w.t->panels[TUI_PANEL_TREE]), "NAME");
	world_golden(&w, 14, 80, "columns_sorted_by_name");
	world_keys(&w, "2 F6 End Enter");
	world_golden(&w, 14, 80, "columns_kernels_by_name");
	world_done(&w);

	world_init(&w);
	w.s->ended = true;
	metric = session_metric_add(w.s, &tag);
	for (unsigned i = 0; i < ARRAY_SIZE(tags); i++) {
		union metric_value value = {.u64 = strtab_adds(w.s->strings, tags[i])};
		uint32_t node = session_node(w.s, w.forward, FRAME_SCOPE, tags[i] + 1);

		ck_assert_int_eq(session_add(w.s, node, w.lanes[0], 0, metric, value), 0);
	}
	world_open(&w, &by_tag);
	ck_assert_int_lt(line_of(&w, "apple"), line_of(&w, "mango"));
	ck_assert_int_lt(line_of(&w, "mango"), line_of(&w, "walnut"));
	ck_assert_int_lt(line_of(&w, "walnut"), line_of(&w, "zebra"));
	world_keys(&w, "I"); /* the other way round */
	ck_assert_int_gt(line_of(&w, "apple"), line_of(&w, "zebra"));
	world_keys(&w, "2");
	ck_assert_int_ge(line_of(&w, "flash"), 0);
	world_done(&w);
}
END_TEST

/* Without device time a panel is sorted by the time that there is, not by bytes that stand before it. */
START_TEST(times_before_bytes)
{
	static const struct tui_options options = {.command = "view"};
	struct world w;
	uint32_t lane, most_bytes, most_time;

	world_init_empty(&w);
	w.s->ended = true;
	lane = session_lane_intern(w.s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	most_bytes = world_node(&w, SESSION_ROOT, FRAME_SCOPE, "writes");
	most_time = world_node(&w, SESSION_ROOT, FRAME_SCOPE, "parses");
	world_number(&w, most_bytes, lane, METRIC_CPU_TIME, 1e9);
	world_number(&w, most_bytes, lane, METRIC_BYTES, 1e9);
	world_number(&w, most_time, lane, METRIC_CPU_TIME, 7e9);
	world_number(&w, most_time, lane, METRIC_BYTES, 1e3);
	world_open(&w, &options);
	ck_assert_int_lt(line_of(&w, "parses"), line_of(&w, "writes"));
	ck_assert_str_eq(sorted_by(w.t->panels[TUI_PANEL_TREE]), "HOST");
	world_done(&w);
}
END_TEST

/* What Triton runs to learn about a launch is no part of a device's work. */
START_TEST(devices_without_launch_metadata)
{
	static const struct tui_options options = {.command = "view"};
	double time_ns[2], calls[2];

	for (unsigned with = 0; with < 2; with++) {
		struct world w;
		uint32_t metadata, look;

		world_init(&w);
		w.s->ended = true;
		metadata = world_node(&w, SESSION_ROOT, FRAME_SCOPE, "__proton_launch_metadata");
		look = world_node(&w, metadata, FRAME_KERNEL, "look");
		if (with)
			world_kernel(&w, look, w.lanes[0],
				     &(struct kernel_values){1000000, 999, 1000, 2000});
		world_open(&w, &options);
		time_ns[with] = w.t->usage.devices[0].sum.time_ns;
		calls[with] = w.t->usage.devices[0].sum.count;
		world_done(&w);
	}
	ck_assert_double_gt(time_ns[0], 0);
	ck_assert_double_eq(time_ns[0], time_ns[1]);
	ck_assert_double_eq(calls[0], calls[1]);
}
END_TEST

/* Levels stay open as nodes come, until somebody folds. */
START_TEST(levels_of_a_running_program)
{
	static const struct tui_options options = {.command = "top", .live = true, .depth = 3};
	struct world w;

	world_init(&w);
	world_open(&w, &options);
	ck_assert(world_shows(&w, "backward"));
	world_kernel(&w,
		     world_node(&w, world_node(&w, SESSION_ROOT, FRAME_SCOPE, "late"), FRAME_SCOPE,
				"later"),
		     w.lanes[0], &(struct kernel_values){3000000000, 10, 1, 2});
	world_tick(&w);
	ck_assert(world_shows(&w, "later"));
	world_keys(&w, "/ 'late' Enter -");
	world_tick(&w);
	ck_assert(!world_shows(&w, "later"));
	world_done(&w);
}
END_TEST

START_TEST(levels)
{
	static const struct tui_options options = {.command = "view", .depth = 2};
	struct world w;

	file_world(&w, &options);
	world_golden(&w, 12, 80, "columns_two_levels");
	world_done(&w);
}
END_TEST

START_TEST(limits)
{
	static const struct tui_options by_share = {.command = "view", .least = {.share = 0.3}};
	static const struct tui_options by_value = {
		.command = "view",
		.metrics = "calls",
		.least = {.word = "calls", .at = {.value = 7000}}};
	struct world w;

	file_world(&w, &by_share);
	world_golden(&w, 12, 80, "columns_limit_share");
	world_keys(&w, "Esc Esc");
	ck_assert(!world_shows(&w, "from: 30%"));
	world_done(&w);
	file_world(&w, &by_value);
	world_golden(&w, 12, 80, "columns_limit_value");
	world_done(&w);
}
END_TEST

/* What is too small for a row of the tree has none elsewhere. */
START_TEST(limits_of_views)
{
	static const struct tui_options options = {.command = "view", .least = {.share = 0.15}};
	struct world w;

	file_world(&w, &options);
	world_keys(&w, "7 E");
	world_golden(&w, 14, 80, "columns_limit_bottom_up");
	world_keys(&w, "/ 'rope' Enter");
	ck_assert(world_shows(&w, "is not in Bottom-up"));
	world_keys(&w, "1 / 'forward' Enter 8");
	world_golden(&w, 14, 80, "columns_limit_callers");
	world_keys(&w, "1 Home 9");
	world_golden(&w, 14, 80, "columns_limit_flame");
	world_keys(&w, "/ 'rope_fused' Enter");
	ck_assert(world_shows(&w, "zoom: rope_fused"));
	world_keys(&w, "Esc x x");
	world_golden(&w, 14, 80, "columns_limit_flame_callers");
	world_keys(&w, "Esc Esc Esc 7 C");
	ck_assert(!world_shows(&w, "from: 15%"));
	ck_assert(world_shows(&w, "rope_fused"));
	world_done(&w);
}
END_TEST

/* Kernels and tables leave out what their texts do; shares are of all, not of what is left. */
START_TEST(limits_of_tables)
{
	static const struct tui_options by_share = {.command = "view", .least = {.share = 0.199}};
	static const struct tui_options by_time = {
		.command = "view", .least = {.at = {.value = 50e6, .unit = AMOUNT_TIME}}};
	static const struct tui_options too_high = {.command = "view", .least = {.share = 0.9}};
	struct world w;

	file_world(&w, &by_share);
	world_keys(&w, "2");
	ck_assert(world_shows(&w, "sm90_xmma_gemm_wgrad"));
	ck_assert(!world_shows(&w, "sm90_xmma_gemm_dgrad")); /* 19.1 % */
	world_keys(&w, "3");
	ck_assert(world_shows(&w, "memcpy HtoD pinned"));
	ck_assert(!world_shows(&w, "pageable")); /* neither row nor advice */
	ck_assert(!world_shows(&w, "memset device"));
	world_keys(&w, "Esc");
	ck_assert(world_shows(&w, "pageable: pin"));
	ck_assert(world_shows(&w, "memset device"));
	world_done(&w);
	file_world(&w, &by_time);
	world_keys(&w, "3");
	ck_assert(world_shows(&w, "pageable: pin"));
	ck_assert(!world_shows(&w, "memset device")); /* more bytes, but 1.80ms */
	world_done(&w);
	file_world(&w, &too_high);
	world_keys(&w, "2");
	ck_assert(world_shows(&w, "nothing is large enough for the limit"));
	world_keys(&w, "3");
	ck_assert(world_shows(&w, "nothing is large enough for the limit"));
	ck_assert(!world_shows(&w, "no copies and no sets were seen"));
	world_done(&w);
}
END_TEST

START_TEST(limit_too_high)
{
	static const struct tui_options options = {
		.command = "view", .least = {.word = "calls", .at = {.value = 1e9}}};
	struct world w;

	file_world(&w, &options);
	world_keys(&w, "7");
	ck_assert(world_shows(&w, "nothing is large enough for the limit"));
	world_keys(&w, "Esc");
	ck_assert(world_shows(&w, "rope_fused"));
	world_done(&w);
}
END_TEST

/* The run as it was, and a second later without its forward pass but with a new scope. */
static void compared_world(struct world *w, struct snapshot **ret_before, struct session **ret_side,
			   struct tui_options *options)
{
	static const struct snapshot_spec spec;
	struct session *sides[PAIR_N];
	struct world old;

	world_init(&old);
	world_init(w);
	w->status = (struct tui_status){.run = TUI_RUN_FILE, .target = "run.hatchet"};
	world_kernel(
		w, world_node(w, world_node(w, w->step, FRAME_SCOPE, "new"), FRAME_KERNEL, "fused"),
		w->lanes[0], &(struct kernel_values){3000000000, 10, 1, 2});
	world_kernel(&old, world_node(&old, old.forward, FRAME_KERNEL, "gemm"), old.lanes[0],
		     &(struct kernel_values){1000000000, 100, 1, 2});
	world_kernel(w, world_node(w, w->forward, FRAME_KERNEL, "gemm"), w->lanes[0],
		     &(struct kernel_values){1500000000, 100, 1, 2});
	world_kernel(&old, world_node(&old, old.step, FRAME_KERNEL, "unfused"), old.lanes[0],
		     &(struct kernel_values){2000000000, 10, 1, 2});
	ck_assert_int_eq(pair_make(old.s, w->s, sides), 0);
	session_free(old.s);
	session_free(w->s);
	w->s = sides[PAIR_AFTER];
	*ret_side = sides[PAIR_BEFORE];
	*ret_before = options->before = snapshot_new(*ret_side, &spec);
	world_open(w, options);
}

START_TEST(comparison)
{
	struct tui_options options = {.command = "view"};
	struct snapshot *before;
	struct session *side;
	struct world w;

	compared_world(&w, &before, &side, &options);
	world_golden_attributes(&w, 24, 80, "compare_80x24");
	world_keys(&w, "G");
	ck_assert(world_shows(&w, "cannot be grouped"));
	world_keys(&w, "& 'fused|unfused' Enter");
	world_golden(&w, 24, 80, "compare_included");
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* Each kernel over all its contexts, those that are gone too. */
START_TEST(comparison_of_views)
{
	struct tui_options options = {.command = "view"};
	struct snapshot *before;
	struct session *side;
	struct world w;

	compared_world(&w, &before, &side, &options);
	world_keys(&w, "7 C");
	world_golden(&w, 24, 80, "compare_bottom_up");
	world_keys(&w, "/ 'unfused' Enter 8");
	world_golden(&w, 12, 80, "compare_callers");
	world_keys(&w, "7 F6 Home Down Enter Home");
	world_keys(&w, "\\ 'unfused' Enter");
	ck_assert(world_shows(&w, "gone"));
	ck_assert(!world_shows(&w, "same"));
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* Colours and signs say what has grown; what is gone has no box, but is not concealed. */
START_TEST(comparison_as_flames)
{
	struct tui_options options = {.command = "view", .ascii = _i == 1};
	struct snapshot *before;
	struct session *side;
	struct world w;

	options.theme = _i == 2 ? "mono" : NULL;
	compared_world(&w, &before, &side, &options);
	if (_i == 0) {
		world_keys(&w, "9 Home Down Down Down");
		world_golden_attributes(&w, 24, 80, "compare_flame");
		world_keys(&w, "x x");
		world_golden(&w, 24, 80, "compare_flame_callers");
		world_keys(&w, "x");
		ck_assert(world_shows(&w, "coloured by kind"));
		ck_assert(!world_shows(&w, "+forward"));
		world_keys(&w, "x");
		ck_assert(world_shows(&w, "+forward"));
	} else {
		world_keys(&w, "9 Home Down Down Right");
		world_golden(&w, _i == 1 ? 10 : 24, _i == 1 ? 40 : 80,
			     _i == 1 ? "compare_flame_40x10" : "compare_flame_mono");
	}
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* What is said behind the tabs of the panel in front takes no room from them, whether it is said or
 * not. */
START_TEST(comparison_keeps_tabs)
{
	static const char *const keys[] = {"1", "4", "8", NULL};
	struct tui_options options = {.command = "view"};
	struct snapshot *before;
	struct session *side;
	struct world w;

	compared_world(&w, &before, &side, &options);
	world_golden_tabs(&w, keys, "compare_tabs");
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* However small the screen is: A, B and what is between them, in tables of copies, too, or that it is B alone. */
START_TEST(comparison_on_a_small_screen)
{
	static const char *const alone[] = {"4", "5", "M-2", "M-4"};
	struct tui_options options = {.command = "view"};
	struct buf screen;
	struct snapshot *before;
	struct session *side;
	struct world w;

	compared_world(&w, &before, &side, &options);
	world_golden(&w, 10, 40, "compare_40x10");
	world_keys(&w, "3");
	world_golden(&w, 10, 40, "compare_memory_40x10");
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++) {
		buf_init(&screen, 0);
		world_keys(&w, alone[i]);
		ck_assert_int_eq(tui_dump(w.t, 10, 40, false, &screen), 0);
		ck_assert_msg(strstr(buf_str(&screen), "B alone") != NULL, "panel %s", alone[i]);
		buf_done(&screen);
	}
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* Copies, durations and what is known of one row have both sides. */
START_TEST(comparison_elsewhere)
{
	static const struct {
		const char *name, *keys;
	} screens[] = {
		{"compare_memory", "3"},
		{"compare_durations", "/ 'flash_fwd' Enter M-1"},
		{"compare_detail", "/ 'gemm' Enter d"},
		{"compare_gone", "/ 'unfused' Enter d"},
		{NULL, "4"},
	};
	struct tui_options options = {.command = "view"};
	struct buf screen;
	struct snapshot *before;
	struct session *side;
	struct world w;

	buf_init(&screen, 0);
	compared_world(&w, &before, &side, &options);
	world_keys(&w, screens[_i].keys);
	if (_i == 0)
		world_golden_attributes(&w, 24, 80, screens[_i].name);
	else if (_i < 4)
		world_golden(&w, 24, 80, screens[_i].name);
	else /* it is said on a small screen, too */
		ck_assert_int_eq(tui_dump(w.t, 10, 40, false, &screen), 0);
	if (_i == 4)
		ck_assert_ptr_nonnull(strstr(buf_str(&screen), "B alone"));
	buf_done(&screen);
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* Where nothing is compared, numbers are not to be taken for differences. */
START_TEST(comparison_says_what_is_of_one_side)
{
	static const char *const compared[] = {"1", "2", "3", "7", "8", "9", "M-1"},
				 *const alone[] = {"4", "0"};
	struct tui_options options = {.command = "view"};
	struct snapshot *before;
	struct session *side;
	struct world w;

	compared_world(&w, &before, &side, &options);
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		world_keys(&w, compared[i]);
		ck_assert_msg(!world_shows(&w, "B alone, not compared"), "panel %s", compared[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++) {
		world_keys(&w, alone[i]);
		ck_assert_msg(world_shows(&w, "B alone, not compared"), "panel %s", alone[i]);
	}
	world_keys(&w, "1 d");
	ck_assert(world_shows(&w, "B alone"));
	world_keys(&w, "F1");
	ck_assert(!world_shows(&w, "B alone"));
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* What reaches a limit on one side stays. */
START_TEST(comparison_of_limited_views)
{
	struct tui_options options = {.command = "view",
				      .metrics = "count,time/ms",
				      .least = {.word = "count", .at = {.value = 10}}};
	struct snapshot *before;
	struct session *side;
	struct world w;

	compared_world(&w, &before, &side, &options);
	world_keys(&w, "7 C / 'unfused' Enter");
	ck_assert(world_shows(&w, "gone"));
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* What is compared is what was asked for, also where it is called as a usual column is. */
static const struct {
	const char *metrics;
	double now; /* of the root */
} compared_metrics[] = {
	{"calls", 202814},
	{"count", 202814},
	{"TOTAL", 47.1018e9},
	{"bytes", 31492.57e9},
};

START_TEST(comparison_of_a_usual_column)
{
	struct tui_options options = {.command = "view", .metrics = compared_metrics[_i].metrics};
	struct snapshot *before;
	struct session *side;
	struct panel *p;
	struct world w;

	compared_world(&w, &before, &side, &options);
	ck_assert_int_eq(tui_columns_error(w.t), 0);
	p = w.t->panels[TUI_PANEL_TREE];
	panel_refresh(p);
	ck_assert_double_eq(column_value(&p->columns.v[columns_find(&p->columns, "B")], p, 0),
			    compared_metrics[_i].now);
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* A layout that is saved over a comparison keeps what was said of the usual columns. */
START_TEST(layout_of_a_comparison)
{
	static const char old[] = "columns tree TOTAL CALLS\nsort kernels AVG\nsort tree CALLS\n";
	struct tui_options options = {.command = "view"};
	struct snapshot *before;
	struct session *side;
	struct world w;
	struct buf text;

	compared_world(&w, &before, &side, &options);
	world_keys(&w, "> F2 Space Esc V");
	buf_init(&text, 0);
	settings_write_layout(w.t, old, strlen(old), &text);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "columns tree TOTAL CALLS\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "sort tree CALLS\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "sort kernels AVG\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "theme light\n"));
	ck_assert_ptr_null(strstr(buf_str(&text), "STATUS"));
	buf_done(&text);
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

static int on_compare(void *data, const char *path)
{
	snprintf(data, 64, "<%s>", path);
	return *path == '!' ? -ENOENT : 0;
}

START_TEST(asking_for_a_comparison)
{
	static const struct tui_options options = {.command = "view"};
	char asked[64] = "";
	struct world w;

	file_world(&w, &options);
	world_keys(&w, "D");
	ck_assert(world_shows(&w, "only saved profiles"));
	w.t->host = (struct tui_host){.data = asked, .compare = on_compare};
	world_keys(&w, "D 'old.hatchet' Enter");
	ck_assert_str_eq(asked, "<old.hatchet>");
	world_keys(&w, "D '!' Enter");
	ck_assert(world_shows(&w, "cannot compare with '!': No such file"));
	world_keys(&w, "D Esc");
	ck_assert_str_eq(asked, "<!>");
	world_done(&w);
}
END_TEST

START_TEST(comparison_of_named_columns)
{
	struct tui_options options = {.command = "view",
				      .ascii = true,
				      .metrics = "count,time/ms",
				      .least = {.word = "count", .at = {.value = 5000}}};
	struct snapshot *before;
	struct session *side;
	struct world w;

	compared_world(&w, &before, &side, &options);
	world_golden(&w, 24, 100, "compare_named");
	world_done(&w);
	snapshot_free(before);
	session_free(side);
}
END_TEST

/* Three ranks, the last of which is slow in one kernel. */
static struct session *ranks_session(void)
{
	static const char *const kernels[] = {"gemm", "attention", "all_reduce"};
	struct session *all = session_new();
	struct merge *merge = merge_new(all);

	for (uint32_t rank = 0; rank < 3; rank++) {
		const struct merge_options options = {"run", (int32_t)rank, -1};
		struct session *s = session_new();
		uint32_t lane = session_lane_intern(
			s, &(struct session_lane){session_process_add(s, rank + 1), SESSION_NONE, 0,
						  0, 0});
		uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");

		s->processes[0].rank = -1;
		for (uint32_t k = 0; k < 3; k++) {
			uint64_t ns =
				1000000 * (k + 1) + (rank == 2 && k == 1 ? 3000000 : rank * 1000);

			session_add(s, session_node(s, step, FRAME_KERNEL, kernels[k]), lane, 0,
				    METRIC_TIME, (union metric_value){.u64 = ns});
		}
		if (rank == 1) /* alone, and below no scope of its own */
			session_add(s, session_node(s, SESSION_ROOT, FRAME_KERNEL, "save"), lane, 0,
				    METRIC_TIME, (union metric_value){.u64 = 400000});
		ck_assert_int_eq(merge_add(merge, s, &options), 0);
		session_free(s);
	}
	merge_free(merge);
	return all;
}

static void ranks_init(struct world *w)
{
	world_init_empty(w);
	session_free(w->s);
	w->s = ranks_session();
	w->status = (struct tui_status){.run = TUI_RUN_FILE, .target = "run.rank0.hatchet"};
}

START_TEST(ranks)
{
	static const struct tui_options options = {.command = "view", .panel = TUI_PANEL_RANKS};
	struct world w;

	ranks_init(&w);
	world_open(&w, &options);
	world_golden(&w, 24, 80, "ranks_80x24");
	world_golden(&w, 24, 140, "ranks_140x24");
	world_keys(&w, "G");
	ck_assert(world_shows(&w, "attention"));
	world_done(&w);
}
END_TEST

/* What a filter leaves out is no work of a rank, and nobody waits for it. */
START_TEST(ranks_filtered)
{
	static const struct tui_options options = {.command = "view", .panel = TUI_PANEL_RANKS};
	struct world w;

	ranks_init(&w);
	world_open(&w, &options);
	world_keys(&w, "! 'attention' Enter");
	ck_assert(!world_shows(&w, "9.00ms "));
	ck_assert(!world_shows(&w, "1.29 "));
	world_keys(&w, "Esc");
	ck_assert(world_shows(&w, "1.29 "));
	world_keys(&w, "\\ 'attention' Enter");
	ck_assert(world_shows(&w, "5.00ms"));
	ck_assert(!world_shows(&w, "9.00ms  "));
	world_done(&w);
}
END_TEST

/* Files that stand for ranks are told by as much of their names as there is room for. */
START_TEST(ranks_of_files)
{
	static const struct tui_options options = {.command = "view", .panel = TUI_PANEL_RANKS};
	static const char *const names[] = {"run.a.hatchet", "run.b.hatchet",
					    "a_long_name_of_a_run.hatchet"};
	struct world w;

	ranks_init(&w);
	for (unsigned i = 0; i < 3; i++) {
		w.s->processes[i].rank = -1;
		w.s->processes[i].pid = 0;
		w.s->processes[i].exe = strtab_adds(w.s->strings, names[i]);
	}
	w.s->ended = true;
	world_open(&w, &options);
	ck_assert(world_shows(&w, "~me_of_a_run"));
	ck_assert(!world_shows(&w, "###"));
	w.s->processes[2].exe = strtab_adds(w.s->strings, "run.c.hatchet");
	world_keys(&w, "v Esc");
	ck_assert(world_shows(&w, " run.c "));
	world_done(&w);
}
END_TEST

START_TEST(one_rank)
{
	static const struct tui_options options = {.command = "view", .panel = TUI_PANEL_RANKS};
	struct world w;

	world_init(&w);
	world_open(&w, &options);
	ck_assert(world_shows(&w, "one rank has nobody to wait for"));
	ck_assert(!world_shows(&w, "flash_fwd"));
	world_done(&w);
}
END_TEST

Suite *suite_columns(void)
{
	Suite *s = suite_create("columns");
	TCase *c = tcase_create("golden");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, named_columns);
	tcase_add_test(c, sorted_by_a_named_column);
	tcase_add_test(c, named_columns_of_views);
	tcase_add_test(c, more_columns_of_views);
	tcase_add_test(c, many_metrics);
	tcase_add_test(c, columns_made_for_a_choice);
	tcase_add_test(c, named_columns_of_kernels);
	tcase_add_test(c, no_columns_asked_for);
	tcase_add_test(c, columns_that_cannot_be);
	tcase_add_test(c, a_metric_that_comes_later);
	tcase_add_test(c, an_order_that_comes_later);
	tcase_add_test(c, an_order_before_there_are_numbers);
	tcase_add_test(c, words_in_their_order);
	tcase_add_test(c, times_before_bytes);
	tcase_add_test(c, devices_without_launch_metadata);
	tcase_add_test(c, levels_of_a_running_program);
	tcase_add_test(c, levels);
	tcase_add_test(c, limits);
	tcase_add_test(c, limits_of_views);
	tcase_add_test(c, limits_of_tables);
	tcase_add_test(c, limit_too_high);
	tcase_add_test(c, comparison);
	tcase_add_test(c, layout_of_a_comparison);
	tcase_add_loop_test(c, comparison_of_a_usual_column, 0, ARRAY_SIZE(compared_metrics));
	tcase_add_test(c, comparison_of_named_columns);
	tcase_add_test(c, comparison_of_views);
	tcase_add_test(c, comparison_of_limited_views);
	tcase_add_loop_test(c, comparison_as_flames, 0, 3);
	tcase_add_test(c, comparison_on_a_small_screen);
	tcase_add_loop_test(c, comparison_elsewhere, 0, 5);
	tcase_add_test(c, comparison_keeps_tabs);
	tcase_add_test(c, comparison_says_what_is_of_one_side);
	tcase_add_test(c, asking_for_a_comparison);
	tcase_add_test(c, ranks);
	tcase_add_test(c, ranks_filtered);
	tcase_add_test(c, ranks_of_files);
	tcase_add_test(c, one_rank);
	suite_add_tcase(s, c);
	return s;
}
