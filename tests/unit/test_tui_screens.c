/* SPDX-License-Identifier: MIT */
/* Golden screens: every panel and overlay, by size and by what the terminal can show. */
#include "config.h" // IWYU pragma: keep
#include "base/clock.h"
#include "test_tui_session.h"
#include "count_ns.h"
#include "tui/tui_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct tui_options live_utf8 = {.live = true, .command = "top"};
static const struct tui_options compared = {.command = "diff"};
static const struct tui_options live_by_p99 = {.live = true, .command = "top", .sort = "p99"};
static const struct tui_options live_ascii = {.live = true, .command = "top", .ascii = true};
static const struct tui_options joined = {.live = true, .source = TUI_OF_STREAMS, .command = "top"};
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
	{"tree_included", &live_utf8, "& 'backward|eval' Enter ! 'flash' Enter", 24, 80},
	{"tree_bad_expression", &live_utf8, "& 'a(b'", 24, 80},
	{"tree_search_prompt", &live_utf8, "/ 'gemm'", 24, 80},
	{"tree_search_found", &live_utf8, "/ 'gemm' Enter n", 24, 80},
	{"tree_by_device", &live_utf8, "G G E", 24, 80},
	{"tree_frozen", &live_utf8, "z", 24, 80},
	{"tree_paused", &live_utf8, "P", 24, 80},
	{"sort_menu", &live_utf8, "F6", 26, 80},
	{"sort_menu_40x10", &live_utf8, "F6", 10, 40},
	{"columns_80x24", &live_utf8, "F2 Down Down Down Down Down Down Down Space Left Left", 24,
	 80},
	{"columns_40x10", &live_ascii, "F2 Down Space", 10, 40},
	{"columns_chosen", &live_utf8, "F2 Space Down Down Space Space Left Left Esc", 24, 80},
	{"row_menu", &live_utf8, "Down Down Enter", 24, 80},
	{"row_menu_40x10", &live_ascii, "2 Enter", 10, 40},
	{"leave_menu", &live_utf8, "q", 24, 80},
	{"signal_menu", &live_ascii, "K", 24, 80},
	{"panel_menu", &live_utf8, "3 v", 24, 80},
	{"tree_by_p99", &live_by_p99, "", 24, 80},
	{"flat_80x24", &live_utf8, "2", 24, 80},
	{"flat_140x40", &live_utf8, "2", 40, 140},
	{"flat_40x10", &live_ascii, "2", 10, 40},
	{"flat_filtered", &live_utf8, "2 \\ 'gemm' Enter A", 24, 80},
	{"memory_80x24", &live_utf8, "3", 24, 80},
	{"memory_140x40", &live_utf8, "3", 40, 140},
	{"memory_40x10", &live_ascii, "3", 10, 40},
	{"devices_80x24", &live_utf8, "4", 24, 80},
	{"devices_140x40", &live_utf8, "4", 40, 140},
	{"bottom_up_80x24", &live_utf8, "7", 24, 80},
	{"bottom_up_140x40", &live_utf8, "7 % E", 40, 140},
	{"bottom_up_40x10", &live_ascii, "7 / 'gemm' Enter o", 10, 40},
	{"bottom_up_mono", &live_mono, "7 C Down H", 24, 80},
	{"bottom_up_filtered", &live_utf8, "7 \\ 'forward' Enter", 24, 80},
	{"bottom_up_by_device", &live_utf8, "7 G G C Down H", 24, 80},
	{"callers_80x24", &live_utf8, "/ 'forward' Enter 8", 24, 80},
	{"callers_140x40", &live_utf8, "2 Down Down 8", 40, 140},
	{"callers_40x10", &live_ascii, "2 Down Down 8", 10, 40},
	{"callers_mono", &live_mono, "/ 'mlp' Enter 8 Up Enter", 24, 80},
	{"callers_back", &live_utf8, "/ 'mlp' Enter 8 Up Enter Up Enter BkSp I", 24, 80},
	{"callers_of_root", &live_ascii, "8", 24, 80},
	{"flame_80x24", &live_utf8, "9", 24, 80},
	{"flame_140x40", &live_utf8, "9 H", 40, 140},
	{"flame_40x10", &live_ascii, "9 H", 10, 40},
	{"flame_mono", &live_mono, "9 Home Down Down Right", 24, 80},
	{"flame_ascii", &live_ascii, "9 Home Down Down Right Enter Down Down", 24, 80},
	{"flame_zoomed_back", &live_utf8, "9 Home Down Down Right Enter Down Enter BkSp", 24, 80},
	{"flame_below", &live_utf8, "9 x", 24, 80},
	{"flame_callers", &live_utf8, "9 x x Home Down Down", 24, 80},
	{"flame_callers_zoomed", &live_ascii, "9 x x Home Down Right Enter", 24, 80},
	{"flame_bytes", &live_utf8, "9 B", 24, 80},
	{"flame_found", &live_utf8, "9 / 'gemm' Enter n", 24, 80},
	{"flame_filtered", &live_utf8, "9 \\ 'forward' Enter", 24, 80},
	{"roofline_80x24", &live_utf8, "0", 24, 80},
	{"roofline_140x40", &live_utf8, "0 Right Right", 40, 140},
	{"roofline_40x10", &live_ascii, "0", 10, 40},
	{"roofline_mono", &live_mono, "0 Down Down", 24, 80},
	{"roofline_scopes", &live_ascii, "0 x", 24, 80},
	{"roofline_found", &live_utf8, "0 / 'bwd' Enter", 24, 80},
	{"durations_80x24", &live_utf8, "2 Down Down M-1", 24, 80},
	{"durations_140x40", &live_utf8, "2 Down Down M-1 x", 40, 140},
	{"durations_40x10", &live_ascii, "2 Down Down M-1", 10, 40},
	{"durations_mono", &live_mono, "2 Down Down M-1 Down Down", 24, 80},
	{"durations_none", &live_utf8, "2 M-1", 24, 80},
	{"losses_none", &live_utf8, "5", 24, 80},
	{"log_none", &live_utf8, "6", 24, 80},
	{"help_80x24", &live_utf8, "?", 24, 80},
	{"help_40x10", &live_ascii, "? PgDn", 10, 40},
	{"help_140x40", &live_utf8, "? PgDn", 40, 140},
	{"detail_kernel", &live_utf8, "/ 'flash_fwd' Enter d", 40, 140},
	{"detail_80x24_ascii", &live_ascii, "/ 'flash_fwd' Enter d", 24, 80},
	{"detail_scope", &live_utf8, "Down d", 24, 80},
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

