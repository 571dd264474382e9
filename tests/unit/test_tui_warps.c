/* SPDX-License-Identifier: MIT */
/* The timeline within kernels: what it looks like, and where its keys lead. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/panel_warps.h"
#include "tui/tui_impl.h"
#include "warp_traces.h"

static struct world w;
static struct warp_trace scopes;
static struct warp_source source;

static void setup(void)
{
	world_init(&w);
	ck_assert_int_eq(warp_trace_init(&scopes), 0);
}

static void teardown(void)
{
	world_done(&w);
	warp_trace_done(&scopes);
}

static void open_with(struct tui_options options)
{
	source = warp_source_of(&scopes);
	options.warps = &source;
	options.command = "view";
	world_open(&w, &options);
	world_tick(&w);
	world_keys(&w, "M-9");
	world_draw(&w, 24, 80);
}

static struct panel_warps *warps(void)
{
	panel_refresh(w.t->panels[TUI_PANEL_WARPS]);
	return as_warps(w.t->panels[TUI_PANEL_WARPS]);
}

static uint64_t at(void)
{
	return warps()->axis.at;
}

static const char *here(void)
{
	struct panel *p = tui_panel(w.t);

	panel_refresh(p);
	return p->ops->row_name(p, p->cursor);
}

/* One warp of a kernel of the other name, of which nothing is known but its cycles: a scope that was not left, a mark and a
 * value. */
static void small_launch(void)
{
	struct warp_making m = {.t = &scopes, .at = 1000};
	const struct warp_trace_launch l = {.kernel = strtab_adds(scopes.names, "probe"),
					    .device = -1};
	uint32_t loop;

	ck_assert_int_eq(warp_trace_add_launch(&scopes, &l), 0);
	loop = warp_add(&m, "loop", WARP_EVENT_SCOPE, 1000, 1000, WARP_TRACE_NO_PARENT);
	m.v[loop].is_open = true;
	warp_spend(&m, "body", 40, loop);
	warp_add(&m, "here", WARP_EVENT_MARK, 1045, 1045, loop);
	m.at = 1060;
	warp_spend(&m, "body", 30, loop);
	warp_add(&m, "items", WARP_EVENT_VALUE, 1080, 1080, loop);
	m.v[m.n - 1].value = 2.5;
	ck_assert_int_eq(
		warp_trace_add_warp(&scopes, &(struct warp_trace_warp){.warp = 3}, m.v, m.n), 0);
}

/* ---- looks ---- */

static const struct {
	struct golden_look look;
	bool kernels, lost;
} looks[] = {
	{{"warps_80x24", "", 24, 80}},
	{{"warps_140x40", "", 40, 140}},
	{{"warps_40x10", "", 10, 40}},
	{{"warps_1x1", "", 1, 1}},
	{{"warps_lanes", "Enter", 24, 80}},
	{{"warps_lanes_140x40", "Enter Down } } }", 40, 140}},
	{{"warps_groups", "Enter G", 24, 80}},
	{{"warps_sms", "G", 24, 80}},
	{{"warps_late", "L", 24, 80}},
	{{"warps_ns", "x", 24, 80}},
	{{"warps_mono", "Enter", 24, 80, .no_color = true}},
	{{"warps_ascii", "Enter + + }", 24, 80, .ascii = true}},
	{{"warps_attributes", "Enter", 24, 80, .attributes = true}},
	{{"warps_zoomed", "Enter Enter", 24, 80}},
	{{"warps_kernels", "F6", 24, 80}, .kernels = true},
	{{"warps_lost", "", 24, 80}, .lost = true},
	{{"warps_lost_ascii", "Enter", 24, 80, .ascii = true}, .lost = true},
};

START_TEST(golden)
{
	const struct tui_options options = {.ascii = looks[_i].look.ascii,
					    .no_color = looks[_i].look.no_color};

	warp_launch_lost(&scopes, 3811, 20, looks[_i].lost ? 3 : 0);
	if (looks[_i].kernels)
		small_launch();
	if (looks[_i].lost) { /* and every second block */
		scopes.launches[0].n_blocks = 40;
		scopes.launches[0].n_dropped = 180;
	}
	open_with(options);
	world_look(&w, &looks[_i].look);
}
END_TEST

