/* SPDX-License-Identifier: MIT */
/* The timeline: what it looks like, and where its keys lead. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/axis_hits.h"
#include "tui/panel_timeline.h"
#include "tui/tui_impl.h"

#define BEGIN_NS UINT64_C(5000000000)
#define US(x)    ((uint64_t)(x)*NSEC_PER_USEC)
#define THREAD   41207

static struct world w;

static void traced(uint32_t node, uint32_t lane, uint64_t from_us, uint64_t to_us)
{
	const struct session_interval v = {
		BEGIN_NS + US(from_us), BEGIN_NS + US(to_us), node, lane, 0, {0}};

	ck_assert_int_eq(session_interval_add(w.s, &v), 0);
}

/* By the thread whose scopes are there. */
static void launched(uint32_t node, uint32_t lane, uint64_t from_us, uint64_t to_us,
		     uint64_t before_us)
{
	struct session_lane of = w.s->lanes[lane];

	of.thread = THREAD;
	traced(node, session_lane_intern(w.s, &of), from_us, to_us);
	w.s->intervals[w.s->n_intervals - 1].latency_ns = (uint32_t)US(before_us);
}

/* A step of 10 ms: scopes of the host, kernels of a stream one of which overlaps another, a copy
 * beside them, and a kernel of the other device. */
static void trace_step(uint32_t host, uint64_t us)
{
	uint32_t attention = world_node(&w, w.forward, FRAME_SCOPE, "attention");
	uint32_t mlp = world_node(&w, w.forward, FRAME_SCOPE, "mlp");
	uint32_t backward = world_node(&w, w.step, FRAME_SCOPE, "backward");
	uint32_t gemm = world_node(&w, mlp, FRAME_KERNEL, "sm90_xmma_gemm_bf16");

	traced(w.step, host, us, us + 9000);
	traced(w.forward, host, us + 100, us + 4000);
	traced(attention, host, us + 150, us + 1500);
	traced(mlp, host, us + 1600, us + 3900);
	traced(backward, host, us + 4100, us + 8900);
	launched(w.flash, w.lanes[0], us + 300, us + 1300, 140);
	traced(world_node(&w, attention, FRAME_KERNEL, "rope_fused"), w.lanes[0], us + 1200,
	       us + 1400);
	for (uint64_t i = 0; i < 6; i++)
		traced(gemm, w.lanes[0], us + 1700 + i * 300, us + 1900 + i * 300);
	launched(world_node(&w, backward, FRAME_KERNEL, "sm90_xmma_gemm_wgrad"), w.lanes[0],
		 us + 4500, us + 8000, 1200);
	traced(world_node(&w, w.step, FRAME_COPY, "memcpy HtoD pinned"), w.lanes[1], us + 500,
	       us + 2500);
	launched(world_node(&w, backward, FRAME_KERNEL, "rope_bwd"), w.lanes[2], us + 8200,
		 us + 8800, 3000);
}

static void holds(uint64_t us, double bytes, uint32_t process)
{
	const struct session_sample v = {BEGIN_NS + US(us), w.s->lanes[w.lanes[0]].device,
					 METRIC_MEM_LIVE, bytes, process};

	ck_assert_int_eq(session_sample_add(w.s, &v), 0);
}

/* What was allocated before the first operation, what comes and goes in each step, and another process's. */
static void hold_memory(void)
{
	holds(0, 1e9, 0);
	w.s->samples[w.s->n_samples - 1].time_ns -= US(1000);
	for (uint64_t us = 0; us < 40000; us += 10000) {
		holds(us + 8500, 1e9, 0); /* they come in no order that can be relied on */
		holds(us + 1000, 3e9, 0);
		holds(us + 3000, 4e9, 0);
	}
	holds(20000, 9e9, SESSION_NONE);
}

static void not_recorded(uint32_t number, enum unrecorded_reason reason, uint64_t from_us,
			 uint64_t to_us)
{
	const struct session_unrecorded span = {0, number, (uint8_t)reason, BEGIN_NS + US(from_us),
						BEGIN_NS + US(to_us)};

	ck_assert_int_eq(session_unrecorded_set(w.s, &span), 0);
}

