/* SPDX-License-Identifier: MIT */
/* Scopes of warps as lanes over time (intra/warp_lanes.h and what it is made of): one clock for all, what is innermost when,
 * columns that add up, whatever the lanes are. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "intra/warp_grid.h"
#include "intra/warp_lanes.h"
#include "intra/warp_waits.h"
#include "warp_traces.h"

#define NONE WARP_TRACE_NO_PARENT

static struct warp_trace t;
static struct warp_tracks tracks;
static struct warp_lanes lanes;

static void setup(void)
{
	ck_assert_int_eq(warp_trace_init(&t), 0);
	memset(&tracks, 0, sizeof(tracks));
	memset(&lanes, 0, sizeof(lanes));
}

static void teardown(void)
{
	warp_lanes_done(&lanes);
	warp_tracks_done(&tracks);
	warp_trace_done(&t);
}

static void begin(void)
{
	const struct warp_trace_launch l = {.kernel = strtab_adds(t.names, "k"), .device = -1};

	ck_assert_int_eq(warp_trace_add_launch(&t, &l), 0);
}

static void add(const struct warp_trace_warp *w, const struct warp_trace_scope *v, size_t n)
{
	ck_assert_int_eq(warp_trace_add_warp(&t, w, v, n), 0);
}

static void make(enum warp_lane_kind kind)
{
	ck_assert_int_eq(warp_tracks_init(&tracks, &t, 0), 0);
	ck_assert_int_eq(warp_lanes_make(&lanes, &tracks, kind), 0);
}

static const char *name_of(const struct warp_segment *v, uint32_t warp)
{
	return strtab_str(t.names, warp_tracks_scope(&tracks, warp, v->scope)->name);
}

static void expect(size_t i, uint64_t from, uint64_t to, const char *name)
{
	const struct warp_segment *v = &tracks.segments[i];

	ck_assert_uint_eq(v->from, from);
	ck_assert_uint_eq(v->to, to);
	ck_assert_str_eq(name_of(v, 0), name);
}

/* The innermost one, on a clock that begins with the launch. */
START_TEST(innermost)
{
	uint32_t tile = strtab_adds(t.names, "tile"), load = strtab_adds(t.names, "load"),
		 part = strtab_adds(t.names, "part");
	const struct warp_trace_scope v[] = {
		{.enter = 100, .leave = 200, .parent = NONE, .name = tile},
		{.enter = 110, .leave = 140, .parent = 0, .name = load},
		{.enter = 120, .leave = 130, .parent = 1, .name = part},
		{.enter = 140, .leave = 150, .parent = 0, .name = load},
		{.enter = 160, .leave = 160, .parent = 0, .name = part}, /* no time at all */
		{.enter = 220, .leave = 230, .parent = NONE, .name = load},
	};

	begin();
	add(&(struct warp_trace_warp){.warp = 0}, v, ARRAY_SIZE(v));
	make(WARP_LANES_WARPS);
	ck_assert_uint_eq(tracks.n_tracks, 1);
	ck_assert_uint_eq(tracks.n_segments, 8);
	expect(0, 0, 10, "tile");
	expect(1, 10, 20, "load");
	expect(2, 20, 30, "part");
	expect(3, 30, 40, "load");
	expect(4, 40, 50, "load");
	expect(5, 50, 60, "tile");
	expect(6, 60, 100, "tile");
	expect(7, 120, 130, "load");
	ck_assert_uint_eq(tracks.clock.end, 130);
	ck_assert(!tracks.clock.is_common);
	ck_assert_double_eq(tracks.clock.cycle_ns, 0);
	/* Those with most time first. */
	ck_assert_str_eq(strtab_str(t.names, tracks.classes[0].name), "tile");
	ck_assert_uint_eq(tracks.classes[0].cycles, 60);
	ck_assert_uint_eq(tracks.classes[1].cycles, 40);
	ck_assert_uint_eq(tracks.n_classes, 3);
}
END_TEST