/* One warp, no clock of the device, a scope that is open, instants. */
START_TEST(small)
{
	small_launch();
	open_with((struct tui_options){.ascii = false});
	ck_assert_int_eq(warps()->kind, WARP_LANES_WARPS);
	world_golden(&w, 24, 80, "warps_small");
	world_golden(&w, 40, 140, "warps_small_140x40");
	world_golden(&w, 10, 40, "warps_small_40x10");
	ck_assert_str_eq(here(), "body");
	world_keys(&w, "x");
	ck_assert(world_shows(&w, "it is not known how long a cycle of this launch was"));
	world_keys(&w, "}");
	ck_assert_str_eq(here(), "loop");
	ck_assert(world_shows(&w, "loop  not left while it recorded  w3 of CTA 0, SM 0"));
	world_keys(
		&w,
		"} u"); /* from the second body to all of the loop, which begins with the first */
	ck_assert_uint_eq(at(), 0);
	ck_assert(axis_is_all(&warps()->axis));
	world_keys(&w, "L");
	ck_assert(world_shows(&w, "no CTA stands out"));
	world_keys(&w, ">");
	ck_assert(world_shows(&w, "there is one launch"));
	world_keys(&w, "= Home");
	while (!world_shows(&w, "here  a mark  w3 of CTA 0") && at() < warps()->axis.end - 1)
		world_keys(&w, "Right");
	ck_assert_uint_ge(at(), 43);
	ck_assert_uint_le(at(), 45);
	while (!world_shows(&w, "items = 2.5  w3 of CTA 0") && at() < warps()->axis.end - 1)
		world_keys(&w, "Right");
	ck_assert_uint_ge(at(), 78);
	ck_assert_uint_le(at(), 80);
}
END_TEST

/* A warp that loads three tiles ahead of two that multiply: most of its time it waits for them. */
static void specialised_launch(void)
{
	enum { TILES = 12, AHEAD = 3, LOAD = 120, LATENCY = 700, MULTIPLY = 900 };
	const struct warp_trace_launch l = {.kernel = strtab_adds(scopes.names, "gemm_ws"),
					    .device = 0,
					    .n_blocks = 1,
					    .n_block_warps = 12};
	struct warp_making making[3] = {{.t = &scopes}, {.t = &scopes}, {.t = &scopes}};
	struct warp_making *load = &making[0];
	uint64_t full, done[TILES];

	ck_assert_int_eq(warp_trace_add_launch(&scopes, &l), 0);
	for (unsigned k = 0; k < TILES; k++) {
		if (k >= AHEAD)
			warp_spend(load, "wait empty", done[k - AHEAD] - load->at,
				   WARP_TRACE_NO_PARENT);
		warp_spend(load, "tma load", LOAD, WARP_TRACE_NO_PARENT);
		full = load->at + LATENCY;
		for (unsigned i = 1; i < ARRAY_SIZE(making); i++) {
			struct warp_making *m = &making[i];

			if (m->at < full)
				warp_spend(m, "wait full", full - m->at, WARP_TRACE_NO_PARENT);
			warp_spend(m, "wgmma", MULTIPLY + 50 * i, WARP_TRACE_NO_PARENT);
			done[k] = m->at;
		}
	}
	for (unsigned i = 0; i < ARRAY_SIZE(making); i++) {
		struct warp_trace_warp warp = {.warp = 4 * i,
					       .entered_ns = WARP_NS,
					       .left_ns = WARP_NS + making[i].at / 2,
					       .left_clock = making[i].at};

		ck_assert_int_eq(warp_trace_add_warp(&scopes, &warp, making[i].v, making[i].n), 0);
	}
}

/* Who waits is seen at once, with and without colours: "wait empty" and "wgmma" begin with the same letter. */
static const struct golden_look waiting[] = {
	{"warps_waits", "} }", 24, 80, .attributes = true},
	{"warps_waits_mono", "} }", 24, 80, .no_color = true},
	{"warps_waits_ascii", "} } + +", 24, 80, .ascii = true},
};

START_TEST(waits)
{
	specialised_launch();
	open_with(
		(struct tui_options){.ascii = waiting[_i].ascii, .no_color = waiting[_i].no_color});
	world_look(&w, &waiting[_i]);
}
END_TEST

START_TEST(says_what_is_missing)
{
	world_open(&w, &(struct tui_options){.command = "view"});
	world_tick(&w);
	ck_assert(!world_shows(&w, "M-9"));
	world_keys(&w, "M-9");
	ck_assert(world_shows(&w, "no single scopes of warps are known"));
	world_keys(&w, "+ - } { L H G x > < F6 Enter BkSp = u / 'QK' Enter n N Home End");
	ck_assert(world_shows(&w, "no single scopes"));
}
END_TEST