/* Behind the work of steps: a pause, and a time without a window in which some was recorded. */
static void pause_some(void)
{
	not_recorded(0, UNRECORDED_PAUSED, 8100, 10200);
	not_recorded(1, UNRECORDED_WINDOW, 23000, 32000);
}

static void paged(const char *name, uint32_t lane, uint64_t from_us, uint64_t to_us,
		  uint32_t amount)
{
	uint32_t alloc = world_node(&w, w.step, FRAME_ALLOC, "alloc managed");

	traced(world_node(&w, alloc, FRAME_PAGES, name), lane, from_us, to_us);
	w.s->intervals[w.s->n_intervals - 1].amount = amount;
}

/* What the second half of kernels misses, moves while they run, two at a time; what the host wants back moves between. */
static void move_pages(void)
{
	struct session_lane lane = {.process = 0, .device = SESSION_NONE};
	uint32_t host = session_lane_intern(w.s, &lane), device;

	lane.device = w.s->lanes[w.lanes[0]].device;
	lane.stream = SESSION_NONE;
	device = session_lane_intern(w.s, &lane);
	for (uint64_t us = 20000; us < 40000; us += 10000) {
		paged("GPU page faults", device, us + 4600, us + 4900, 96);
		for (uint64_t i = 0; i < 4; i++)
			paged("migration HtoD", device, us + 4700 + 400 * i, us + 5300 + 400 * i,
			      2 << 20);
		paged("CPU page fault", host, us + 9000, us + 9000, 1);
		paged("migration DtoH", device, us + 9100, us + 9600, 65536);
	}
}

static void setup(void)
{
	world_init(&w);
}

static void open_with(const struct tui_options *options)
{
	const struct session_lane thread = {.process = 0, .device = SESSION_NONE, .thread = THREAD};
	uint32_t host = session_lane_intern(w.s, &thread);

	for (uint64_t i = 0; i < 4; i++)
		trace_step(host, i * 10000);
	world_open(&w, options);
	world_tick(&w);
	world_keys(&w, "M-5");
	world_draw(&w, 24, 80);
}

static void teardown(void)
{
	world_done(&w);
}

static const struct tui_options saved = {.command = "view"};

static struct panel_timeline *timeline(void)
{
	panel_refresh(w.t->panels[TUI_PANEL_TIMELINE]);
	return as_timeline(w.t->panels[TUI_PANEL_TIMELINE]);
}

static const char *here(void)
{
	struct panel *p = tui_panel(w.t);

	panel_refresh(p);
	return p->ops->row_name(p, p->cursor);
}

/* Microseconds since the first interval. */
static uint64_t now_us(void)
{
	return (timeline()->at_ns - BEGIN_NS) / NSEC_PER_USEC;
}

/* ---- looks ---- */