/* One that was not left lasts as long as what it is in, or as its warp did; no scope outlasts its parent. */
START_TEST(open_scopes)
{
	uint32_t a = strtab_adds(t.names, "a"), b = strtab_adds(t.names, "b");
	const struct warp_trace_scope v[] = {
		{.enter = 10, .leave = 50, .parent = NONE, .name = a},
		{.enter = 20, .leave = 20, .parent = 0, .name = b, .is_open = true},
		{.enter = 60, .leave = 60, .parent = NONE, .name = a, .is_open = true},
		{.enter = 70, .leave = 900, .parent = 2, .name = b},
	};
	const struct warp_trace_warp w = {
		.entered_clock = 5, .left_clock = 105, .entered_ns = 1000, .left_ns = 1050};

	begin();
	add(&w, v, ARRAY_SIZE(v));
	make(WARP_LANES_WARPS);
	ck_assert_uint_eq(tracks.n_segments, 4);
	expect(0, 5, 15, "a");
	expect(1, 15, 45, "b");
	expect(2, 55, 65, "a");
	expect(3, 65, 895, "b");
	ck_assert_double_eq(tracks.clock.cycle_ns, 0.5);
	ck_assert(tracks.clock.is_common);
}
END_TEST

/* Asynchronous ones that overlap have lines of their own; marks and values stand beside. */
START_TEST(asynchronous)
{
	uint32_t copy = strtab_adds(t.names, "copy"), mark = strtab_adds(t.names, "mark");
	const struct warp_trace_scope v[] = {
		{.enter = 0, .leave = 50, .parent = NONE, .name = copy, .event = WARP_EVENT_ASYNC},
		{.enter = 20, .leave = 70, .parent = NONE, .name = copy, .event = WARP_EVENT_ASYNC},
		{.enter = 30, .leave = 30, .parent = NONE, .name = mark, .event = WARP_EVENT_MARK},
		{.enter = 50, .leave = 60, .parent = NONE, .name = copy, .event = WARP_EVENT_ASYNC},
		{.enter = 10,
		 .leave = 10,
		 .parent = NONE,
		 .name = mark,
		 .event = WARP_EVENT_VALUE,
		 .value = 4},
	};
	const struct warp_instant *instant;
	uint32_t warp;

	begin();
	add(&(struct warp_trace_warp){.warp = 3, .block = 7}, v, ARRAY_SIZE(v));
	make(WARP_LANES_WARPS);
	ck_assert_uint_eq(lanes.n, 3);
	ck_assert_uint_eq(lanes.lanes[1].line, 1);
	ck_assert_uint_eq(lanes.lanes[2].line, 2);
	ck_assert_uint_eq(tracks.tracks[0].n, 0);
	ck_assert_uint_eq(tracks.tracks[1].n, 2);
	ck_assert_uint_eq(tracks.tracks[2].n, 1);
	instant = warp_lanes_instant(&lanes, 0, 0, 100, &warp);
	ck_assert_ptr_nonnull(instant);
	ck_assert_uint_eq(instant->at, 10);
	ck_assert_uint_eq(instant->scope, 4);
	instant = warp_lanes_instant(&lanes, 0, 11, 100, &warp);
	ck_assert_uint_eq(instant->at, 30);
	ck_assert_ptr_null(warp_lanes_instant(&lanes, 0, 31, 100, &warp));
	ck_assert_ptr_null(warp_lanes_instant(&lanes, 1, 0, 100, &warp));
	/* There is nothing else: blocks show it. */
	ck_assert_int_eq(warp_lanes_make(&lanes, &tracks, WARP_LANES_BLOCKS), 0);
	ck_assert_uint_eq(lanes.n, 1);
	ck_assert_uint_eq(lanes.lanes[0].n_tracks, 3);
}
END_TEST

/* Multiprocessors count from starts of their own; warps of one block stay together though the device's clock goes in steps. */
START_TEST(one_clock)
{
	const struct warp_trace_scope v[] = {{.parent = NONE}};
	struct warp_trace_warp w[] = {
		{.block = 0,
		 .multiprocessor = 1,
		 .entered_clock = 5000,
		 .entered_ns = WARP_NS + 32},
		{.block = 0,
		 .multiprocessor = 1,
		 .entered_clock = 5040,
		 .entered_ns = WARP_NS + 32},
		{.block = 1,
		 .multiprocessor = 2,
		 .entered_clock = 900000,
		 .entered_ns = WARP_NS + 160},
	};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(w); i++) {
		struct warp_trace_scope scope = v[0];

		w[i].left_clock = w[i].entered_clock + 2000;
		w[i].left_ns = w[i].entered_ns + 1000;
		scope.enter = w[i].entered_clock;
		scope.leave = scope.enter + 100;
		add(&w[i], &scope, 1);
	}
	make(WARP_LANES_BLOCKS);
	ck_assert(tracks.clock.is_common);
	ck_assert_double_eq(tracks.clock.cycle_ns, 0.5);
	ck_assert_uint_eq(tracks.tracks[0].from, 0);
	ck_assert_uint_eq(tracks.tracks[1].from, 40);
	/* The first warp read the clock right behind a step: 128 ns lie between. */
	ck_assert_uint_eq(tracks.tracks[2].from, 256);
	ck_assert_uint_eq(tracks.clock.end, 2256);
}
END_TEST