/* The scopes of the made-up run are steps of a loop: a line of the header, or where it has no room, less. */
START_TEST(steps)
{
	static const struct {
		uint32_t metric;
		double v;
	} told[] = {{METRIC_STEPS, 316},        {METRIC_STEP_TIME, 316 * 41.2e6},
		    {METRIC_STEP_MIN, 39.9e6},  {METRIC_STEP_MAX, 60.1e6},
		    {METRIC_STEP_SLOWEST, 217}, {METRIC_STEP_MEDIAN, 41.0e6},
		    {METRIC_STEP_P95, 44.4e6},  {METRIC_STEP_DEVIATION, 1.3e6},
		    {METRIC_STEP_FIRST, 2.1e9}, {METRIC_STEP_APART, 316 * 3.5e6},
		    {METRIC_STEP_KNOWN, 316},   {METRIC_STEP_BUSY, 316 * 36.1e6},
		    {METRIC_STEP_BUSY_AT, 217}, {METRIC_STEP_BUSY_SLOWEST, 37.2e6}};
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		world_number(&w, w.step, w.lanes[2], told[i].metric, told[i].v);
	world_open(&w, _i == 2 ? &live_ascii : &live_utf8);
	world_tick(&w);
	if (_i == 0)
		world_golden(&w, 40, 140, "steps_140x40");
	else if (_i == 1)
		world_golden(&w, 24, 80, "steps_80x24");
	else
		world_golden(&w, 24, 120, "steps_120x24");
	world_done(&w);
}
END_TEST

/* The panel of counters: each with its past, and beside them what sensors tell; of a run that goes on and of one that is
 * over. */
static const struct {
	const char *name;
	const struct tui_options *options;
	int rows, cols;
	bool is_over;
} counter_panels[] = {
	{"panel_counters_80x24", &live_utf8, 24, 80, false},
	{"panel_counters_140x40", &live_utf8, 40, 140, false},
	{"panel_counters_40x10", &live_ascii, 10, 40, false},
	{"panel_counters_over_40x10", &live_ascii, 10, 40, true},
	{"panel_counters_over", &live_mono, 24, 80, true},
};

static void add_sensors(struct world *w, uint32_t device)
{
	*session_sensors_of(w->s, device) = (struct sensors){{[SENSOR_CLOCK] = 1500,
							      [SENSOR_CLOCK_MEAN] = 1712,
							      [SENSOR_CLOCK_MAX] = 1980,
							      [SENSOR_POWER] = 612,
							      [SENSOR_POWER_MAX] = 700,
							      [SENSOR_TEMPERATURE] = 61,
							      [SENSOR_TEMPERATURE_MAX] = 64,
							      [SENSOR_MEMORY] = 131e9,
							      [SENSOR_MEMORY_MAX] = 138e9}};
}

START_TEST(counters_panel)
{
	struct world w;

	world_init(&w);
	add_sensors(&w, 0);
	world_counters(&w, 0);
	w.s->counting = !counter_panels[_i].is_over;
	world_open(&w, counter_panels[_i].options);
	world_tick(&w);
	world_keys(&w, "M-8");
	world_golden(&w, counter_panels[_i].rows, counter_panels[_i].cols, counter_panels[_i].name);
	world_done(&w);
}
END_TEST

/* Devices alone, without any program. */
static const struct tui_options devices_utf8 = {
	.live = true, .source = TUI_OF_DEVICES, .command = "top", .panel = TUI_PANEL_COUNTERS};
static const struct tui_options devices_ascii = {.live = true,
						 .source = TUI_OF_DEVICES,
						 .command = "top",
						 .panel = TUI_PANEL_COUNTERS,
						 .ascii = true};
static const struct tui_options devices_mono = {.live = true,
						.source = TUI_OF_DEVICES,
						.command = "top",
						.panel = TUI_PANEL_COUNTERS,
						.theme = "mono"};

static const struct {
	const char *name;
	const struct tui_options *options;
	const char *keys;
	uint32_t n; /* devices */
	int rows, cols;
} devices_alone[] = {
	{"devices_alone_80x24", &devices_utf8, "", 1, 24, 80},
	{"devices_alone_140x40", &devices_utf8, "", 1, 40, 140},
	{"devices_alone_40x10", &devices_ascii, "", 1, 10, 40},
	{"devices_alone_mono", &devices_mono, "", 2, 24, 80},
	{"devices_alone_devices", &devices_utf8, "4", 2, 24, 80},
	{"devices_alone_notes", &devices_ascii, "5", 1, 24, 80},
};

static void devices(struct world *w, uint32_t n)
{
	world_init_empty(w);
	w->s->counters_asked = true;
	w->s->counting = true;
	for (uint32_t i = 0; i < n; i++) {
		struct session_device device = {.type = strtab_adds(w->s->strings, "CUDA"),
						.name = strtab_adds(w->s->strings, "NVIDIA H200"),
						.index = (int32_t)i,
						.host = SESSION_NONE};

		add_sensors(w, session_device_intern(w->s, &device));
		world_counters(w, i);
	}
	session_note(w->s, SESSION_NONE, NOTE_WARNING,
		     "sensors say nothing: libnvidia-ml.so.1 has not answered for 10 s");
	w->status.target = n == 1 ? "1 device of node7" : "2 devices of node7";
	w->status.pid = 0;
}

START_TEST(devices_without_a_program)
{
	struct world w;

	devices(&w, devices_alone[_i].n);
	world_open(&w, devices_alone[_i].options);
	world_keys(&w, devices_alone[_i].keys);
	world_golden(&w, devices_alone[_i].rows, devices_alone[_i].cols, devices_alone[_i].name);
	world_done(&w);
}
END_TEST

/* What sensors said at each picture is their past: of what they can say at most, or of the highest. */
START_TEST(past_of_sensors)
{
	struct sensors *sensors;
	struct world w;

	devices(&w, 1);
	sensors = session_sensors_of(w.s, 0);
	sensors->v[SENSOR_POWER_LIMIT] = 700;
	world_open(&w, &devices_utf8);
	for (unsigned i = 0; i < 40; i++) {
		sensors->v[SENSOR_POWER] = 100 + 15 * i;
		sensors->v[SENSOR_TEMPERATURE] = i < 20 ? 40 : 80;
		sensors->v[SENSOR_MEMORY] = i % 8 < 4 ? 0 : 131e9;
		world_tick(&w);
	}
	world_golden(&w, 24, 80, "devices_alone_past");
	world_done(&w);
}
END_TEST

/* The same in the header of a program that runs, behind the words: as many as there is room for. */
static const struct {
	const char *name;
	const struct tui_options *options;
	int rows, cols;
} sensor_meters[] = {
	{"sensor_meters_140x40", &live_utf8, 40, 140},
	{"sensor_meters_80x40", &live_mono, 40, 80},
	{"sensor_meters_110x40", &live_ascii, 40, 110},
};

START_TEST(past_of_sensors_in_the_header)
{
	struct sensors *sensors;
	struct world w;

	world_init(&w);
	add_sensors(&w, 0);
	sensors = session_sensors_of(w.s, 0);
	sensors->v[SENSOR_CLOCK_LIMIT] = 1980;
	sensors->v[SENSOR_POWER_LIMIT] = 700;
	sensors->v[SENSOR_MEMORY_TOTAL] = 151e9;
	world_open(&w, sensor_meters[_i].options);
	for (unsigned i = 0; i < 40; i++) {
		sensors->v[SENSOR_CLOCK] = i % 10 < 5 ? 1980 : 990;
		sensors->v[SENSOR_POWER] = 90 + 15 * i;
		sensors->v[SENSOR_TEMPERATURE] = i < 20 ? 40 : 80;
		sensors->v[SENSOR_MEMORY] = i < 10 ? 9.5e9 : 131e9;
		world_tick(&w);
	}
	world_golden(&w, sensor_meters[_i].rows, sensor_meters[_i].cols, sensor_meters[_i].name);
	world_done(&w);
}
END_TEST