static const struct {
	struct golden_look look;
	bool memory, paused, pages;
} looks[] = {
	{{"timeline_80x24", "", 24, 80}},
	{{"timeline_140x40", "Down Down Down } } } }", 40, 140}},
	{{"timeline_40x10", "+ Down Down Down }", 10, 40}},
	{{"timeline_zoomed", "Down Down Down } + + +", 24, 80}},
	{{"timeline_operation", "Down Down Down } } Enter", 24, 80}},
	{{"timeline_gap", "Down Down Down + L L", 24, 80}},
	{{"timeline_mono", "Down Down Down } + +", 24, 80, .no_color = true}},
	{{"timeline_ascii", "Down Down Down } + +", 24, 80, .ascii = true}},
	{{"timeline_attributes", "Down Down Down } + +", 24, 80, .attributes = true}},
	{{"timeline_filtered", "+ + \\ 'flash' Enter", 24, 80, .attributes = true}},
	{{"timeline_flow", "+ + + u", 24, 80}},
	{{"timeline_flow_140", "/ 'rope_bwd' Enter Enter - - - -", 40, 140}},
	{{"timeline_flow_ascii", "End + + + Down Down Down { Home } - -", 24, 80, .ascii = true}},
	{{"timeline_memory", "Down Down Down } } + +", 24, 80}, .memory = true},
	{{"timeline_memory_140", "Down Down Down } }", 40, 140}, .memory = true},
	{{"timeline_memory_40x10", "End Down Down Down", 10, 40}, .memory = true},
	{{"timeline_memory_ascii", "End", 24, 80, .ascii = true}, .memory = true},
	{{"timeline_memory_mono", "End", 24, 80, .no_color = true}, .memory = true},
	{{"timeline_paused", "Down Down Down L L Left Left Left Left Left Left", 24, 80},
	 .paused = true},
	{{"timeline_paused_140",
	  "Down Down Down L L Left Left Left Left Left Left Left Left Left Left Left Left +", 40,
	  140},
	 .paused = true},
	{{"timeline_paused_40x10", "End Down Down Down", 10, 40}, .paused = true},
	{{"timeline_paused_ascii", "Down Down Down End { Left Left", 24, 80, .ascii = true},
	 .paused = true},
	{{"timeline_paused_attributes", "Down", 24, 80, .attributes = true}, .paused = true},
	{{"timeline_pages", "/ 'migration' Enter", 24, 80}, .pages = true},
	{{"timeline_pages_140", "/ 'migration' Enter Enter - -", 40, 140}, .pages = true},
	{{"timeline_pages_40x10", "/ 'DtoH' Enter + +", 10, 40}, .pages = true},
	{{"timeline_pages_ascii", "/ 'GPU page' Enter + +", 24, 80, .ascii = true}, .pages = true},
	{{"timeline_pages_mono", "/ 'migration' Enter + + + +", 24, 80, .no_color = true},
	 .pages = true},
	{{"timeline_pages_attributes", "/ 'migration' Enter + + + +", 24, 80, .attributes = true},
	 .pages = true},
	{{"timeline_found", "+ + / 'gemm_bf' Enter", 24, 80, .attributes = true}},
};

START_TEST(golden)
{
	const struct tui_options options = {.command = "view",
					    .ascii = looks[_i].look.ascii,
					    .no_color = looks[_i].look.no_color};

	if (looks[_i].memory)
		hold_memory();
	if (looks[_i].paused)
		pause_some();
	if (looks[_i].pages)
		move_pages();
	open_with(&options);
	world_look(&w, &looks[_i].look);
}
END_TEST

/* All panels of a run: whichever is in front, the keys of all others are there at 40 columns. */
START_TEST(all_tabs)
{
	static const char *const keys[] = {"", "M-1", "M-2", "M-3", "M-4", "1", NULL};

	open_with(&saved);
	world_golden_tabs(&w, keys, "timeline_tabs");
}
END_TEST

/* From one to the next of a kind; nobody launched them. */
START_TEST(pages)
{
	move_pages();
	open_with(&saved);
	world_keys(&w, "/ 'CPU page' Enter");
	ck_assert_str_eq(here(), "CPU page fault");
	ck_assert_uint_eq(now_us(), 29000);
	ck_assert(world_shows(&w, "1 of them  CPU page fault  in train_step › alloc managed"));
	world_keys(&w, "u");
	ck_assert(world_shows(&w, "no call launched this"));
	world_keys(&w, "}");
	ck_assert_uint_eq(now_us(), 39000);
	world_keys(&w, "H");
	ck_assert_uint_eq(now_us(), 29000);
	world_keys(&w, "Right");
	ck_assert(world_shows(&w, "nothing for 10.0ms"));
	world_keys(&w, "/ 'migration' Enter");
	ck_assert_str_eq(here(), "migration HtoD");
	ck_assert(world_shows(&w, "took 600us  2.10MB  migration HtoD  in train_step"));
	world_keys(&w, "u");
	ck_assert(world_shows(&w, "no call launched this"));
	/* What ran is launched as ever. */
	world_keys(&w, "/ 'flash' Enter u");
	ck_assert_str_eq(here(), "attention");
}
END_TEST