/* Before what is left of a warp that lost records it is not known what it did. */
START_TEST(overwritten)
{
	const struct warp_trace_scope v[] = {{.enter = 60, .leave = 80, .parent = NONE}};
	struct warp_trace_warp w = {.entered_clock = 1,
				    .left_clock = 101,
				    .entered_ns = 10,
				    .left_ns = 60,
				    .n_lost = 7};
	struct warp_view view = {0, 100, 1};
	struct warp_cell cell;

	begin();
	add(&w, v, 1);
	w.warp = 1;
	add(&w, NULL, 0);
	w.warp = 2;
	w.n_lost = 0;
	add(&w, v, 1);
	make(WARP_LANES_WARPS);
	warp_lanes_cells(&lanes, 0, &view, &cell);
	ck_assert_uint_eq(cell.unknown, 59);
	ck_assert_uint_eq(cell.present, 41);
	ck_assert_double_eq_tol(warp_cell_share(&cell), 20.0 / 41, 1e-9);
	warp_lanes_cells(&lanes, 1, &view, &cell);
	ck_assert_uint_eq(cell.unknown, 100);
	ck_assert_uint_eq(cell.present, 0);
	warp_lanes_cells(&lanes, 2, &view, &cell);
	ck_assert_uint_eq(cell.unknown, 0);
	ck_assert_uint_eq(cell.present, 100);
}
END_TEST

static void expect_lanes(enum warp_lane_kind kind, size_t n)
{
	ck_assert_int_eq(warp_lanes_make(&lanes, &tracks, kind), 0);
	ck_assert_uint_eq(lanes.n, n);
	ck_assert_int_eq(lanes.kind, kind);
}

START_TEST(kinds)
{
	warp_launch(&t, 1, 20);
	make(WARP_LANES_WARPS);
	ck_assert_uint_eq(lanes.n, 20 * (9 + 1));
	ck_assert_uint_eq(lanes.lanes[2].warp, 4);
	expect_lanes(WARP_LANES_GROUPS, 20 * (3 + 1));
	ck_assert_uint_eq(lanes.lanes[2].warp, 4);
	ck_assert_uint_eq(lanes.lanes[2].last_warp, 7);
	ck_assert_uint_eq(lanes.lanes[2].n_tracks, 4);
	expect_lanes(WARP_LANES_BLOCKS, 20);
	ck_assert_uint_eq(lanes.lanes[11].block, WARP_LATE);
	ck_assert_uint_eq(warp_lanes_find(&lanes, WARP_LATE), 11);
	ck_assert_uint_eq(warp_lanes_find(&lanes, 20), SIZE_MAX);
	expect_lanes(WARP_LANES_SMS, WARP_SMS);
	for (uint32_t i = 0; i < WARP_SMS; i++)
		ck_assert_uint_eq(lanes.lanes[i].multiprocessor, i);
}
END_TEST

/* In however many columns, they add up to what the segments are. */
START_TEST(columns_add_up)
{
	static const unsigned widths[] = {1, 2, 7, 80, 1000};
	uint64_t truth[WARP_CLASSES] = {0}, present = 0;

	warp_launch(&t, 1, 20);
	make(WARP_LANES_SMS);
	for (size_t k = 0; k < tracks.n_tracks; k++) {
		present += tracks.tracks[k].line ? 0 : tracks.tracks[k].to - tracks.tracks[k].from;
		for (size_t i = 0; i < tracks.tracks[k].n && !tracks.tracks[k].line; i++) {
			const struct warp_segment *v = &tracks.segments[tracks.tracks[k].first + i];

			truth[v->class] += v->to - v->from;
		}
	}
	for (size_t width = 0; width < ARRAY_SIZE(widths); width++) {
		struct warp_view view = {0, tracks.clock.end, widths[width]};
		struct warp_cell *cells = calloc(view.n, sizeof(*cells)), sum = {.n = 0};

		for (size_t lane = 0; lane < lanes.n; lane++) {
			warp_lanes_cells(&lanes, lane, &view, cells);
			for (unsigned k = 0; k < view.n; k++) {
				sum.present += cells[k].present;
				for (unsigned c = 0; c < WARP_CLASSES; c++)
					sum.cycles[c] += cells[k].cycles[c];
			}
		}
		ck_assert_uint_eq(sum.present, present);
		ck_assert_mem_eq(sum.cycles, truth, sizeof(truth));
		free(cells);
	}
}
END_TEST