/* Terminals of any size, down to one character: nothing is drawn outside, and those with room for it have the panel. */
START_TEST(any_size)
{
	static const struct tui_options *const options[] = {&live_utf8, &devices_ascii};
	struct world w;

	if (_i == 0)
		world_init(&w);
	else
		devices(&w, 2);
	world_open(&w, options[_i]);
	for (unsigned panel = 0; panel < TUI_N_PANELS; panel++)
		for (int rows = 1; rows <= 13; rows += 1 + (rows > 5))
			for (int cols = 1; cols <= 40; cols += 1 + cols / 6) {
				_cleanup_(buf_done) struct buf text = {0};

				w.t->current = (enum tui_panel)panel;
				ck_assert_int_eq(tui_dump(w.t, rows, cols, false, &text), 0);
			}
	world_done(&w);
}
END_TEST

/* Of the only device: a line of meters, or where there is none for them, beside how busy it is. */
static const struct {
	const char *name;
	const struct tui_options *options;
	int rows, cols;
} meters[] = {
	{"header_counters_80x24", &live_mono, 24, 80},
	{"header_counters_140x40", &live_utf8, 40, 140},
	{"header_counters_80x12", &live_ascii, 12, 80},
	{"header_counters_40x10", &live_ascii, 10, 40},
};

START_TEST(counter_meters)
{
	uint32_t process, lane;
	struct world w;

	world_init_empty(&w);
	process = session_process_add(w.s, 7);
	lane = session_lane_intern(
		w.s, &(struct session_lane){
			     process,
			     session_device_intern(
				     w.s,
				     &(struct session_device){
					     .type = strtab_adds(w.s->strings, "CUDA"),
					     .name = strtab_adds(w.s->strings, "NVIDIA H200"),
					     .host = SESSION_NONE}),
			     1, 7, 0});
	world_kernel(&w, world_node(&w, SESSION_ROOT, FRAME_KERNEL, "gemm"), lane,
		     &(struct kernel_values){NSEC_PER_SEC, 1000, 1000000, 1000000});
	ck_assert_int_eq(session_use_set(w.s, &(struct session_use){.busy_ns = 38 * NSEC_PER_SEC}),
			 0);
	world_counters(&w, 0);
	w.s->counting = true;
	world_open(&w, meters[_i].options);
	world_tick(&w);
	world_golden(&w, meters[_i].rows, meters[_i].cols, meters[_i].name);
	world_done(&w);
}
END_TEST

/* Below the device that they were read on, as means of its last second while they come, else of the run. */
START_TEST(counters)
{
	static const double v[COUNTED_N] = {
		[COUNTED_DRAM_READ] = 43.7,    [COUNTED_DRAM_WRITE] = 0,
		[COUNTED_GPC_CLOCK] = 1.755e9, [COUNTED_L2_HIT] = 75,
		[COUNTED_NVLINK_RX] = NAN,     [COUNTED_PCIE_READ] = 12.5e9,
		[COUNTED_PCIE_WRITE] = 0.5e9,  [COUNTED_SM_ACTIVE] = 62.5,
		[COUNTED_SM_ISSUE] = 37.5,     [COUNTED_TENSOR] = 50};
	struct session_counters c = {.of = {.start_ns = START_NS,
					    .end_ns = START_NS + NSEC_PER_SEC,
					    .counted_ns = NSEC_PER_SEC,
					    .n = 100}};
	struct world w;

	world_init(&w);
	memcpy(c.of.v, v, sizeof(v));
	c.of.v[COUNTED_SM_ACTIVE] = 12.5;
	ck_assert_int_eq(session_counters_add(w.s, &c), 0);
	c.of.start_ns += 2 * NSEC_PER_SEC;
	c.of.end_ns += 2 * NSEC_PER_SEC;
	c.of.v[COUNTED_SM_ACTIVE] = 62.5;
	ck_assert_int_eq(session_counters_add(w.s, &c), 0);
	w.s->counting = _i < 2;
	world_open(&w, &live_utf8);
	world_tick(&w);
	if (_i == 1) /* as many lines as there are */
		world_keys(&w, "^");
	if (_i == 0)
		world_golden(&w, 40, 140, "counters_140x40");
	else if (_i == 1)
		world_golden(&w, 24, 80, "counters_80x24");
	else
		world_golden(&w, 40, 80, "counters_over");
	world_done(&w);
}
END_TEST

/* Details of a kernel say what it was made from, and that it is not known where generated code does not say it. */
START_TEST(made_of)
{
	static const char *const lines[] = {
		"/c/nx/cnxwxywdlitivdpzen5nj5z2n4miggflnzqcjcx7yervrrrbqczk.py:172@call",
		"/c/nx/cnxwxywdlitivdpzen5nj5z2n4miggflnzqcjcx7yervrrrbqczk.py:180@call"};
	const struct kernel_values v = {200000000, 40, 4000000, 6000000};
	struct world w;
	uint32_t line, text;

	world_init(&w);
	text = strtab_adds(w.s->strings, "[norm, add] aten.linalg_vector_norm, aten.add");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		line = world_node(&w, w.step, FRAME_PYTHON, lines[i]);
		if (i == 0)
			session_frame_symbol(w.s, w.s->nodes[line].frame, text, 0, 172);
		world_kernel(&w, world_node(&w, line, FRAME_KERNEL, i ? "of_nobody" : "triton_0"),
			     w.lanes[2], &v);
	}
	world_open(&w, &live_utf8);
	world_tick(&w);
	world_keys(&w, _i ? "/ 'of_nobody' Enter d" : "/ 'triton_0' Enter d");
	world_golden(&w, 24, 80, _i ? "detail_made_of_unknown" : "detail_made_of");
	world_done(&w);
}
END_TEST

/* Shares of whole graphs are marked, in boxes, too; and the help says what that is. */
START_TEST(estimated)
{
	static const char *const kernels[] = {"decode_attention", "decode_mlp"};
	const struct kernel_values v = {200000000, 40, 4000000, 6000000};
	struct world w;
	struct buf scratch;
	uint32_t node, kernel;

	world_init(&w);
	node = world_node(&w, w.step, FRAME_GRAPH, "<captured_at>");
	node = world_node(&w, node, FRAME_GRAPH_RUN, "<graph: 2 kernels>");
	node = world_node(&w, node, FRAME_GRAPH, "<estimated>");
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		kernel = world_node(&w, node, FRAME_KERNEL, kernels[i]);
		world_kernel(&w, kernel, w.lanes[2], &v);
		world_number(&w, kernel, w.lanes[2], METRIC_ESTIMATED, 200000000);
	}
	world_open(&w, &live_utf8);
	world_tick(&w);
	world_keys(&w, "9 / 'decode_att' Enter");
	world_golden(&w, 40, 140, "flame_estimated");
	world_keys(&w, "?");
	buf_init(&scratch, 0);
	tui_dump(w.t, 24, 80, false, &scratch);
	buf_done(&scratch);
	world_keys(&w, "End");
	world_golden(&w, 24, 80, "help_end");
	world_done(&w);
}
END_TEST