/* The header says what is known of devices where nothing but warps is. */
START_TEST(devices_of_warps)
{
	snapshot_free(w.snap);
	session_free(w.s);
	world_init_empty(&w);
	small_launch();
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "scopes of warps, and not on which device they ran"));
	warp_launch(&scopes, 1, 2);
	warp_launch(&scopes, 2, 2);
	warp_launch(&scopes, 3, 2);
	scopes.launches[2].device = 3;
	ck_assert(world_shows(&w, "GPU0, GPU3: scopes of warps, and nothing else of it is in the "
				  "file"));
}
END_TEST

/* Nobody is sent to launches that are not there. */
START_TEST(no_warps_at_all)
{
	const struct warp_trace_launch l = {.kernel = strtab_adds(scopes.names, "probe")};

	ck_assert_int_eq(warp_trace_add_launch(&scopes, &l), 0);
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "no warp of this launch recorded"));
	ck_assert(!world_shows(&w, "go to other launches"));
}
END_TEST

/* Launches were there, and there is no room for any. */
START_TEST(none_is_kept)
{
	scopes.n_left_out = 12;
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "of 12 launches with scopes of warps none is kept"));
	ck_assert(!world_shows(&w, "proton record"));
	world_keys(&w, "> < F6 G L Enter t BkSp");
	ck_assert(!world_shows(&w, "launch 1"));
}
END_TEST

/* A launch whose warps all found no room. */
START_TEST(no_warps)
{
	const struct warp_trace_launch l = {.kernel = strtab_adds(scopes.names, "probe")};

	ck_assert_int_eq(warp_trace_add_launch(&scopes, &l), 0);
	small_launch();
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "no warp of this launch recorded"));
	ck_assert(world_shows(&w, "> and < go to other launches"));
	world_keys(&w, ">");
	ck_assert(world_shows(&w, "launch 2 of 2"));
	ck_assert_str_eq(here(), "body");
	world_keys(&w, ">");
	ck_assert(world_shows(&w, "no warp of this launch recorded"));
}
END_TEST

START_TEST(lanes_of_all_kinds)
{
	static const enum warp_lane_kind kinds[] = {WARP_LANES_SMS, WARP_LANES_WARPS,
						    WARP_LANES_GROUPS, WARP_LANES_BLOCKS};

	warp_launch(&scopes, 1, 20);
	open_with((struct tui_options){.ascii = false});
	world_keys(&w, "Down Down Down");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct warp_lane *lane;

		world_keys(&w, "G");
		ck_assert_int_eq(warps()->kind, kinds[i]);
		lane = warps_lane(tui_panel(w.t), tui_panel(w.t)->cursor);
		ck_assert_uint_eq(lane->block, 3); /* the cursor stays with it */
	}
}
END_TEST

/* Into a block, into a scope, and back to what was seen. */
START_TEST(into_and_back)
{
	warp_launch(&scopes, 1, 20);
	open_with((struct tui_options){.ascii = false});
	world_keys(&w, "Down Down Enter");
	ck_assert_int_eq(warps()->kind, WARP_LANES_WARPS);
	ck_assert_uint_lt(axis_span(&warps()->axis), warps()->axis.end / 2);
	ck_assert(world_shows(&w, "CTA 2  SM 2"));
	world_keys(&w, "} Enter");
	ck_assert_str_eq(here(), "load K");
	ck_assert_uint_eq(axis_span(&warps()->axis), 900 + 900 / 4);
	world_keys(&w, "u");
	ck_assert_str_eq(here(), "tile");
	ck_assert_uint_eq(axis_span(&warps()->axis), 9000 + 9000 / 4);
	world_keys(&w, "BkSp");
	ck_assert_str_eq(here(), "load K");
	world_keys(&w, "Esc BkSp");
	ck_assert_int_eq(warps()->kind, WARP_LANES_BLOCKS);
	ck_assert(axis_is_all(&warps()->axis));
	ck_assert_uint_eq(warps_lane(tui_panel(w.t), tui_panel(w.t)->cursor)->block, 2);
	world_keys(&w, "BkSp");
	ck_assert(world_shows(&w, "there is no view before this one"));
	world_keys(&w, "-");
	ck_assert(world_shows(&w, "this is all of the launch"));
	for (int i = 0; i < 40; i++)
		world_keys(&w, "+");
	ck_assert(world_shows(&w, "a column is a cycle"));
	ck_assert_uint_eq(axis_span(&warps()->axis), warps()->axis.n);
}
END_TEST