/* Of very many, by the sums of each 64th: the same as one by one. */
START_TEST(columns_of_many)
{
	enum { N = 5000 };
	struct warp_trace_scope *v = calloc(N, sizeof(*v));
	uint32_t names[3] = {strtab_adds(t.names, "a"), strtab_adds(t.names, "b"),
			     strtab_adds(t.names, "c")};
	struct warp_view view = {0, 0, 37};
	struct warp_cell cells[37];
	uint64_t at = 1000;

	for (unsigned i = 0; i < N; i++) {
		v[i] = (struct warp_trace_scope){.enter = at,
						 .leave = at + 3 + i % 11,
						 .parent = NONE,
						 .name = names[i % 3]};
		at += 3 + i % 11 + i % 4;
	}
	begin();
	add(&(struct warp_trace_warp){.warp = 0}, v, N);
	make(WARP_LANES_WARPS);
	view.to = tracks.clock.end - 77;
	view.from = 55;
	warp_lanes_cells(&lanes, 0, &view, cells);
	for (unsigned k = 0; k < view.n; k++) {
		uint64_t from = warp_view_start(&view, k), to = warp_view_start(&view, k + 1);
		uint64_t truth[WARP_CLASSES] = {0};
		uint32_t n = 0;

		for (unsigned i = 0; i < N; i++) {
			const struct warp_segment *s = &tracks.segments[i];

			if (s->to <= from || s->from >= to)
				continue;
			truth[s->class] += MIN(s->to, to) - MAX(s->from, from);
			n++;
		}
		ck_assert_mem_eq(cells[k].cycles, truth, sizeof(truth));
		ck_assert_uint_eq(cells[k].n, n);
		ck_assert_uint_eq(cells[k].present, to - from);
	}
	free(v);
}
END_TEST

START_TEST(more_names_than_classes)
{
	struct warp_trace_scope v[40];
	char name[16];

	for (unsigned i = 0; i < ARRAY_SIZE(v); i++) {
		snprintf(name, sizeof(name), "scope %u", i);
		v[i] = (struct warp_trace_scope){.enter = 100 * i,
						 .leave = 100 * i + 50 + i,
						 .parent = NONE,
						 .name = strtab_adds(t.names, name)};
	}
	begin();
	add(&(struct warp_trace_warp){.warp = 0}, v, ARRAY_SIZE(v));
	make(WARP_LANES_WARPS);
	ck_assert_uint_eq(tracks.n_classes, WARP_OTHERS);
	ck_assert_str_eq(strtab_str(t.names, tracks.classes[0].name), "scope 39");
	ck_assert_uint_eq(tracks.segments[0].class, WARP_OTHERS);
	ck_assert_uint_eq(tracks.segments[39].class, 0);
	ck_assert_uint_eq(tracks.classes[WARP_OTHERS].cycles, 25 * 50 + 25 * 24 / 2);
}
END_TEST