/* A terminal without colours and UTF-8: nothing is there that it cannot show, what the cursor is on has a mark,
 * and a word that says how to leave what is in front is whole or not there. */
START_TEST(plain_terminals)
{
	static const struct tui_options plain = {
		.live = true, .command = "top", .theme = "mono", .ascii = true};
	static const char *const panels[] = {
		"1", "2", "3", "4", "5", "7", "8", "9", "0", "2 Down Down M-1", "M-4", "1 d", "?"};
	static const struct {
		int rows, cols;
	} sizes[] = {{10, 40}, {24, 80}, {36, 120}, {50, 200}};
	struct buf screen;
	struct world w;

	world_init(&w);
	world_open(&w, &plain);
	world_tick(&w);
	for (size_t i = 0; i < ARRAY_SIZE(panels); i++) {
		world_keys(&w, panels[i]);
		buf_init(&screen, 0);
		ck_assert_int_eq(tui_dump(w.t, sizes[_i].rows, sizes[_i].cols, false, &screen), 0);
		for (size_t k = 0; k < screen.len; k++)
			ck_assert_msg(screen.data[k] == '\n' ||
					      (screen.data[k] >= ' ' && screen.data[k] <= '~'),
				      "panel %s: byte %zu", panels[i], k);
		ck_assert_msg(strchr(panels[i], '?') || strchr(buf_str(&screen), '>'), "panel %s",
			      panels[i]);
		ck_assert_ptr_null(strstr(buf_str(&screen), "(Esc~"));
		buf_done(&screen);
	}
	world_keys(&w, "Esc 9 / 'flash' Enter");
	world_golden(&w, sizes[_i].rows, sizes[_i].cols,
		     (const char *const[]){"flame_plain_40x10", "flame_plain_80x24",
					   "flame_plain_120x36", "flame_plain_200x50"}[_i]);
	world_done(&w);
}
END_TEST

/* Boxes are filled by kind; all that a search finds are marked, not only the one it went to. */
START_TEST(flame_attributes)
{
	struct world w;

	world_init(&w);
	world_open(&w, &live_utf8);
	world_tick(&w);
	world_keys(&w, "9 / 'flash' Enter");
	world_golden_attributes(&w, 24, 80, "flame_attributes");
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

/* Each theme, in the colours that a terminal gets. */
START_TEST(themes)
{
	struct tui_options options = {
		.live = true, .command = "top", .theme = tui_theme_name((unsigned)_i)};
	char name[64];
	struct world w;

	world_init(&w);
	w.s->processes[0].losses[LOSS_DROPPED] = 12; /* alarms too */
	world_open(&w, &options);
	world_tick(&w);
	world_keys(&w, "Down / 'flash' Enter z");
	snprintf(name, sizeof(name), "theme_%s", options.theme);
	world_golden_print(&w, 24, 80, PRINT_ANSI, name);
	world_done(&w);
}
END_TEST

START_TEST(themes_in_turn)
{
	struct world w;

	world_init(&w);
	world_open(&w, &live_utf8);
	world_tick(&w);
	for (unsigned i = 1; tui_theme_name(i); i++) {
		char text[64];

		world_keys(&w, "V");
		snprintf(text, sizeof(text), "theme: %s", tui_theme_name(i));
		ck_assert(world_shows(&w, text));
	}
	world_keys(&w, "V");
	ck_assert(world_shows(&w, "theme: default"));
	world_done(&w);
}
END_TEST

/* A picture of each sort; an XML parser looks at them in test_tui_svg.sh. */
static const struct {
	const char *name, *theme, *keys;
	bool ascii;
	int rows, cols;
	enum print_format format;
} prints[] = {
	{"print", NULL, "Down / 'flash' Enter", false, 24, 80, PRINT_TEXT},
	{"print", NULL, "Down / 'flash' Enter", false, 24, 80, PRINT_SVG},
	{"print_light", "light", "2", false, 24, 80, PRINT_SVG},
	{"print_mono", "mono", "Down", true, 10, 40, PRINT_SVG},
};

START_TEST(printed)
{
	struct tui_options options = {.live = true,
				      .command = "top",
				      .theme = prints[_i].theme,
				      .ascii = prints[_i].ascii};
	struct world w;

	world_init(&w);
	world_open(&w, &options);
	world_tick(&w);
	world_keys(&w, prints[_i].keys);
	world_golden_print(&w, prints[_i].rows, prints[_i].cols, prints[_i].format,
			   prints[_i].name);
	world_done(&w);
}
END_TEST

/* ---- special worlds ---- */

static const struct tui_options file = {.command = "view"};
static const struct tui_options file_of_two = {
	.command = "view",
	.metrics =
		"total,gpu__time_duration.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};
static const struct tui_options file_ascii = {.command = "view", .ascii = true};

static void no_process(struct world *w)
{
	world_init_empty(w);
}

static void no_process_ended(struct world *w)
{
	world_init_empty(w);
	w->status.run = TUI_RUN_ENDED;
}

static void no_gpu_work(struct world *w)
{
	world_init_empty(w);
	session_process_add(w->s, 7);
}

static void no_records(struct world *w)
{
	no_gpu_work(w);
	w->s->processes[0].launches_counted = true;
	w->s->processes[0].n_launches = 12;
	w->s->processes[0].oldest_ns = UINT64_C(12000000000);
}

static void empty_file(struct world *w)
{
	world_init_empty(w);
	w->status =
		(struct tui_status){.run = TUI_RUN_FILE, .target = "run.hatchet", .own_cpu = NAN};
}

static void losses(struct world *w)
{
	world_init(w);
	w->s->processes[0].losses[LOSS_DROPPED] = 1200;
	w->s->processes[0].losses[LOSS_PIPE_FULL] = 3;
	w->s->losses[LOSS_WIRE_ERROR] = 1;
	session_note(w->s, 0, NOTE_WARNING, "CUPTI is held by another tool (nsys): API times only");
	session_note(w->s, SESSION_NONE, NOTE_INFO, "2 kernels have no name");
	session_note(w->s, 0, NOTE_ERROR, "activity kind 46 cannot be enabled");
}

static void killed(struct world *w)
{
	world_init(w);
	w->status.run = TUI_RUN_ENDED;
	w->status.wait_status = 9;
}

/* All has come: rates are of nothing, and what was busy is of the whole run. */
static void over(struct world *w)
{
	struct session_run run = {.end = PROCESS_ENDED, .signal = 9};

	killed(w);
	run.wall_ns = 4 * w->s->uses[0].busy_ns;
	session_run_add(w->s, &run);
	w->s->ended = true;
	w->status.file = "/data/runs/proton.train.py.41207.hatchet";
}

static void unwritten(struct world *w)
{
	over(w);
	w->status.file_error = "No space left on device";
}

static void in_flight(struct world *w)
{
	world_init(w);
	w->status.n_children = 8;
	w->s->processes[0].launches_counted = true;
	w->s->processes[0].n_launches = 1000;
	w->s->processes[0].n_records = 960;
	w->s->processes[0].oldest_ns = UINT64_C(14000000000);
	session_process_add(w->s, 8);
	w->s->processes[1].pid = 41300;
	w->s->processes[1].rank = 1;
	w->s->processes[1].end = PROCESS_VANISHED;
}

/* A long name of the program takes no room from launches in flight and losses. */
static void long_target(struct world *w)
{
	in_flight(w);
	w->status.target =
		"/home/user/experiments/2026-11/run-0042/bin/solver_with_a_name_longer_than_most";
	w->s->processes[0].oldest_ns = 3 * NSEC_PER_SEC;
	w->s->processes[0].losses[LOSS_DROPPED] = 1200;
}

/* Of a file's path, the end stays longest; the name of the program is there all the same. */
static void long_paths(struct world *w)
{
	world_init(w);
	w->s->ended = true;
	w->status = (struct tui_status){
		.run = TUI_RUN_FILE,
		.target = "/data/experiments/2026-11-21-llama-70b/run_0042/proton.rank0.hatchet",
		.compared =
			"/data/experiments/2026-11-20-llama-70b/run_0041/proton.r\xc3\xa4nk0.hatchet",
		.own_cpu = NAN,
	};
}

/* The age of launches that are as young as they should be is not shown. */
static void young_flight(struct world *w)
{
	in_flight(w);
	w->status.target = "/opt/bin/solver";
	w->s->processes[0].oldest_ns = NSEC_PER_SEC / 5;
}

/* The program has ended, two of its children have not. */
static void children(struct world *w)
{
	world_init(w);
	w->s->processes[0].end = PROCESS_ENDED;
	for (uint32_t i = 1; i <= 3; i++) {
		session_process_add(w->s, 7 + i);
		w->s->processes[i].pid = 41300 + i;
		w->s->processes[i].end = i == 3 ? PROCESS_ENDED : PROCESS_RUNS;
	}
	w->status.n_children = 3;
	w->status.run = TUI_RUN_ENDED;
	w->status.wait_status = 0;
}

static void log_text(struct world *w)
{
	world_init(w);
	w->log = "loading \x1b[32mcheckpoint\x1b[0m\n"
		 "step 1\tloss 3.21\n"
		 "10%\r50%\r100%\n"
		 "\n"
		 "bell\a and \x1b]0;title\a a line that is much longer than the screen is wide, so "
		 "that it has to be cut somewhere\n"
		 "no newline at the end";
}

static void long_log(struct world *w)
{
	static char text[1 << 16];
	char *p = text;

	world_init(w);
	for (int i = 1; i <= 1000; i++)
		p += sprintf(p, "line %d\n", i);
	w->log = text;
}

/* Sixty levels, then a kernel; and one whose name is a page long. */
static void deep(struct world *w)
{
	uint32_t node = SESSION_ROOT;
	char name[3000];

	world_init(w);
	for (int i = 1; i <= 60; i++) {
		snprintf(name, sizeof(name), "recurse.py:%d@descend", i);
		node = world_node(w, node, FRAME_PYTHON, name);
	}
	world_kernel(w, world_node(w, node, FRAME_KERNEL, "the_bottom"), w->lanes[0],
		     &(struct kernel_values){UINT64_C(90000000000), 9, 1, 2});
	strcpy(name, "void cutlass::Kernel<");
	for (int i = 0; i < 60; i++)
		strcat(name, "cutlass::gemm::threadblock::MmaMultistage<float, ");
	strcat(name, "3> >(Params)");
	world_kernel(w, world_node(w, node, FRAME_KERNEL, name), w->lanes[0],
		     &(struct kernel_values){UINT64_C(80000000000), 9, 1, 2});
}

/* What tells them apart is in the middle, or at the end, and stands in namespaces. */
static void alike(struct world *w)
{
	static const char *const names[] = {
		"at::native::reduce_kernel<512, 1, sum_functor<BFloat16, float>>",
		"at::native::reduce_kernel<512, 1, sum_functor<Half, float>>",
		"at::native::vectorized_elementwise_kernel<4, direct_copy>",
		"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_f16_knob_26_64x64x64_kernel0_0",
		"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_f16_knob_7_64x128x64_kernel0_0",
	};

	world_init_empty(w);
	session_process_add(w->s, 7);
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		world_kernel(
			w, world_node(w, SESSION_ROOT, FRAME_KERNEL, names[i]),
			session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0}),
			&(struct kernel_values){1000000 - i, 1, 1000, 2000});
}