/* The worst first, whatever the lanes are. */
START_TEST(late_blocks)
{
	warp_launch(&scopes, 1, 20);
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "softmax             11 2.4x"));
	world_keys(&w, "L");
	ck_assert(world_shows(&w, "CTA 11 on SM 3: softmax takes 1500 cycles, 2.4 times"));
	ck_assert_uint_eq(warps_lane(tui_panel(w.t), tui_panel(w.t)->cursor)->block, WARP_LATE);
	ck_assert(world_shows(&w, "CTA 11!"));
	world_keys(&w, "L");
	ck_assert(world_shows(&w, "CTA 11 on SM 3: tile takes 12.3K cycles, 1.3 times"));
	world_keys(&w, "G Home Up Up Up H x H");
	ck_assert_int_eq(warps()->kind, WARP_LANES_BLOCKS);
	ck_assert(world_shows(&w, "CTA 11 on SM 3: tile takes 6.14us, 1.3 times"));
	world_keys(&w, "Enter");
	ck_assert(world_shows(&w, "CTA 11  SM 3"));
	ck_assert(world_shows(&w, "stands out"));
}
END_TEST

START_TEST(launches)
{
	warp_launch(&scopes, 3811, 20);
	warp_launch(&scopes, 3812, 8);
	small_launch();
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "launch 3811 (1 of 3)"));
	world_keys(&w, ">");
	ck_assert(world_shows(&w, "launch 3812 (2 of 3)"));
	ck_assert(world_shows(&w, "8 CTAs on 8 SMs  1 wave"));
	world_keys(&w, "< <");
	ck_assert(world_shows(&w, "probe"));
	world_keys(&w, "F6");
	ck_assert(world_shows(&w, "2 times"));
	world_keys(&w, "Up Enter");
	ck_assert(world_shows(&w, "launch 3811 (1 of 3)"));
}
END_TEST

/* Of one kernel alone its launches are to choose from; not all have a number. */
START_TEST(launches_of_one_kernel)
{
	warp_launch(&scopes, 3811, 20);
	warp_launch(&scopes, 0, 8);
	open_with((struct tui_options){.ascii = false});
	world_keys(&w, "F6");
	ck_assert(world_shows(&w, "1 of 2  launch 3811  180 warps"));
	ck_assert(world_shows(&w, "2 of 2  72 warps"));
	world_keys(&w, "Down Enter");
	ck_assert(world_shows(&w, "  launch 2 of 2  GPU0"));
}
END_TEST

static void launch_of(const struct warp_trace_process *process, uint64_t launch)
{
	uint32_t of;

	warp_launch(&scopes, launch, 8);
	ck_assert_int_eq(warp_trace_process(&scopes, process, &of), 0);
	scopes.launches[scopes.n_launches - 1].process = of;
}

START_TEST(launches_of_one_process)
{
	launch_of(&(struct warp_trace_process){1, 70, 3}, 1);
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "  launch 1  GPU0"));
}
END_TEST

/* Each process has a launch 1 and a GPU0: which one it is, is said. */
START_TEST(launches_of_processes)
{
	static const struct warp_trace_process processes[] = {{1, 70, 3}, {2, 80, -1}};

	for (int i = 0; i < 2; i++)
		launch_of(&processes[i], 1);
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "launch 1 (1 of 2)  rank 3  GPU0"));
	world_keys(&w, ">");
	world_golden(&w, 24, 80, "warps_processes");
	ck_assert(world_shows(&w, "launch 1 (2 of 2)  pid 80  GPU0"));
	world_keys(&w, "F6");
	ck_assert(world_shows(&w, "1 of 2  launch 1  rank 3  72 warps"));
	ck_assert(world_shows(&w, "2 of 2  launch 1  pid 80  72 warps"));
}
END_TEST

/* ---- while the program runs ---- */

/* Launches [first, end) of those in `scopes` are there at the next look. */
static struct {
	struct warp_source source;
	struct warp_trace list;
	size_t first, end;
	int error; /* of loading */
} program;