START_TEST(says_how_to_trace)
{
	world_open(&w, &saved);
	world_tick(&w);
	ck_assert(!world_shows(&w, "M-5"));
	world_keys(&w, "M-5");
	ck_assert(world_shows(&w, "proton record --trace"));
	world_keys(&w, "+ - } { L H Enter BkSp = / 'gemm' Enter n N t"); /* nothing to do it with */
}
END_TEST

/* ---- keys ---- */

START_TEST(from_one_to_the_next)
{
	open_with(&saved);
	world_keys(&w, "Down Down Down"); /* stream 7, in whose first column it is */
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	ck_assert_uint_eq(now_us(), 0);
	world_keys(&w, "}");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	ck_assert_uint_eq(now_us(), 300);
	world_keys(&w, "}");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_bf16");
	ck_assert_uint_eq(now_us(), 1700);
	world_keys(&w, "{");
	ck_assert_uint_eq(now_us(), 300);
	world_keys(&w, "{");
	ck_assert(world_shows(&w, "nothing comes before"));
	world_keys(&w, "End {");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad");
	ck_assert_uint_eq(now_us(), 34500);
	world_keys(&w, "}");
	ck_assert(world_shows(&w, "nothing comes after"));
}
END_TEST

/* Gaps of less than a column are not seen, and skipped. */
START_TEST(gaps)
{
	open_with(&saved);
	world_keys(&w, "Down Down Down L");
	ck_assert_uint_eq(now_us(), 3400);
	ck_assert(world_shows(&w,
			      "idle for 1.10ms  launch 1.10ms  after sm90_xmma_gemm_bf16  before"));
	world_keys(&w, "L");
	ck_assert_uint_eq(now_us(), 8000);
	ck_assert(world_shows(&w, "late 2.16ms, launch 140us"));
	world_keys(&w, "H H Home + + + + + L");
	ck_assert_uint_eq(now_us(), 1300);
	world_keys(&w, "L");
	ck_assert_uint_eq(now_us(), 1900);
	world_keys(&w, "L L"); /* nobody knows when what comes next was launched */
	ck_assert_uint_eq(now_us(), 2500);
	ck_assert(world_shows(&w, "idle for 100us  after sm90_xmma_gemm_bf16  before"));
	world_keys(&w, "Down Down"); /* the stream's gap is longer than the device's */
	ck_assert(world_shows(&w, "device idle for 100us  after memcpy"));
	world_keys(&w, "Up Up H H");
	ck_assert_uint_eq(now_us(), 1900);
	world_keys(&w, "H H");
	ck_assert(world_shows(&w, "no gap of a column comes before"));
	world_keys(&w, "= Home Down L"); /* while another stream of the device works */
	ck_assert_uint_eq(now_us(), 1400);
	ck_assert(world_shows(&w, "others run"));
}
END_TEST

/* What is not recorded is no gap, and says why. */
START_TEST(gaps_that_are_none)
{
	pause_some();
	open_with(&saved);
	world_keys(&w, "Down Down Down L");
	ck_assert_uint_eq(now_us(), 3400);
	world_keys(&w, "L");
	ck_assert_uint_eq(now_us(), 13400); /* not that from 8000 on */
	world_keys(&w, "H");
	ck_assert_uint_eq(now_us(), 3400);
	world_keys(&w, "End { Home");
	for (int i = 0; i < 15; i++)
		world_keys(&w, "Right");
	ck_assert(world_shows(&w, "not recorded for 2.10ms: paused  after sm90_xmma_gemm_wgrad"));
	ck_assert(!world_shows(&w, "idle for"));
}
END_TEST