static void hostile(struct world *w)
{
	static const char *const names[] = {
		"\x1b[2J\x1b[Hgone",
		"two\nlines",
		"bad \xff\xfe utf-8",
		"漢字かな交じり文",
		"rtl \xe2\x80\xaegnp.exe",
		("e\xcc\x81"
		 "accent"),
		"emoji \xf0\x9f\x9a\x80 launch",
		"tab\tstop",
		"zero\xe2\x80\x8bwidth",
		"",
		"    blanks    ",
	};

	world_init_empty(w);
	session_process_add(w->s, 7);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		world_kernel(
			w, world_node(w, SESSION_ROOT, FRAME_KERNEL, names[i]),
			session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0}),
			&(struct kernel_values){1000000 - i, 1, 1000, 2000});
}

/* Scopes with time on the host and a metric of the user's own; no device anywhere. */
static void host_only(struct world *w)
{
	struct metric m = {.name = "tokens",
			   .unit = "",
			   .type = METRIC_U64,
			   .scope = METRIC_INCLUSIVE,
			   .add = METRIC_SUM,
			   .weight = METRIC_NONE};
	uint32_t lane, outer, inner;

	world_init_empty(w);
	session_process_add(w->s, 7);
	lane = session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	outer = world_node(w, SESSION_ROOT, FRAME_SCOPE, "parse");
	inner = world_node(w, outer, FRAME_SCOPE, "tokenize");
	world_number(w, outer, lane, METRIC_CPU_TIME, 10e9);
	world_number(w, inner, lane, METRIC_CPU_TIME, 7e9);
	world_number(w, inner, lane, metric_table_add(w->s->metrics, &m), 123456);
}

/* A loop in Python whose contexts were read at some launches alone: of one kernel below it all calls were
 * read, and no scope is marked for what is below it. */
static void sampled(struct world *w)
{
	uint32_t scope, step, forward, gemm;

	world_init_empty(w);
	session_process_add(w->s, 7);
	w->lanes[0] = session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	scope = world_node(w, SESSION_ROOT, FRAME_SCOPE, "train");
	step = world_node(w, scope, FRAME_PYTHON, "/home/me/training/train.py:12@step");
	forward = world_node(w, step, FRAME_PYTHON, "/home/me/training/model.py:40@forward");
	gemm = world_node(w, forward, FRAME_KERNEL, "gemm");
	world_kernel(w, gemm, w->lanes[0], &(struct kernel_values){6000000, 300, 10000, 40000});
	world_number(w, gemm, w->lanes[0], METRIC_GUESSED, 120);
	world_kernel(w, world_node(w, forward, FRAME_KERNEL, "relu"), w->lanes[0],
		     &(struct kernel_values){500000, 100, 5000, 5000});
	world_kernel(w, world_node(w, step, FRAME_KERNEL, "adam"), w->lanes[0],
		     &(struct kernel_values){900000, 100, 9000, 9000});
}