static void look(struct warp_source *s)
{
	s->generation++;
	program.list = scopes;
	program.list.launches = scopes.launches + program.first;
	program.list.n_launches = program.end - program.first;
}

static int load(struct warp_source *s, size_t launch, const struct warp_trace **ret,
		size_t *ret_launch)
{
	ck_assert_uint_lt(launch, s->list->n_launches);
	*ret = &scopes;
	*ret_launch = (size_t)(s->list->launches + launch - scopes.launches);
	return program.error;
}

static uint64_t id_of(const struct warp_source *s, size_t launch)
{
	return s->list->launches[launch].launch;
}

/* Launches 1, 2 … of the same kernel. */
static void run_program(size_t n_launches)
{
	struct tui_options options = {.command = "top", .live = true, .warps = &program.source};

	for (size_t i = 0; i < n_launches; i++)
		warp_launch(&scopes, i + 1, 20);
	memset(&program, 0, sizeof(program));
	program.source = (struct warp_source){
		.list = &program.list, .look = look, .load = load, .id = id_of};
	world_open(&w, &options);
	world_tick(&w);
}

/* The next refresh, with launches [first, end). */
static void go_on(size_t first, size_t end)
{
	program.first = first;
	program.end = end;
	world_tick(&w);
}

START_TEST(live)
{
	run_program(6);
	ck_assert(!w.t->panels[TUI_PANEL_WARPS]->ops->is_there(w.t));
	world_keys(&w, "M-9");
	ck_assert(world_shows(&w, "no launch of a kernel with scopes has been kept so far"));
	go_on(0, 1);
	ck_assert(w.t->panels[TUI_PANEL_WARPS]->ops->is_there(w.t));
	ck_assert(world_shows(&w, "launch 1  GPU0"));
	world_keys(&w, "Down Down Right Right");
	go_on(0, 2); /* the cursor stays where it was */
	ck_assert(world_shows(&w, "launch 2 (2 of 2)"));
	ck_assert_uint_eq(warps_lane(tui_panel(w.t), tui_panel(w.t)->cursor)->block, 2);
	ck_assert_uint_eq(axis_column(&warps()->axis, at()), 2);
	world_golden(&w, 24, 80, "warps_live");
	world_keys(&w, "z"); /* held, also where it is refreshed */
	go_on(0, 3);
	ck_assert(world_shows(&w, "launch 2 (2 of 2)"));
	world_keys(&w, "z");
	go_on(0, 3);
	ck_assert(world_shows(&w, "launch 3 (3 of 3)"));
	world_keys(&w, "+"); /* a part of it is looked at */
	go_on(0, 4);
	ck_assert(world_shows(&w, "launch 3 (3 of 4)"));
	world_keys(&w, "=");
	world_keys(&w, "BkSp -");
	go_on(1, 5); /* the first is kept no more */
	ck_assert(world_shows(&w, "launch 5 (4 of 4)"));
	world_keys(&w, "<");
	ck_assert(world_shows(&w, "launch 4 (3 of 4)"));
	go_on(1, 6); /* that was chosen */
	ck_assert(world_shows(&w, "launch 4 (3 of 5)"));
	go_on(2, 6);
	ck_assert(world_shows(&w, "launch 4 (2 of 4)"));
	world_keys(&w, "> >");
	ck_assert(world_shows(&w, "launch 6 (4 of 4)"));
}
END_TEST

/* Of its kernel: others come beside it. */
START_TEST(live_kernels)
{
	warp_launch(&scopes, 41, 20);
	small_launch();
	scopes.launches[1].launch = 42;
	run_program(2);
	world_keys(&w, "M-9");
	go_on(0, 1);
	ck_assert(world_shows(&w, "launch 41  GPU0"));
	go_on(0, 2);
	ck_assert(world_shows(&w, "launch 41 (1 of 2)"));
	go_on(0, 4);
	ck_assert(world_shows(&w, "launch 2 (4 of 4)"));
	world_keys(&w, "F6 Down Enter"); /* probe */
	ck_assert(world_shows(&w, "launch 42 (2 of 4)"));
	world_keys(&w, "F6 Up Enter"); /* the latest of the other */
	ck_assert(world_shows(&w, "launch 2 (4 of 4)"));
}
END_TEST