START_TEST(zooms_and_goes_back)
{
	struct strip_view all;

	open_with(&saved);
	all = timeline()->view;
	ck_assert_uint_eq(all.from_ns, BEGIN_NS);
	world_keys(&w, "-");
	ck_assert(world_shows(&w, "this is everything"));
	world_keys(&w, "Down Down Down } Enter");
	ck_assert_uint_eq(timeline()->view.to_ns - timeline()->view.from_ns, US(1250));
	ck_assert(world_shows(&w, "flash_fwd<128,128>"));
	world_keys(&w, "BkSp");
	ck_assert_uint_eq(timeline()->view.from_ns, all.from_ns);
	ck_assert_uint_eq(timeline()->view.to_ns, all.to_ns);
	world_keys(&w, "Enter Esc");
	ck_assert_uint_eq(timeline()->view.to_ns, all.to_ns);
	world_keys(&w, "+ + + S-Right S-Right =");
	ck_assert_uint_eq(timeline()->view.to_ns, all.to_ns);
	for (int i = 0; i < 64; i++)
		world_keys(&w, "+");
	ck_assert_uint_eq(timeline()->view.to_ns - timeline()->view.from_ns, timeline()->view.n);
	ck_assert(world_shows(&w, "a column is a nanosecond"));
}
END_TEST

/* The moment under the cursor stays in its column. */
START_TEST(zooms_around_the_cursor)
{
	unsigned column;

	open_with(&saved);
	world_keys(&w, "Down Down Down } } } } } } } } } } }");
	column = timeline_column(&timeline()->view, timeline()->at_ns);
	ck_assert_uint_gt(column, 5);
	for (int i = 0; i < 8; i++) {
		uint64_t at_ns = timeline()->at_ns;

		world_keys(&w, "+");
		ck_assert_uint_eq(timeline()->at_ns, at_ns);
		ck_assert_int_le(abs((int)timeline_column(&timeline()->view, at_ns) - (int)column),
				 1);
	}
}
END_TEST

START_TEST(to_the_tree_and_back)
{
	open_with(&saved);
	world_keys(&w, "Down Down Down End { t");
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad");
	world_keys(&w, "u"); /* backward: a scope of the host is the first of what is in it */
	ck_assert_str_eq(here(), "backward");
	world_keys(&w, "M-5");
	ck_assert_str_eq(here(), "backward");
	ck_assert_uint_eq(now_us(), 4100);
	world_keys(&w, "1 / 'rope_bwd' Enter M-5");
	ck_assert_str_eq(here(), "rope_bwd");
	ck_assert_uint_eq(now_us(), 8200);
}
END_TEST

/* Below groups a context has a row for each of its streams. */
START_TEST(groups)
{
	open_with(&saved);
	world_keys(&w, "G G Down Down Down }");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "t");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "/ 'rope_bwd' Enter M-5");
	ck_assert_str_eq(here(), "rope_bwd");
}
END_TEST

/* The legend of what stands on the lines of devices is there for any process that has some. */
START_TEST(legend_of_processes)
{
	const struct session_lane thread = {
		.process = session_process_add(w.s, 77), .device = SESSION_NONE, .thread = THREAD};
	struct buf screen;

	traced(w.step, session_lane_intern(w.s, &thread), 0, 9000);
	open_with(&saved);
	buf_init(&screen, 1 << 20);
	ck_assert_int_eq(tui_dump(w.t, 40, 80, false, &screen), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&screen), "nothing ran: l late"));
	buf_done(&screen);
}
END_TEST

/* Help says what the row of a device means, with the signs that the screen has. */
START_TEST(help_of_signs)
{
	struct tui_options options = saved;

	options.ascii = _i;
	open_with(&options);
	world_keys(&w, "? / 'Signs of' Enter");
	ck_assert(world_shows(&w, "Signs of this panel (Timeline)"));
	ck_assert(world_shows(&w, "mem           the most memory of the device that"));
	world_keys(&w, "/ 'not recorded' Enter");
	ck_assert(world_shows(&w, _i ? "/             not all that ran was recorded"
				     : "░             not all that ran was recorded"));
	world_keys(&w, "Esc");
	world_keys(&w, "1 ?");
	world_keys(&w, "/ 'Signs of' Enter");
	ck_assert(!world_shows(&w, "Signs of this panel"));
}
END_TEST