/* A kernel with scopes within, which have cycles and no time, and of which some were not read. */
/* Of 1,200 warps, each once in a scope. */
static void cycles_of(struct world *w, uint32_t node, double cycles)
{
	world_number(w, node, w->lanes[0], METRIC_CYCLES, cycles * 1200);
	world_number(w, node, w->lanes[0], METRIC_NORMALIZED_CYCLES, cycles);
	world_number(w, node, w->lanes[0], METRIC_SCOPE_ENTRIES, 1200);
	world_number(w, node, w->lanes[0], METRIC_CYCLES_MIN, cycles / 2);
	world_number(w, node, w->lanes[0], METRIC_CYCLES_MAX, cycles * 3);
}

static void inside(struct world *w)
{
	static const struct {
		const char *name;
		double cycles;
	} parts[] = {{"load", 60}, {"mma", 140}};
	uint32_t kernel, whole, part;

	world_init_empty(w);
	session_process_add(w->s, 7);
	w->lanes[0] = session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	kernel = world_node(w, world_node(w, SESSION_ROOT, FRAME_SCOPE, "layer"), FRAME_KERNEL,
			    "attention");
	world_kernel(w, kernel, w->lanes[0], &(struct kernel_values){6000000, 300, 10000, 40000});
	whole = world_node(w, kernel, FRAME_INSTRUMENT, "whole");
	cycles_of(w, whole, 210);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		part = world_node(w, whole, FRAME_INSTRUMENT, parts[i].name);
		cycles_of(w, part, parts[i].cycles);
	}
	session_note(w->s, 0, NOTE_WARNING,
		     "scopes within some kernels are not in this profile: what they recorded did "
		     "not reach the host");
}

/* Hardware metrics of a scope, as record --range scope has them: none of the kernels in it. */
static void counted_scope(struct world *w)
{
	static const struct metric bytes = {.name = "dram__bytes.sum",
					    .unit = "B",
					    .type = METRIC_F64,
					    .scope = METRIC_INCLUSIVE,
					    .add = METRIC_SUM,
					    .weight = METRIC_NONE};
	uint32_t scope;

	world_init_empty(w);
	session_process_add(w->s, 7);
	w->lanes[0] = session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	scope = world_node(w, SESSION_ROOT, FRAME_SCOPE, "layer");
	world_kernel(w, world_node(w, scope, FRAME_KERNEL, "gemm"), w->lanes[0],
		     &(struct kernel_values){6000000, 300, 10000, 40000});
	world_number(w, scope, w->lanes[0], metric_table_add(w->s->metrics, &bytes), 1342177280);
}

/* Kernels that are too many for the columns, some of them for any column. */
static void many(struct world *w)
{
	uint32_t scope;
	char name[32];

	world_init_empty(w);
	session_process_add(w->s, 7);
	w->lanes[0] = session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	scope = world_node(w, SESSION_ROOT, FRAME_SCOPE, "all of them");
	for (unsigned i = 1; i <= 500; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		world_kernel(w, world_node(w, scope, FRAME_KERNEL, name), w->lanes[0],
			     &(struct kernel_values){UINT64_C(1000000000) / i, 1, 1, 2});
	}
	scope = world_node(w, SESSION_ROOT, FRAME_SCOPE, "a little");
	world_kernel(w, scope, w->lanes[0], &(struct kernel_values){2000000, 1, 1, 2});
}

/* A scope for each step of a loop: none of them has a column. */
static void even(struct world *w)
{
	char name[32];

	world_init_empty(w);
	session_process_add(w->s, 7);
	w->lanes[0] = session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0});
	for (unsigned i = 1; i <= 300; i++) {
		snprintf(name, sizeof(name), "step %u", i);
		world_kernel(w,
			     world_node(w, world_node(w, SESSION_ROOT, FRAME_SCOPE, name),
					FRAME_KERNEL, "gemm"),
			     w->lanes[0], &(struct kernel_values){1000000 - i, 1, 1, 2});
	}
}

/* A function below itself: its time must not count twice. */
static void recursive(struct world *w)
{
	uint32_t node;

	world_init(w);
	node = world_node(w, w->step, FRAME_PYTHON, "fib.py:1@fib");
	for (int i = 1; i <= 3; i++) {
		world_kernel(w, world_node(w, node, FRAME_KERNEL, "add"), w->lanes[0],
			     &(struct kernel_values){UINT64_C(10000000000), 9, 1, 2});
		node = world_node(w, node, FRAME_PYTHON, i == 2 ? "fib.py:9@memo" : "fib.py:1@fib");
	}
}

/* Time alone. */
static void time_alone(struct world *w)
{
	world_init_empty(w);
	session_process_add(w->s, 7);
	world_kernel(w, world_node(w, SESSION_ROOT, FRAME_KERNEL, "add"),
		     session_lane_intern(w->s, &(struct session_lane){0, SESSION_NONE, 0, 0, 0}),
		     &(struct kernel_values){1000000, 1, 1000, 2000});
}

/* As a file of Triton's Proton has it. */
static void totals_only(struct world *w)
{
	world_init(w);
	while (w->s->n_hists)
		hist_done(&w->s->hists[--w->s->n_hists].hist);
}

/* From a microsecond to a second: more bins than lines. */
static void wide_durations(struct world *w)
{
	uint32_t node, n = 1;

	time_alone(w);
	node = world_node(w, SESSION_ROOT, FRAME_KERNEL, "add");
	for (uint64_t ns = 1000; ns < 1000000000; ns *= 3, n += 2)
		count_ns(w->s, node, SESSION_NONE, ns, n);
	world_kernel(w, node, 0,
		     &(struct kernel_values){UINT64_C(9000000000), 169, 1000, 387420489});
}

/* Intensities from a thousandth to a million: whole decades are all that has room. */
static void wide_roofline(struct world *w)
{
	double bytes = 1e12;

	world_init(w);
	for (int i = 0; i < 9; i++, bytes /= 10) {
		char name[16];
		uint32_t node;

		snprintf(name, sizeof(name), "kernel_%d", i);
		node = world_node(w, SESSION_ROOT, FRAME_KERNEL, name);
		world_kernel(w, node, w->lanes[0], &(struct kernel_values){1000000 << i, 1, 1, 1});
		world_number(w, node, w->lanes[0], METRIC_FLOPS8 + (uint32_t)i % 3, 1e9);
		world_number(w, node, w->lanes[0], METRIC_BYTES, bytes);
	}
}

/* The second device is slower, and did some of the work. */
static void two_roofs(struct world *w)
{
	uint32_t node;

	world_init(w);
	w->s->devices[1].arch = strtab_adds(w->s->strings, "80");
	node = world_node(w, SESSION_ROOT, FRAME_KERNEL, "elsewhere");
	world_kernel(w, node, w->lanes[2], &(struct kernel_values){4000000000, 1, 1, 1});
	world_number(w, node, w->lanes[2], METRIC_FLOPS16, 8e14);
	world_number(w, node, w->lanes[2], METRIC_BYTES, 4e12);
}