/* The file of a launch knows its own process alone; the list knows of others. */
static int load_alone(struct warp_source *s, size_t launch, const struct warp_trace **ret,
		      size_t *ret_launch)
{
	static struct warp_trace alone;

	alone = scopes;
	alone.n_processes = 1;
	*ret = &alone;
	*ret_launch = launch;
	return s->list->n_launches > launch ? 0 : -ENOENT;
}

START_TEST(live_of_processes)
{
	launch_of(&(struct warp_trace_process){1, 70, 0}, 41);
	launch_of(&(struct warp_trace_process){2, 80, 1}, 42);
	run_program(0);
	program.source.load = load_alone;
	world_keys(&w, "M-9");
	go_on(0, 2);
	ck_assert(world_shows(&w, "launch 42 (2 of 2)  rank 1  GPU0"));
}
END_TEST

/* What was shown and is nowhere any more gives way; so does what cannot be read, when it is gone. */
START_TEST(live_and_gone)
{
	run_program(3);
	world_keys(&w, "M-9");
	go_on(0, 2);
	world_keys(&w, "<");
	ck_assert(world_shows(&w, "launch 1 (1 of 2)"));
	go_on(1, 3);
	ck_assert(world_shows(&w, "launch 3 (2 of 2)"));
	program.error = -ENOENT;
	world_keys(&w, "<");
	ck_assert(world_shows(&w, "this launch is not kept any more"));
	ck_assert(world_shows(&w, "> and < go to other launches"));
	program.error = -EFBIG;
	world_keys(&w, ">");
	ck_assert(world_shows(&w, "too many scopes to be shown while the program runs"));
	program.error = 0;
	world_keys(&w, "<");
	ck_assert(world_shows(&w, "launch 2 (1 of 2)"));
}
END_TEST

/* One sentence says what to ask for. */
START_TEST(live_and_not_asked_for)
{
	static const struct {
		enum tui_source source;
		const char *says;
	} sources[] = {
		{TUI_OF_PROGRAM, "'proton top --intra-trace' keeps what each warp did when"},
		{TUI_OF_STREAMS, "single scopes of warps stay where the program runs"},
	};
	struct tui_options options = {.command = "top", .live = true, .source = sources[_i].source};

	world_open(&w, &options);
	world_tick(&w);
	world_keys(&w, "M-9");
	ck_assert(world_shows(&w, sources[_i].says));
}
END_TEST

/* The kernel's row opens its launch, and back. */
START_TEST(from_the_tree_and_back)
{
	uint32_t path;

	small_launch();
	warp_launch(&scopes, 1, 20);
	path = strtab_adds(scopes.names, "train_step\nforward\nattention");
	scopes.launches[1].kernel = strtab_adds(scopes.names, "flash_fwd<128,128>");
	scopes.launches[1].path = path;
	open_with((struct tui_options){.ascii = false});
	ck_assert(world_shows(&w, "probe"));
	world_keys(&w, "t");
	ck_assert(world_shows(&w, "this row is no calling context"));
	world_keys(&w, "1 / 'train_step' Enter Enter");
	ck_assert(world_shows(&w, "everything known about it"));
	ck_assert(!world_shows(&w, "what its warps did when")); /* it is no kernel */
	world_keys(&w, "Esc / 'flash_fwd' Enter Enter");
	ck_assert(world_shows(&w, "M-9   what its warps did when"));
	world_keys(&w, "M-9");
	ck_assert_uint_eq(warps()->launch, 1);
	ck_assert(world_shows(&w, "flash_fwd<128,128>"));
	world_keys(&w, "t");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	ck_assert(world_shows(&w, "attention"));
}
END_TEST

START_TEST(search)
{
	warp_launch(&scopes, 1, 20);
	open_with((struct tui_options){.ascii = false});
	world_keys(&w, "G G / 'load' Enter"); /* warps */
	ck_assert_str_eq(here(), "load K");
	world_keys(&w, "n");
	ck_assert_str_eq(here(), "load V");
	world_keys(&w, "N");
	ck_assert_str_eq(here(), "load K");
	world_keys(&w, "/ 'softmax' Enter");
	ck_assert_str_eq(here(), "softmax");
	world_keys(&w, "/ 'nobody' Enter");
	ck_assert(world_shows(&w, "'nobody' is not in Warps"));
}
END_TEST