/* From a range to what was launched in it first, and back to the moment and the range of the launch. */
START_TEST(follows_launches)
{
	open_with(&saved);
	world_keys(&w, "u");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	ck_assert_uint_eq(now_us(), 300);
	ck_assert(world_shows(&w, "launched 140us before"));
	world_keys(&w, "u");
	ck_assert_str_eq(here(), "attention");
	ck_assert_uint_eq(now_us(), 160);
	ck_assert(world_shows(&w, "launches first after 10.0us"));
	world_keys(&w, "L");
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	world_keys(&w, "u");
	ck_assert_str_eq(here(), "attention");
	world_keys(&w, "/ 'rope_bwd' Enter");
	ck_assert(world_shows(&w, "launched 3.00ms before"));
	world_keys(&w, "u");
	ck_assert_str_eq(here(), "backward");
	ck_assert_uint_eq(now_us(), 5200);
	world_keys(&w, "/ 'mlp' Enter u");
	ck_assert_str_eq(here(), "sm90_xmma_gemm_wgrad");
	ck_assert_uint_eq(now_us(), 14500 - 10000 * (now_us() < 10000));
	world_keys(&w, "/ 'rope_fused' Enter u");
	ck_assert(world_shows(&w, "not known when this was launched"));
	ck_assert_str_eq(here(), "rope_fused");
}
END_TEST

START_TEST(search)
{
	open_with(&saved);
	world_keys(&w, "/ 'rope' Enter");
	ck_assert_str_eq(here(), "rope_fused");
	ck_assert_uint_eq(now_us(), 1200);
	world_keys(&w, "n");
	ck_assert_str_eq(here(), "rope_bwd");
	ck_assert_uint_eq(now_us(), 8200);
	world_keys(&w, "n n N N");
	ck_assert_uint_eq(now_us(), 8200);
	world_keys(&w, "N N");
	ck_assert_str_eq(here(), "rope_bwd");
	ck_assert_uint_eq(now_us(), 38200);
	ck_assert(world_shows(&w, "began again"));
	world_keys(&w, "/ 'attention' Enter");
	ck_assert_str_eq(here(), "attention"); /* of the host's */
	ck_assert_uint_eq(now_us(), 150);
	world_keys(&w, "N / 'rope_bwd' Enter");
	ck_assert_uint_eq(now_us(), 38200);
	world_keys(&w, "/ 'nobody' Enter");
	ck_assert(world_shows(&w, "is not in Timeline"));
	ck_assert_uint_eq(now_us(), 38200);
}
END_TEST

START_TEST(mouse)
{
	struct panel *p;

	open_with(&saved);
	p = &timeline()->base;
	p->ops->pick(p, 6 * AXIS_COLUMNS + 1);
	ck_assert_uint_eq(p->cursor, 6);
	ck_assert_uint_eq(timeline_column(&timeline()->view, timeline()->at_ns), 1);
	p->ops->pick(p, 4000 * AXIS_COLUMNS);
	ck_assert_uint_eq(p->cursor, 6);
}
END_TEST

/* What comes while a run goes on: who sees all goes on doing so, and the cursor keeps its lane. */
START_TEST(goes_on)
{
	const struct tui_options live = {.live = true, .command = "top"};
	uint64_t end_ns;

	open_with(&live);
	world_keys(&w, "Down Down Down }");
	end_ns = timeline()->view.to_ns;
	traced(w.flash, w.lanes[0], 50000, 51000);
	traced(w.flash, session_lane_intern(w.s, &(struct session_lane){0, 0, 1, 3, 0}), 50000,
	       51000); /* a lane before it */
	world_tick(&w);
	ck_assert_uint_gt(timeline()->view.to_ns, end_ns);
	ck_assert_str_eq(here(), "flash_fwd<128,128>");
	ck_assert_uint_eq(now_us(), 300);
	world_keys(&w, "+");
	end_ns = timeline()->view.to_ns;
	traced(w.flash, w.lanes[0], 60000, 61000);
	world_tick(&w);
	ck_assert_uint_eq(timeline()->view.to_ns, end_ns);
	world_keys(&w, "End"); /* its end, wherever that is */
	traced(w.flash, w.lanes[0], 70000, 71000);
	world_tick(&w);
	ck_assert_uint_eq(timeline()->at_ns, BEGIN_NS + US(71000));
	ck_assert_uint_eq(timeline()->view.to_ns, timeline()->at_ns + 1);
	world_keys(&w, "z"); /* held: what comes is not seen */
	traced(w.flash, w.lanes[0], 80000, 81000);
	world_tick(&w);
	ck_assert_uint_eq(timeline()->at_ns, BEGIN_NS + US(71000));
	world_keys(&w, "+ - } {");
	ck_assert_uint_eq(timeline()->strips.last_ns, BEGIN_NS + US(71000));
	world_keys(&w, "z");
	ck_assert_uint_eq(timeline()->strips.last_ns, BEGIN_NS + US(81000));
}
END_TEST