/* A device of which neither peaks nor the bus are known. */
static void opencl_device(struct world *w)
{
	world_init(w);
	for (size_t i = 0; i < w->s->n_devices; i++) {
		w->s->devices[i].type = strtab_adds(w->s->strings, "OpenCL");
		w->s->devices[i].arch = 0;
		w->s->devices[i].bus_width_bits = 0;
	}
}

/* A device of which nobody wrote down what it can do. */
static void unknown_device(struct world *w)
{
	world_init(w);
	for (size_t i = 0; i < w->s->n_devices; i++)
		w->s->devices[i].arch = strtab_adds(w->s->strings, "20");
}

static const struct {
	const char *name;
	void (*init)(struct world *w);
	const struct tui_options *options;
	const char *keys;
	int rows, cols;
} worlds[] = {
	{"empty_nothing_connected", no_process, &live_utf8, "", 24, 80},
	{"empty_nothing_connected_ended", no_process_ended, &live_utf8, "", 24, 80},
	{"empty_no_stream", no_process, &joined, "", 24, 80},
	{"empty_no_stream_ended", no_process_ended, &joined, "", 24, 80},
	{"empty_no_gpu_work", no_gpu_work, &live_utf8, "", 24, 80},
	{"empty_no_records", no_records, &live_utf8, "2", 24, 80},
	{"empty_40x10", no_process, &live_ascii, "", 10, 40},
	{"empty_file", empty_file, &file, "", 24, 80},
	{"empty_memory", no_gpu_work, &live_utf8, "3", 24, 80},
	{"empty_bottom_up", no_gpu_work, &live_ascii, "7", 24, 80},
	{"deep_bottom_up", deep, &live_utf8, "7 C E", 24, 80},
	{"sampled_80x24", sampled, &live_utf8, "*", 24, 80},
	{"sampled_40x10", sampled, &live_ascii, "*", 10, 40},
	{"counted_80x24", world_init_counted, &file, "", 24, 80},
	{"counted_140x40", world_init_counted, &file, "", 40, 140},
	{"counted_40x10", world_init_counted, &file_ascii, "", 10, 40},
	{"counted_ascii", world_init_counted, &file_ascii, "", 24, 100},
	{"counted_mono", world_init_counted, &live_mono, "", 24, 80},
	{"counted_of_two", world_init_counted, &file_of_two, "", 24, 160},
	{"counted_of_two_80x24", world_init_counted, &file_of_two, "", 24, 80},
	{"counted_kernels", world_init_counted, &file, "2", 24, 140},
	{"counted_roofline", world_init_counted, &file, "0", 24, 80},
	{"counted_roofline_140x40", world_init_counted, &file, "0", 40, 140},
	{"counted_scope", counted_scope, &file, "", 24, 80},
	{"counted_scope_kernels", counted_scope, &file, "2", 24, 80},
	{"counted_scope_bottom_up", counted_scope, &file, "7", 24, 80},
	{"inside_kernels_80x24", inside, &file, "C E", 24, 80},
	{"inside_kernels_140x40", inside, &live_utf8, "C E", 40, 140},
	{"inside_kernels_live", inside, &live_utf8, "C E", 24, 80},
	{"inside_kernels_40x10", inside, &file_ascii, "C E", 10, 40},
	{"inside_kernels_notes", inside, &file, "5", 24, 80},
	{"host_only_bottom_up", host_only, &live_utf8, "7", 24, 80},
	{"empty_callers", no_gpu_work, &live_ascii, "8", 24, 80},
	{"recursive_callers", recursive, &live_utf8, "/ 'fib' Enter 8", 24, 80},
	{"host_only_callers", host_only, &live_utf8, "Down 8", 24, 80},
	{"empty_flame", no_gpu_work, &live_ascii, "9", 24, 80},
	{"deep_flame", deep, &live_utf8, "9 H", 24, 80},
	{"alike_kernels", alike, &live_utf8, "2", 10, 60},
	{"alike_flame", alike, &live_utf8, "9", 10, 140},
	{"many_flame", many, &live_utf8, "9 Home Down End", 24, 80},
	{"many_flame_ascii", many, &live_ascii, "9 Home Down Down Right Enter Enter", 10, 40},
	{"even_flame", even, &live_utf8, "9 Home Down", 24, 80},
	{"even_flame_rest", even, &live_utf8, "9 Home Down Enter Down", 24, 80},
	{"even_flame_rest_of_rest", even, &live_ascii,
	 "9 Home Down Enter Down } } } } } } } } } } Enter Down", 24, 80},
	{"many_flame_rest", many, &live_utf8, "9 Home Down Down / 'k10' Enter Right Enter", 24, 80},
	{"host_only_flame", host_only, &live_utf8, "9 H", 24, 80},
	{"empty_roofline", no_gpu_work, &live_ascii, "0", 24, 80},
	{"roofline_no_flops", time_alone, &live_utf8, "0", 24, 80},
	{"roofline_no_roofs", opencl_device, &live_ascii, "0", 24, 80},
	{"roofline_no_peaks", unknown_device, &live_utf8, "0", 24, 80},
	{"roofline_two_roofs", two_roofs, &live_utf8, "0", 24, 100},
	{"roofline_other_roof", two_roofs, &live_utf8, "0 End", 24, 100},
	{"roofline_wide", wide_roofline, &live_ascii, "0", 24, 80},
	{"roofline_wide_140x40", wide_roofline, &live_utf8, "0", 40, 140},
	{"host_only_roofline", host_only, &live_utf8, "0", 24, 80},
	{"empty_durations", no_gpu_work, &live_ascii, "M-1", 24, 80},
	{"durations_wide", wide_durations, &live_utf8, "2 M-1", 24, 80},
	{"durations_totals_only", totals_only, &file, "2 M-1", 24, 80},
	{"empty_devices", no_process, &live_utf8, "4", 24, 80},
	{"losses", losses, &live_utf8, "5", 24, 80},
	{"losses_40x10", losses, &live_ascii, "5", 10, 40},
	{"ended_killed", killed, &live_utf8, "", 24, 80},
	{"ended_killed_80x13", killed, &live_utf8, "", 13, 80},
	{"ended_killed_40x10", killed, &live_ascii, "", 10, 40},
	{"over_80x24", over, &live_utf8, "", 24, 80},
	{"over_devices_40x40", over, &live_utf8, "4", 40, 40},
	{"over_devices_140x40", over, &live_utf8, "4", 40, 140},
	{"over_40x20", over, &live_ascii, "", 20, 40},
	{"over_unwritten", unwritten, &live_utf8, "", 24, 80},
	{"over_file", over, &file, "4", 24, 80},
	{"findings_80x24", over, &file, "M-4", 24, 80},
	{"findings_140x40", over, &live_utf8, "M-4 Down Down Down", 40, 140},
	{"findings_40x10", over, &live_ascii, "M-4", 10, 40},
	{"findings_none", no_gpu_work, &live_utf8, "M-4", 24, 80},
	{"findings_losses", losses, &live_utf8, "M-4", 24, 80},
	{"in_flight_140x40", in_flight, &live_utf8, "4", 40, 140},
	{"in_flight_80x24", in_flight, &live_utf8, "4", 24, 80},
	{"long_target_80x24", long_target, &live_utf8, "5", 24, 80},
	{"long_target_140x40", long_target, &live_utf8, "5", 40, 140},
	{"long_paths_80x24", long_paths, &compared, "5", 24, 80},
	{"long_paths_140x40", long_paths, &compared, "5", 40, 140},
	{"long_paths_40x10", long_paths, &compared, "5", 10, 40},
	{"young_flight", young_flight, &live_utf8, "5", 24, 80},
	{"ended_children", children, &live_utf8, "4", 24, 80},
	{"search_elsewhere", losses, &live_utf8, "5 / 'matmul' Enter", 24, 80},
	{"log", log_text, &live_utf8, "6", 24, 80},
	{"log_follows", long_log, &live_utf8, "6", 24, 80},
	{"log_typing", log_text, &live_utf8, "i 'print(x)'", 24, 80},
	{"log_scrolled", long_log, &live_utf8, "6 PgUp k", 24, 80},
	{"deep", deep, &live_utf8, "C H", 24, 80},
	{"deep_40x10", deep, &live_ascii, "C H", 10, 40},
	{"deep_top", deep, &live_utf8, "", 24, 80},
	{"deep_scrolled", deep, &live_utf8, "C H } S-Right S-Right", 24, 80},
	{"deep_detail", deep, &live_utf8, "C H } d", 40, 140},
	{"hostile", hostile, &live_utf8, "", 24, 80},
	{"hostile_ascii", hostile, &live_ascii, "", 24, 80},
	{"hostile_flat_40x10", hostile, &live_utf8, "2", 10, 40},
	{"host_only", host_only, &live_utf8, "", 24, 80},
	{"host_only_detail", host_only, &live_utf8, "H d", 24, 80},
	{"file_80x24", world_init, &file, "", 24, 80},
	{"losses_10x20", world_init, &live_utf8, "5", 10, 20},
	{"losses_filtered", world_init, &live_utf8, "5 \\ 'sm90_xmma_gemm' Enter", 24, 60},
	{"too_small", world_init, &live_utf8, "", 4, 30},
	{"smallest", world_init, &live_utf8, "", 5, 20},
};