START_TEST(help_of_signs)
{
	warp_launch(&scopes, 1, 20);
	open_with((struct tui_options){.ascii = false});
	world_keys(&w, "?");
	ck_assert(world_shows(&w, "lanes: warps, groups of four warps, CTAs"));
	world_keys(&w, "/ 'Signs of' Enter");
	ck_assert(world_shows(&w, "Signs of this panel (Warps)"));
	ck_assert(world_shows(&w, "warps are there and in no scope"));
	world_keys(&w, "/ '99 of 100' Enter");
	ck_assert(world_shows(&w, "took no longer, in cycles (x: nanoseconds)"));
}
END_TEST

/* A press puts the cursor there. */
START_TEST(mouse)
{
	const struct hit *hit;

	warp_launch(&scopes, 1, 20);
	open_with((struct tui_options){.ascii = false});
	hit = hits_find(&w.t->hits, 12, 40);
	ck_assert_ptr_nonnull(hit);
	ck_assert_int_eq(hit->kind, HIT_PART);
	tui_panel(w.t)->ops->pick(tui_panel(w.t), hit->value);
	ck_assert_uint_eq(warps_lane(tui_panel(w.t), tui_panel(w.t)->cursor)->block, 5);
	ck_assert_uint_eq(axis_column(&warps()->axis, at()), 40 - 12);
	tui_panel(w.t)->ops->pick(tui_panel(w.t), 1 << 30); /* of a screen before */
}
END_TEST

/* Any keys in any order, on any size. */
START_TEST(any_keys)
{
	static const char *const keys[] = {"Left",     "Right", "S-Left", "S-Right", "+",    "-",
					   "=",        "Enter", "BkSp",   "}",       "{",    "L",
					   "H",        "Home",  "End",    "Down",    "Up",   "n",
					   "N",        "u",     "G",      "x",       ">",    "<",
					   "F6 Enter", "PgDn",  "t M-9",  "m",       "PgUp", "X"};
	unsigned state = (unsigned)_i + 1;
	struct buf screen;

	warp_launch(&scopes, 1, 20);
	small_launch();
	warp_launch(&scopes, 2, 3);
	open_with((struct tui_options){.ascii = _i % 2});
	world_keys(&w, "/ 'soft' Enter");
	buf_init(&screen, 1 << 20);
	for (int i = 0; i < 300; i++) {
		const struct axis *a;

		state = state * 1103515245 + 12345;
		world_keys(&w, keys[(state >> 16) % ARRAY_SIZE(keys)]);
		buf_clear(&screen);
		ck_assert_int_eq(tui_dump(w.t, 1 + (int)(state >> 20) % 40,
					  1 + (int)(state >> 12) % 170, false, &screen),
				 0);
		a = &warps()->axis;
		ck_assert_uint_le(a->to, a->end);
		ck_assert_uint_ge(axis_span(a), a->n);
		ck_assert_uint_ge(a->at, a->from);
		ck_assert_uint_lt(a->at, a->to);
	}
	buf_done(&screen);
}
END_TEST

Suite *suite_warps(void)
{
	Suite *suite = suite_create("warps");
	TCase *tc = tcase_create("warps");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, golden, 0, (int)ARRAY_SIZE(looks));
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, small);
	tcase_add_loop_test(tc, waits, 0, (int)ARRAY_SIZE(waiting));
	tcase_add_test(tc, says_what_is_missing);
	tcase_add_test(tc, devices_of_warps);
	tcase_add_test(tc, none_is_kept);
	tcase_add_test(tc, no_warps);
	tcase_add_test(tc, no_warps_at_all);
	tcase_add_test(tc, lanes_of_all_kinds);
	tcase_add_test(tc, into_and_back);
	tcase_add_test(tc, late_blocks);
	tcase_add_test(tc, launches);
	tcase_add_test(tc, launches_of_one_kernel);
	tcase_add_test(tc, launches_of_one_process);
	tcase_add_test(tc, launches_of_processes);
	tcase_add_test(tc, live_of_processes);
	tcase_add_test(tc, live);
	tcase_add_test(tc, live_kernels);
	tcase_add_test(tc, live_and_gone);
	tcase_add_loop_test(tc, live_and_not_asked_for, 0, 2);
	tcase_add_test(tc, from_the_tree_and_back);
	tcase_add_test(tc, search);
	tcase_add_test(tc, help_of_signs);
	tcase_add_test(tc, mouse);
	tcase_add_loop_test(tc, any_keys, 0, 6);
	suite_add_tcase(suite, tc);
	return suite;
}