START_TEST(says_how_to_trace_a_run)
{
	const struct tui_options live = {.live = true, .command = "top"};

	world_open(&w, &live);
	world_tick(&w);
	world_keys(&w, "M-5");
	ck_assert(world_shows(&w, "'proton top --trace' keeps when"));
}
END_TEST

/* Any keys in any order, on any size. */
START_TEST(any_keys)
{
	static const char *const keys[] = {
		"Left",         "Right", "S-Left", "S-Right", "+", "-", "=",
		"Enter",        "BkSp",  "}",      "{",       "L", "H", "Home",
		"End",          "Down",  "Up",     "n",       "N", "u", "G",
		"\\ 'o' Enter", "Esc",   "t M-5",  "m",       "X"};
	unsigned state = (unsigned)_i + 1;
	struct buf screen;

	open_with(&saved);
	world_keys(&w, "/ 'gemm' Enter");
	buf_init(&screen, 1 << 20);
	for (int i = 0; i < 300; i++) {
		const struct panel_timeline *pt;

		state = state * 1103515245 + 12345;
		world_keys(&w, keys[(state >> 16) % ARRAY_SIZE(keys)]);
		buf_clear(&screen);
		ck_assert_int_eq(tui_dump(w.t, 5 + (int)(state >> 20) % 40,
					  20 + (int)(state >> 12) % 150, false, &screen),
				 0);
		pt = timeline();
		ck_assert_uint_ge(pt->view.from_ns, BEGIN_NS);
		ck_assert_uint_le(pt->view.to_ns, pt->strips.last_ns + 1);
		ck_assert_uint_ge(pt->view.to_ns - pt->view.from_ns, pt->view.n);
		ck_assert_uint_ge(pt->at_ns, pt->view.from_ns);
		ck_assert_uint_lt(pt->at_ns, pt->view.to_ns);
	}
	buf_done(&screen);
}
END_TEST

Suite *suite_timeline(void)
{
	Suite *suite = suite_create("timeline");
	TCase *c = tcase_create("timeline");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, golden, 0, ARRAY_SIZE(looks));
	tcase_add_test(c, all_tabs);
	tcase_add_test(c, pages);
	tcase_add_test(c, says_how_to_trace);
	tcase_add_test(c, says_how_to_trace_a_run);
	tcase_add_test(c, from_one_to_the_next);
	tcase_add_test(c, gaps);
	tcase_add_test(c, gaps_that_are_none);
	tcase_add_test(c, zooms_and_goes_back);
	tcase_add_test(c, zooms_around_the_cursor);
	tcase_add_test(c, to_the_tree_and_back);
	tcase_add_test(c, groups);
	tcase_add_test(c, follows_launches);
	tcase_add_test(c, legend_of_processes);
	tcase_add_loop_test(c, help_of_signs, 0, 2);
	tcase_add_test(c, search);
	tcase_add_test(c, mouse);
	tcase_add_test(c, goes_on);
	tcase_add_loop_test(c, any_keys, 0, 6);
	suite_add_tcase(suite, c);
	return suite;
}