START_TEST(from_one_to_the_next)
{
	uint32_t qk, n;
	bool *wanted;
	struct warp_spot spot;
	size_t lane;

	warp_launch(&t, 1, 20);
	make(WARP_LANES_BLOCKS);
	lane = warp_lanes_find(&lanes, 3);
	n = strtab_count(t.names);
	qk = strtab_find(t.names, "QK", 2);
	ck_assert_uint_lt(qk, n);
	wanted = calloc(n, sizeof(*wanted));
	wanted[qk] = true;
	spot = warp_lanes_from(&lanes, lane, 0, wanted);
	ck_assert_str_eq(name_of(spot.segment, spot.warp), "QK");
	ck_assert_uint_eq(warp_tracks_warp(&tracks, spot.warp)->block, 3);
	ck_assert_uint_eq(spot.segment->from, lanes.lanes[lane].from + 400);
	spot = warp_lanes_before(&lanes, lane, spot.segment->from, wanted);
	ck_assert_ptr_null(spot.segment);
	spot = warp_lanes_before(&lanes, lane, UINT64_MAX, wanted);
	ck_assert_str_eq(name_of(spot.segment, spot.warp), "QK");
	ck_assert_ptr_null(warp_lanes_from(&lanes, lane, UINT64_MAX, NULL).segment);
	/* What runs then, of a class, or what comes first. */
	spot = warp_lanes_at(&lanes, lane, lanes.lanes[lane].from + 450, UINT64_MAX,
			     tracks.class_of[qk]);
	ck_assert_str_eq(name_of(spot.segment, spot.warp), "QK");
	spot = warp_lanes_at(&lanes, lane, 0, UINT64_MAX, WARP_CLASSES);
	ck_assert_uint_eq(spot.segment->from, lanes.lanes[lane].from);
	free(wanted);
}
END_TEST

START_TEST(running_blocks)
{
	struct warp_grid grid;

	warp_launch(&t, 1, 20);
	make(WARP_LANES_BLOCKS);
	ck_assert_int_eq(warp_grid_init(&grid, &tracks), 0);
	ck_assert_uint_eq(grid.n, 20);
	ck_assert_uint_eq(grid.most, WARP_SMS);
	ck_assert_uint_eq(warp_grid_running(&grid, 0), 1);
	ck_assert_uint_eq(warp_grid_running(&grid, 5000), WARP_SMS);
	ck_assert_uint_eq(warp_grid_running(&grid, tracks.clock.end - 1), 1);
	ck_assert_uint_eq(warp_grid_running(&grid, tracks.clock.end), 0);
	warp_grid_done(&grid);
}
END_TEST

/* Launches without warps, warps without scopes, and no launch. */
START_TEST(nothing)
{
	struct warp_view view = {0, 1, 1};
	struct warp_cell cell;

	ck_assert_int_eq(warp_tracks_init(&tracks, &t, 0), -ENODATA);
	begin();
	make(WARP_LANES_BLOCKS);
	ck_assert_uint_eq(lanes.n, 0);
	ck_assert_uint_eq(tracks.clock.end, 1);
	warp_tracks_done(&tracks);
	add(&(struct warp_trace_warp){.warp = 5}, NULL, 0);
	make(WARP_LANES_WARPS);
	ck_assert_uint_eq(lanes.n, 1);
	warp_lanes_cells(&lanes, 0, &view, &cell);
	ck_assert_uint_eq(cell.n, 0);
	ck_assert(isnan(warp_cell_share(&cell)));
	ck_assert_uint_eq(warp_cell_class(&cell), WARP_CLASSES);
	ck_assert_ptr_null(warp_lanes_at(&lanes, 0, 0, 9, WARP_CLASSES).segment);
}
END_TEST

/* By whole words, however they are joined. */
START_TEST(names_of_waits)
{
	static const char *const waits[] = {
		"wait",    "Wait full", "cp.async.wait_group", "consumer_wait", "producerAcquire",
		"wait:42", "bar.sync",  "__syncthreads()",     "await copy",    "mma (idle)"};
	static const char *const works[] = {"",       "async copy", "barrel",   "waiter", "load",
					    "synced", "WAITFULL",   "tma load", "7",      "rebar"};

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		ck_assert_msg(warp_name_waits(waits[i]), "%s", waits[i]);
	for (size_t i = 0; i < ARRAY_SIZE(works); i++)
		ck_assert_msg(!warp_name_waits(works[i]), "%s", works[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("warp_lanes");
	TCase *tc = tcase_create("warp_lanes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, innermost);
	tcase_add_test(tc, open_scopes);
	tcase_add_test(tc, asynchronous);
	tcase_add_test(tc, one_clock);
	tcase_add_test(tc, overwritten);
	tcase_add_test(tc, kinds);
	tcase_add_test(tc, columns_add_up);
	tcase_add_test(tc, columns_of_many);
	tcase_add_test(tc, more_names_than_classes);
	tcase_add_test(tc, from_one_to_the_next);
	tcase_add_test(tc, running_blocks);
	tcase_add_test(tc, nothing);
	tcase_add_test(tc, names_of_waits);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