static void look_at_file(struct world *w)
{
	w->status.run = TUI_RUN_FILE;
	w->status.target = "run.hatchet";
	w->status.pid = 0;
	w->status.up_ns = 0;
	w->s->ended = true;
}

/* Each by the peak of what did the work: the FMA pipe, tensor cores, memory. */
START_TEST(counted_util)
{
	struct peaks *peaks = peaks_new();
	const struct tui_options options = {
		.command = "view",
		.metrics = "total,GB/s,TF/s,util (inc),bound,source",
		.peaks = peaks,
	};
	struct world w;

	world_init_counted(&w);
	look_at_file(&w);
	world_open(&w, &options);
	world_golden(&w, 12, 80, "counted_util");
	world_keys(&w, "0");
	world_golden(&w, 24, 80, "counted_roofs");
	world_done(&w);
	peaks_free(peaks);
}
END_TEST

/* The tabs, which no other text shows: with titles, short ones or keys alone, with something lost,
 * with what the view is set to and an overlay behind them. Whichever is in front, all others look as
 * before. */
START_TEST(tabs)
{
	static const char *const keys[] = {"",  "2", "8", "M-4", "5", "\\ 'sm90_xmma_gemm' Enter",
					   "?", NULL};
	struct world w;

	losses(&w);
	world_open(&w, &live_utf8);
	world_golden_tabs(&w, keys, "tabs");
	world_done(&w);
}
END_TEST

/* Names that a file should not hold make no harm in a picture. */
START_TEST(hostile_print)
{
	struct world w;

	hostile(&w);
	world_open(&w, &live_utf8);
	world_golden_print(&w, 24, 80, PRINT_SVG, "print_hostile");
	world_golden_print(&w, 24, 80, PRINT_ANSI, "print_hostile");
	world_done(&w);
}
END_TEST

START_TEST(special)
{
	struct world w;

	worlds[_i].init(&w);
	if (!strcmp(worlds[_i].options->command, "view"))
		look_at_file(&w);
	world_open(&w, worlds[_i].options);
	world_keys(&w, worlds[_i].keys);
	world_golden(&w, worlds[_i].rows, worlds[_i].cols, worlds[_i].name);
	world_done(&w);
}
END_TEST

/* The charts of the header: after so many windows, in which the first device is ever more busy up to
 * the middle of every minute, then idle, and the second copies now and then. */
START_TEST(past)
{
	static const int windows[] = {5, 30, 100, 1500};
	char name[32];
	struct world w;

	world_init(&w);
	world_open(&w, &live_utf8);
	for (int i = 0; i < windows[_i]; i++) {
		w.s->uses[0].busy_ns += i % 60 < 30 ? (uint64_t)(i % 60) * NSEC_PER_SEC / 30 : 0;
		w.s->uses[1].busy_ns += i % 7 ? 0 : NSEC_PER_SEC;
		w.now_ns += NSEC_PER_SEC;
		clock_fake(w.now_ns);
		ck_assert_int_eq(tui_refresh(w.t), 0);
	}
	snprintf(name, sizeof(name), "past_%d_120x32", windows[_i]);
	world_golden(&w, 32, 120, name);
	snprintf(name, sizeof(name), "past_%d_80x24", windows[_i]);
	world_golden(&w, 24, 80, name);
	world_done(&w);
}
END_TEST

Suite *suite_screens(void)
{
	Suite *s = suite_create("screens");
	TCase *c = tcase_create("golden");
	int n_themes;

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, steps, 0, 3);
	tcase_add_loop_test(c, counters, 0, 3);
	tcase_add_loop_test(c, counter_meters, 0, ARRAY_SIZE(meters));
	tcase_add_loop_test(c, counters_panel, 0, ARRAY_SIZE(counter_panels));
	tcase_add_loop_test(c, devices_without_a_program, 0, ARRAY_SIZE(devices_alone));
	tcase_add_loop_test(c, any_size, 0, 2);
	tcase_add_test(c, past_of_sensors);
	tcase_add_loop_test(c, past_of_sensors_in_the_header, 0, ARRAY_SIZE(sensor_meters));
	tcase_add_test(c, estimated);
	tcase_add_loop_test(c, made_of, 0, 2);
	tcase_add_loop_test(c, screen, 0, (int)(sizeof(screens) / sizeof(screens[0])));
	tcase_add_loop_test(c, special, 0, (int)(sizeof(worlds) / sizeof(worlds[0])));
	tcase_add_loop_test(c, past, 0, 4);
	for (n_themes = 0; tui_theme_name((unsigned)n_themes);)
		n_themes++;
	tcase_add_test(c, tabs);
	tcase_add_loop_test(c, themes, 0, n_themes);
	tcase_add_test(c, themes_in_turn);
	tcase_add_loop_test(c, printed, 0, (int)(sizeof(prints) / sizeof(prints[0])));
	tcase_add_test(c, hostile_print);
	tcase_add_test(c, counted_util);
	tcase_add_test(c, attributes_follow_roles);
	tcase_add_test(c, flame_attributes);
	tcase_add_loop_test(c, plain_terminals, 0, 4);
	suite_add_tcase(s, c);
	return s;
}
