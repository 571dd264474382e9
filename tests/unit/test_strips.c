/* SPDX-License-Identifier: MIT */
/* Strips over time against brute force: on worlds drawn at random nothing overlaps on a strip, everything
 * is on one, and columns hold what adding up all intervals says they do. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
#include "core/busy.h"
#include "core/pages.h"
#include "core/strips.h"
#include "core/while_ran.h"

#define N_WORLDS 60

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % below;
}

/* ---- a session ---- */

static struct session *s;
static struct strips t;
enum { N_NODES = 8, N_PAGES = 7 };
static uint32_t nodes[N_NODES], pages[N_PAGES];

static uint32_t add_node(enum frame_kind kind, const char *name)
{
	return session_node(s, SESSION_ROOT, kind, name);
}

static uint32_t add_process(uint64_t instance)
{
	return session_process_add(s, instance);
}

static uint32_t stream(uint32_t process, uint32_t stream_id, uint64_t thread)
{
	const struct session_device device = {.index = 0, .type = strtab_adds(s->strings, "CUDA")};
	const struct session_lane lane = {.process = process,
					  .device = session_device_intern(s, &device),
					  .context = 1,
					  .stream = stream_id,
					  .thread = thread};

	return session_lane_intern(s, &lane);
}

static uint32_t no_stream(uint32_t process)
{
	uint32_t on = stream(process, 0, 0);
	struct session_lane lane = s->lanes[on];

	lane.context = 0;
	lane.stream = SESSION_NONE;
	return session_lane_intern(s, &lane);
}

static uint32_t thread(uint32_t process, uint64_t id)
{
	const struct session_lane lane = {.process = process, .device = SESSION_NONE, .thread = id};

	return session_lane_intern(s, &lane);
}

static void add(uint32_t node, uint32_t lane, uint64_t start_ns, uint64_t end_ns)
{
	const struct session_interval v = {start_ns, end_ns, node, lane, 0, {0}};

	ck_assert_int_eq(session_interval_add(s, &v), 0);
}

static void set_clock(uint32_t process, uint64_t monotonic_ns, uint64_t clock_ns)
{
	const struct session_clock clock = {process, strtab_adds(s->strings, "realtime"),
					    monotonic_ns, clock_ns};

	ck_assert_int_eq(session_clock_add(s, &clock), 0);
}

/* The last one is of a version to come. */
static const char *const page_names[N_PAGES] = {
	"migration HtoD", "migration DtoH evicted", "migration HtoD as asked",
	"CPU page fault", "GPU page faults",        "throttled",
	"hidden"};
static const uint8_t page_lanes[N_PAGES] = {PAGES_TO_DEVICE, PAGES_TO_HOST, PAGES_TO_DEVICE,
					    PAGES_MISSED,    PAGES_MISSED,  PAGES_THRASHING,
					    PAGES_OTHER};

static void setup(void)
{
	s = session_new();
	ck_assert_ptr_nonnull(s);
	nodes[0] = add_node(FRAME_KERNEL, "gemm");
	nodes[1] = add_node(FRAME_KERNEL, "relu");
	nodes[2] = add_node(FRAME_COPY, "memcpy HtoD");
	nodes[3] = add_node(FRAME_SET, "memset");
	nodes[4] = add_node(FRAME_SCOPE, "step");
	nodes[5] = add_node(FRAME_FUNCTION, "forward");
	nodes[6] = add_node(FRAME_NVTX, "range");
	nodes[7] = add_node(FRAME_GRAPH_RUN, "graph");
	for (unsigned i = 0; i < N_PAGES; i++)
		pages[i] =
			session_node(s, session_node(s, SESSION_ROOT, FRAME_ALLOC, "alloc managed"),
				     FRAME_PAGES, page_names[i]);
}

static void teardown(void)
{
	strips_done(&t);
	s = session_free(s);
}

static uint8_t class_of(void *ctx, uint32_t node, uint32_t lane)
{
	(void)ctx;
	return (uint8_t)(node * 3 + lane);
}

static void make(void)
{
	strips_done(&t);
	ck_assert_int_eq(strips_init(&t, s), 0);
	ck_assert_int_eq(strips_sort(&t, class_of, NULL), 0);
}

/* ---- brute force ---- */

static uint8_t pages_lane_of(uint32_t node)
{
	for (unsigned i = 0; i < N_PAGES; i++)
		if (pages[i] == node)
			return page_lanes[i];
	return PAGES_NONE;
}

static void check_strips(void)
{
	_cleanup_(freep) uint8_t *seen = calloc(s->n_intervals, 1);
	size_t n = 0;

	for (size_t k = 0; k < t.n_strips; k++) {
		const struct strip *strip = &t.strips[k];
		const struct strip_lane *lane = &t.lanes[strip->lane];

		ck_assert_uint_gt(strip->n, 0);
		ck_assert_uint_eq(k, lane->first_strip + strip->line);
		for (size_t i = 0; i < strip->n; i++) {
			uint32_t id = t.order[strip->first + i];
			const struct session_lane *l = &s->lanes[s->intervals[id].lane];

			ck_assert_uint_eq(seen[id]++, 0);
			ck_assert_uint_eq(lane->process, l->process);
			ck_assert_uint_eq(lane->device, l->device);
			ck_assert(lane->is_host ? lane->thread == l->thread
						: lane->stream == l->stream);
			ck_assert_uint_eq(lane->pages, pages_lane_of(s->intervals[id].node));
			ck_assert_uint_eq(interval_is_pages(s, &s->intervals[id]), lane->pages > 0);
			if (lane->pages)
				ck_assert(lane->is_host == (l->device == SESSION_NONE));
			else
				ck_assert(lane->is_host == interval_is_host(s, &s->intervals[id]));
			if (i > 0)
				ck_assert_uint_ge(strip_start_ns(&t, strip, i),
						  strip_end_ns(&t, strip, i - 1));
		}
		n += strip->n;
	}
	ck_assert_uint_eq(n, s->n_intervals);
}

static void check_cell(const struct strip *strip, uint64_t from, uint64_t to,
		       const struct strip_cell *cell)
{
	uint64_t busy = 0, by_class[STRIP_CLASSES] = {0};
	size_t n = 0, first = 0;

	for (size_t i = 0; i < strip->n; i++) {
		const struct session_interval *v = strip_interval(&t, strip, i);
		uint64_t a = strip_start_ns(&t, strip, i), b = strip_end_ns(&t, strip, i);
		uint64_t lo = MAX(a, from), hi = MIN(b, to);

		if (a >= to || (a < from && b <= from))
			continue;
		first = n++ ? first : i;
		busy += hi > lo ? hi - lo : 0;
		by_class[class_of(NULL, v->node, v->lane) % STRIP_CLASSES] += hi > lo ? hi - lo : 0;
	}
	ck_assert_uint_eq(cell->n, n);
	ck_assert_uint_eq(cell->busy_ns, busy);
	ck_assert_uint_eq(cell->least_ns, by_class[STRIP_LEAST]);
	if (n)
		ck_assert_uint_eq(cell->first, first);
	for (unsigned i = 0; n && i < STRIP_LEAST; i++)
		ck_assert(by_class[i] == 0 ||
			  (cell->class != STRIP_LEAST && by_class[cell->class] >= by_class[i]));
}

static void check_view(uint64_t from, uint64_t to, unsigned n)
{
	const struct strip_view view = {from, to, n};
	struct strip_cell cells[64];

	ck_assert_uint_le(n, ARRAY_SIZE(cells));
	ck_assert_uint_eq(strip_column_ns(&view, 0), from);
	ck_assert_uint_eq(strip_column_ns(&view, n), to);
	for (size_t k = 0; k < t.n_strips; k++) {
		strips_cells(&t, &t.strips[k], &view, cells);
		for (unsigned i = 0; i < n; i++)
			check_cell(&t.strips[k], strip_column_ns(&view, i),
				   strip_column_ns(&view, i + 1), &cells[i]);
	}
}

static void check_begun(uint64_t ns)
{
	for (size_t k = 0; k < t.n_strips; k++) {
		const struct strip *strip = &t.strips[k];
		size_t n = 0;

		while (n < strip->n && strip_start_ns(&t, strip, n) <= ns)
			n++;
		ck_assert_uint_eq(strip_begun(&t, strip, ns), n);
	}
}

static void check_earliest(void)
{
	for (uint32_t node = 0; node < s->n_nodes; node++) {
		uint32_t found = t.earliest[node];

		for (size_t i = 0; i < s->n_intervals; i++)
			if (s->intervals[i].node == node) {
				ck_assert_uint_ne(found, SESSION_NONE);
				ck_assert_uint_le(s->intervals[found].start_ns,
						  s->intervals[i].start_ns);
			}
	}
}

/* ---- the device as one ---- */

static bool is_of(const struct session_interval *v, const struct strip_lane *lane)
{
	const struct session_lane *of = &s->lanes[v->lane];

	return !interval_is_host(s, v) && !pages_lane_of(v->node) && of->process == lane->process &&
	       of->device == lane->device;
}

static bool runs_at(const struct strip_lane *lane, uint64_t ns)
{
	for (size_t i = 0; i < s->n_intervals; i++) {
		const struct session_interval *v = &s->intervals[i];

		if (is_of(v, lane) && v->start_ns + lane->shift_ns <= ns &&
		    v->end_ns + lane->shift_ns > ns)
			return true;
	}
	return false;
}

static bool is_told_unrecorded(const struct strip_lane *lane, uint64_t ns)
{
	for (size_t i = 0; i < s->n_unrecorded; i++) {
		const struct session_unrecorded *u = &s->unrecorded[i];

		if ((u->process == lane->process || u->process == SESSION_NONE ||
		     lane->process == SESSION_NONE) &&
		    (!u->start_ns || u->start_ns + lane->shift_ns <= ns) &&
		    (!u->end_ns || u->end_ns + lane->shift_ns > ns))
			return true;
	}
	return false;
}

#define MAP 3000

/* Of each nanosecond of a device, from the first of all. */
struct map {
	size_t n;
	bool runs[MAP], is_told[MAP], is_known[MAP];
	bool is_edge[MAP + 1]; /* something that took no time parts it from the one before */
};

static void draw_map(struct map *map, const struct strip_lane *lane)
{
	map->n = MIN(t.last_ns + 2 - t.first_ns, MAP);
	for (size_t i = 0; i < map->n; i++) {
		map->runs[i] = runs_at(lane, t.first_ns + i);
		map->is_told[i] = is_told_unrecorded(lane, t.first_ns + i);
		map->is_known[i] = map->runs[i] || !map->is_told[i];
	}
	memset(map->is_edge, 0, sizeof(map->is_edge));
	for (size_t i = 0; i < s->n_intervals; i++) {
		const struct session_interval *v = &s->intervals[i];
		uint64_t at = v->start_ns + lane->shift_ns - t.first_ns;

		if (is_of(v, lane) && v->start_ns == v->end_ns && at <= map->n)
			map->is_edge[at] = true;
	}
}

/* Is all known around a moment at which nothing ran, as far as the map goes? */
static bool is_all_known(const struct map *map, size_t at)
{
	bool known = true;
	size_t i = at;

	do
		known &= map->is_known[i++];
	while (i < map->n && !map->runs[i] && !map->is_edge[i]);
	for (i = at; i > 0 && !map->runs[i - 1] && !map->is_edge[i]; i--)
		known &= map->is_known[i - 1];
	return known;
}

static void check_shares(const struct busy *b, const struct map *map, unsigned n)
{
	const struct strip_view view = {t.first_ns, t.first_ns + map->n, MIN(n, (unsigned)map->n)};

	for (unsigned k = 0; k < view.n; k++) {
		uint64_t from = strip_column_ns(&view, k), to = strip_column_ns(&view, k + 1);
		uint64_t busy = 0, known = 0, nevertheless = 0;
		struct busy_run run = busy_run(b, &view, k);
		double share = busy_share(b, from, to);

		for (uint64_t ns = from; ns < to; ns++) {
			busy += map->runs[ns - t.first_ns];
			known += map->is_known[ns - t.first_ns];
			nevertheless += map->runs[ns - t.first_ns] && map->is_told[ns - t.first_ns];
		}
		ck_assert_uint_eq(busy_unrecorded_ns(b, from, to), nevertheless);
		ck_assert_uint_eq(busy_known_ns(b, from, to), known);
		ck_assert(known ? share == (double)busy / (double)known : isnan(share));
		ck_assert(run.share == (busy ? (double)busy / (double)known : 0));
		ck_assert_int_eq(run.unrecorded != UNRECORDED_N,
				 !busy && known < (to - from + 1) / 2);
	}
}

/* Nanosecond by nanosecond. */
static void check_busy(const struct busy *b, const struct strip_lane *lane)
{
	static struct map map;
	uint64_t busy_ns = 0, end_ns;
	struct busy_gap gap;

	draw_map(&map, lane);
	end_ns = t.first_ns + map.n;
	check_shares(b, &map, 1);
	check_shares(b, &map, 1 + (unsigned)draw(80));
	for (uint64_t ns = t.first_ns; ns < end_ns; ns++) {
		bool runs = map.runs[ns - t.first_ns];

		ck_assert_uint_eq(busy_until(b, ns), busy_ns);
		if (busy_gap_at(b, ns, &gap)) {
			ck_assert(!runs);
			ck_assert(is_all_known(&map, ns - t.first_ns));
			ck_assert(gap.of.start <= ns && ns < gap.of.end);
			ck_assert_uint_eq(strip_end_ns(&t, gap.before.strip, gap.before.i),
					  gap.of.start);
			ck_assert_uint_eq(strip_start_ns(&t, gap.after.strip, gap.after.i),
					  gap.of.end);
		} else if (!runs) {
			ck_assert(busy_ns == 0 || busy_ns == b->total_ns || b->n < 2 ||
				  end_ns <= t.last_ns || !is_all_known(&map, ns - t.first_ns));
		}
		busy_ns += runs;
	}
	if (end_ns > t.last_ns)
		ck_assert_uint_eq(b->total_ns, busy_ns);
}

static void check_devices(void)
{
	const struct strip_lane *last = NULL;
	struct busy b;

	for (uint32_t i = 0; i < t.n_lanes; i++) {
		const struct strip_lane *lane = &t.lanes[i];

		if (lane->is_host ||
		    (last && last->process == lane->process && last->device == lane->device))
			continue;
		ck_assert_int_eq(busy_init(&b, &t, i), 0);
		check_busy(&b, lane);
		busy_done(&b);
		last = lane;
	}
}

/* ---- what moved while kernels ran ---- */

/* Of a node; SNAP_NONE: while no kernel ran. */
static uint64_t moved_while(const struct snapshot *snap, uint32_t node, uint8_t lane)
{
	uint64_t amount = 0;

	for (size_t i = 0; i < s->n_intervals; i++) {
		const struct session_interval *moved = &s->intervals[i];
		bool any = false, counts = node == SNAP_NONE;

		if (pages_lane_of(moved->node) != lane ||
		    s->lanes[moved->lane].device == SESSION_NONE)
			continue;
		for (size_t k = 0; k < s->n_intervals; k++) {
			const struct session_interval *v = &s->intervals[k];
			enum frame_kind kind = session_node_kind(s, v->node);

			if ((kind != FRAME_KERNEL && kind != FRAME_GRAPH_RUN) ||
			    s->lanes[v->lane].process != s->lanes[moved->lane].process ||
			    s->lanes[v->lane].device == SESSION_NONE ||
			    v->start_ns > moved->start_ns || v->end_ns <= moved->start_ns)
				continue;
			any = true;
			counts |= node != SNAP_NONE && interval_node(snap, v) == node;
		}
		if (node == SNAP_NONE ? !any : counts)
			amount += moved->amount;
	}
	return amount;
}

static void check_while_ran(void)
{
	const struct snapshot_spec spec = {0};
	struct snapshot *snap = snapshot_new(s, &spec);
	struct while_ran_list list;
	size_t n_found = 0;

	ck_assert_int_eq(snapshot_update(snap, NSEC_PER_SEC), 0);
	ck_assert_int_eq(while_ran_make(&list, &t, snap), 0);
	for (uint32_t node = 0; node <= snapshot_n(snap); node++) {
		uint32_t id = node < snapshot_n(snap) ? node : SNAP_NONE;
		size_t at = 0;

		while (at < list.n && list.v[at].node != id)
			at++;
		n_found += at < list.n;
		for (uint8_t lane = 1; lane < PAGES_N_LANES; lane++)
			ck_assert_uint_eq(at < list.n ? list.v[at].amount[lane] : 0,
					  moved_while(snap, id, lane));
	}
	ck_assert_uint_eq(n_found, list.n);
	while_ran_done(&list);
	snapshot_free(snap);
}

static void check_all(void)
{
	uint64_t span;

	make();
	check_strips();
	check_earliest();
	check_devices();
	check_while_ran();
	span = t.last_ns - t.first_ns + 2;
	check_view(t.first_ns, t.last_ns + 1, 40);
	check_view(t.first_ns, t.last_ns + 1, 1);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t from = t.first_ns + draw(span), to = from + 1 + draw(span);

		check_view(from, to, 1 + (unsigned)draw(64));
		check_begun(from);
	}
}

/* ---- tests ---- */

START_TEST(none_without_a_trace)
{
	ck_assert_int_eq(strips_init(&t, s), -ENODATA);
}
END_TEST

static void tell_unrecorded(uint32_t process, uint64_t start_ns, uint64_t end_ns)
{
	const struct session_unrecorded span = {process, (uint32_t)s->n_unrecorded,
						(uint8_t)draw(UNRECORDED_N), start_ns, end_ns};

	ck_assert_int_eq(session_unrecorded_set(s, &span), 0);
}

/* In each other, side by side, of no length, from the beginning and to the end. */
static void draw_unrecorded(uint32_t process, uint64_t around, uint64_t width)
{
	for (uint64_t n = draw(8); n > 0; n--) {
		uint64_t start = around + draw(width);

		tell_unrecorded(process, start, start + draw(2) * draw(width / 4 + 1));
	}
	if (!draw(8))
		tell_unrecorded(process, 0, around + draw(width / 4 + 1));
	if (!draw(8))
		tell_unrecorded(process, around + draw(width), 0);
}

/* Lanes that collide, ranges in each other, empty ones, several processes, in order and not. */
START_TEST(random_worlds)
{
	uint32_t lanes[10], process[3];
	unsigned n_lanes = _i % 5 ? ARRAY_SIZE(lanes) : 7; /* the rest: of pages */
	uint64_t now = 1000000, spread;
	size_t n;

	state = (uint64_t)_i * 7919 + 17;
	process[0] = add_process(11);
	process[1] = add_process(12);
	process[2] = SESSION_NONE;
	for (unsigned i = 0; i < 3; i++)
		lanes[i] = stream(process[i % 2], i / 2, i);
	lanes[3] = stream(process[0], 0, 77); /* another thread, the same stream */
	lanes[4] = thread(process[0], 5);
	lanes[5] = thread(process[1], 5);
	lanes[6] = stream(SESSION_NONE, 1, 3);
	lanes[7] = no_stream(process[0]);
	lanes[8] = no_stream(process[1]);
	lanes[9] = thread(process[0], 0);
	if (_i % 3 == 1) {
		set_clock(process[0], 5000, UINT64_C(1700000000000000000));
		set_clock(process[1], 900, UINT64_C(1700000007000000000));
	}
	n = 1 + draw(600);
	spread = 1 + draw(400);
	for (size_t i = 0; i < n; i++) {
		unsigned lane = (unsigned)draw(n_lanes);
		uint32_t node = lane < 7 ? nodes[draw(N_NODES)] : pages[draw(N_PAGES)];
		uint64_t start = _i % 2 ? now : 1000000 + draw(n * 20);
		uint64_t length = draw(10) ? draw(spread) : 0;

		add(node, lanes[lane], start, start + length);
		s->intervals[s->n_intervals - 1].amount = lane < 7 ? 0 : 1 + (uint32_t)draw(1000);
		now += draw(30);
	}
	for (unsigned i = 0; i < (_i % 4 == 1 ? 3U : _i % 4 ? 2U : 0U); i++)
		draw_unrecorded(process[i], 1000000, n * 20);
	check_all();
}
END_TEST

/* Ranges in each other stand below each other, by depth. */
START_TEST(nested_ranges)
{
	uint32_t lane = thread(add_process(1), 9);

	add(nodes[5], lane, 110, 150);
	add(nodes[6], lane, 110, 120);
	add(nodes[4], lane, 100, 200);
	add(nodes[5], lane, 150, 190);
	make();
	ck_assert_uint_eq(t.n_lanes, 1);
	ck_assert_uint_eq(t.n_strips, 3);
	ck_assert_uint_eq(t.strips[0].n, 1);
	ck_assert_uint_eq(t.strips[1].n, 2);
	ck_assert_uint_eq(strip_interval(&t, &t.strips[1], 0)->node, nodes[5]);
	ck_assert_uint_eq(strip_interval(&t, &t.strips[2], 0)->node, nodes[6]);
	check_all();
}
END_TEST

/* Threads before streams; the pages of each behind them, a lane for each kind; they part no contexts, and have no
 * launch. */
START_TEST(lanes_of_pages)
{
	uint32_t p = add_process(1), device = no_stream(p), host = thread(p, 0);

	add(pages[0], device, 100, 200);
	add(pages[2], device, 150, 160);
	add(pages[1], device, 100, 110);
	add(pages[3], host, 100, 100);
	add(pages[3], host, 100, 100);
	add(nodes[4], host, 90, 300);
	add(nodes[0], stream(p, 7, 0), 120, 130);
	s->intervals[0].amount = s->intervals[6].latency_ns = 50;
	make();
	ck_assert_uint_eq(t.n_lanes, 5);
	ck_assert(t.lanes[0].is_host && !t.lanes[0].pages);
	ck_assert(t.lanes[1].is_host && t.lanes[1].pages == PAGES_MISSED &&
		  t.lanes[1].n_strips == 1);
	ck_assert(!t.lanes[2].is_host && t.lanes[2].stream == 7);
	ck_assert(t.lanes[3].pages == PAGES_TO_DEVICE && t.lanes[3].n_strips == 2);
	ck_assert(t.lanes[4].pages == PAGES_TO_HOST);
	ck_assert(!strips_have_contexts(&t, &t.lanes[2]));
	ck_assert(strips_same_place(&t.lanes[0], &t.lanes[1]));
	ck_assert(strips_same_place(&t.lanes[2], &t.lanes[4]));
	ck_assert_uint_eq(strips_device_lane(&t, 4), 2);
	ck_assert_uint_eq(strip_launched_ns(&t, &t.strips[t.lanes[3].first_strip], 0), 0);
	ck_assert_uint_eq(strip_launched_ns(&t, &t.strips[t.lanes[2].first_strip], 0), 70);
	ck_assert_ptr_eq(strip_launcher(&t, &t.strips[t.lanes[2].first_strip], 0), &t.lanes[0]);
}
END_TEST

/* On a device that has them alone nothing ran. */
START_TEST(pages_alone)
{
	struct busy_gap gap;
	struct busy b;

	add(pages[0], no_stream(add_process(1)), 100, 200);
	add(pages[0], no_stream(0), 300, 400);
	check_all();
	ck_assert_uint_eq(t.n_lanes, 1);
	ck_assert_int_eq(busy_init(&b, &t, 0), 0);
	ck_assert_uint_eq(b.total_ns, 0);
	ck_assert(!busy_gap_at(&b, 250, &gap));
	ck_assert_uint_eq(busy_longest(&b, &gap, 1), 0);
	busy_done(&b);
}
END_TEST

/* What names say, and back. */
START_TEST(names_of_pages)
{
	char name[PAGES_NAME_MAX];

	for (unsigned what = UNIFIED_TO_DEVICE; what <= UNIFIED_REMOTE; what++)
		for (unsigned cause = UNIFIED_FOR_ACCESS; cause <= UNIFIED_EVICTED; cause++) {
			struct pages_kind kind = pages_kind(pages_name(what, cause, name));

			ck_assert_uint_eq(kind.what, what);
			ck_assert_uint_eq(kind.cause, cause);
			ck_assert(kind.lane > PAGES_NONE && kind.lane < PAGES_OTHER);
			ck_assert_uint_eq(kind.unit, pages_unit(what));
		}
	ck_assert_uint_eq(pages_kind("migration HtoD as").lane, PAGES_OTHER);
	ck_assert_uint_eq(pages_kind("").lane, PAGES_OTHER);
}
END_TEST

/* Threads before streams; the launching thread parts no streams; what a trace says of no device. */
START_TEST(lanes_in_order)
{
	uint32_t p = add_process(1);
	const struct session_lane nowhere = {.process = p, .device = SESSION_NONE, .stream = 3};

	add(nodes[0], stream(p, 7, 1), 100, 110);
	add(nodes[1], stream(p, 7, 2), 110, 120);
	add(nodes[0], session_lane_intern(s, &nowhere), 100, 110);
	add(nodes[4], thread(p, 1), 90, 200);
	make();
	ck_assert_uint_eq(t.n_lanes, 3);
	ck_assert(t.lanes[0].is_host);
	ck_assert(!t.lanes[1].is_host && t.lanes[1].stream == 7 && t.lanes[1].n == 2);
	ck_assert(!t.lanes[2].is_host && t.lanes[2].device == SESSION_NONE);
	ck_assert_uint_eq(t.n_strips, 3);
}
END_TEST

/* Hosts that booted at other times are put on one clock, and the run's beginning on it, too. */
START_TEST(one_clock)
{
	uint32_t a = add_process(1), b = add_process(2);

	set_clock(a, 1000, UINT64_C(1700000000000001000));
	set_clock(b, 500, UINT64_C(1700000010000000500));
	s->start_ns = UINT64_C(1699999999000000000);
	add(nodes[0], stream(a, 1, 0), UINT64_C(20000000000), UINT64_C(20000000100));
	add(nodes[0], stream(b, 1, 0), UINT64_C(10000000050), UINT64_C(10000000150));
	make();
	ck_assert_uint_eq(t.first_ns, UINT64_C(20000000000));
	ck_assert_uint_eq(t.last_ns, UINT64_C(20000000150));
	ck_assert_uint_eq(t.lanes[1].shift_ns, UINT64_C(10000000000));
	ck_assert_uint_eq(t.zero_ns, t.first_ns); /* the clock began later: it cannot say */
	s->start_ns = UINT64_C(1700000001000000000);
	make();
	ck_assert_uint_eq(t.zero_ns, UINT64_C(1000000000));
}
END_TEST

/* Work that was launched so long before its start; here all is in microseconds, for clocks of host and device differ by
 * some. */
static void launched(uint32_t node, uint32_t lane, uint64_t start_us, uint64_t end_us,
		     uint32_t before_us)
{
	add(node, lane, start_us * 1000, end_us * 1000);
	s->intervals[s->n_intervals - 1].latency_ns = before_us * 1000;
}

static void check_gap(uint32_t lane, uint64_t us, enum gap_part part, uint64_t part_us,
		      enum gap_part reason)
{
	struct busy_gap gap = {0};
	struct busy b;

	ck_assert_int_eq(busy_init(&b, &t, lane), 0);
	ck_assert(busy_gap_at(&b, us * 1000, &gap));
	if (part < GAP_N_PARTS)
		ck_assert_uint_eq(gap.of.parts[part], part_us * 1000);
	ck_assert_int_eq(busy_gap_reason(&gap), reason);
	busy_done(&b);
}

/* One of each kind, on two streams of a device. */
START_TEST(why_nothing_ran)
{
	uint32_t p = add_process(1), a = stream(p, 7, 3), b = stream(p, 8, 3), c = stream(p, 8, 4),
		 host = thread(p, 3), wait = add_node(FRAME_SYNC, "cudaStreamSynchronize"),
		 captured = session_node(s, nodes[0], FRAME_GRAPH, "<captured_at>"),
		 node = session_node(s, captured, FRAME_KERNEL, "node");

	launched(nodes[0], a, 1000, 2000, 10);
	launched(nodes[1], b, 1500, 3000, 10);
	launched(nodes[0], a, 4000, 5000, 300); /* late until 3700 */
	launched(wait, host, 4500, 5100, 0);
	launched(nodes[0], a, 6000, 7000, 400);  /* waited until 5100, launched at 5600 */
	launched(nodes[0], c, 8000, 9000, 5000); /* was there long before */
	launched(nodes[2], a, 9500, 10000, 100);
	launched(nodes[0], a, 11000, 12000, 100); /* late, or in the copy before */
	launched(nodes[0], a, 12500, 13000, 508); /* launched 8 us before its device was free */
	launched(node, b, 14000, 14100, 600);
	launched(node, b, 14200, 14300, 800);   /* of one launch */
	launched(nodes[0], a, 15000, 15100, 0); /* nobody knows when that was */
	make();
	check_gap(1, 3000, GAP_LATE, 700, GAP_LATE);
	check_gap(1, 3999, GAP_LAUNCH, 300, GAP_LATE);
	check_gap(2, 5500, GAP_SYNC, 600, GAP_SYNC);
	check_gap(1, 7001, GAP_QUEUED, 1000, GAP_QUEUED);
	check_gap(1, 10500, GAP_LATE, 900, GAP_N_PARTS);
	check_gap(1, 12100, GAP_LAUNCH, 500, GAP_LAUNCH);
	check_gap(1, 14150, GAP_GRAPH, 100, GAP_GRAPH);
	check_gap(1, 14500, GAP_N_PARTS, 0, GAP_N_PARTS);
}
END_TEST

/* Times at the end of what a session takes, and clocks that lead beyond 64 bits. */
START_TEST(largest_times)
{
	uint32_t a = add_process(1), b = add_process(2);

	uint64_t last = (UINT64_C(1) << 62) - 1;

	set_clock(a, 0, UINT64_C(1) << 63);
	set_clock(b, 0, (UINT64_C(1) << 63) - 1);
	add(nodes[0], stream(a, 1, 0), 5, last);
	add(nodes[0], stream(b, 1, 0), last - 10, last);
	add(nodes[1], stream(b, 1, 0), last, last);
	make();
	check_strips();
	check_view(0, UINT64_MAX, 50);
}
END_TEST

/* A thousand at once on one lane: a strip each, found without looking at all of them. */
START_TEST(many_at_once)
{
	uint32_t lane = stream(add_process(1), 1, 0);

	for (uint64_t i = 0; i < 1000; i++)
		add(nodes[0], lane, 100 + i, 5000);
	for (uint64_t i = 0; i < 1000; i++)
		add(nodes[1], lane, 5000 + i, 6001);
	make();
	ck_assert_uint_eq(t.n_strips, 1000);
	check_strips();
}
END_TEST

/* So many in no order that they are sorted by digits: in the order of their starts, and of ranges that begin together
 * the longest first. */
START_TEST(many_in_no_order)
{
	uint32_t process = add_process(11), lanes[2] = {stream(process, 0, 7), thread(process, 5)};

	state = (uint64_t)_i * 104729 + 3;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t start =
			1000 + draw(_i % 2 ? 5000 : UINT64_C(1) << 31) * (_i / 2 ? 4099 : 1);

		add(nodes[i % 2 ? 0 : 4], lanes[i % 2 == 0], start, start + draw(300));
	}
	make();
	check_strips();
	for (size_t k = 0; k < t.n_lanes; k++) {
		const struct strip_lane *lane = &t.lanes[k];

		for (uint32_t line = 1; lane->is_host && line < lane->n_strips; line++) {
			const struct strip *strip = &t.strips[lane->first_strip + line];

			for (size_t j = 0; j < strip->n; j++) { /* what it lies in is no shorter */
				uint64_t start = strip_start_ns(&t, strip, j);
				size_t n = strip_begun(&t, strip - 1, start);

				ck_assert_uint_gt(n, 0);
				if (strip_start_ns(&t, strip - 1, n - 1) == start)
					ck_assert_uint_ge(strip_end_ns(&t, strip - 1, n - 1),
							  strip_end_ns(&t, strip, j));
			}
		}
	}
}
END_TEST

static void add_launched(uint32_t lane, uint64_t start_ns, uint64_t latency_ns)
{
	add(nodes[0], lane, start_ns, start_ns + 10);
	s->intervals[s->n_intervals - 1].latency_ns = (uint32_t)latency_ns;
}

/* Of each range the operation that its thread launched first within it, by looking at all. */
static void check_first_launched(const struct strip *strip, size_t i)
{
	const struct strip_lane *host = &t.lanes[strip->lane];
	struct strip_place first = strips_first_launched(&t, strip, i, SIZE_MAX);
	uint64_t from = strip_start_ns(&t, strip, i), to = strip_end_ns(&t, strip, i);
	uint64_t best = UINT64_MAX;

	for (size_t k = 0; k < s->n_intervals; k++) {
		const struct session_interval *v = &s->intervals[k];
		const struct session_lane *lane = &s->lanes[v->lane];
		uint64_t at = v->start_ns - v->latency_ns;

		if (v->latency_ns && lane->process == host->process &&
		    lane->thread == host->thread && at >= from && at <= to)
			best = MIN(best, at);
	}
	ck_assert((best == UINT64_MAX) == (first.strip == NULL));
	if (first.strip)
		ck_assert_uint_eq(strip_launched_ns(&t, first.strip, first.i), best);
}

/* Two threads launch into two streams, each of which keeps the order of a thread's launches. */
START_TEST(launches)
{
	uint32_t process = add_process(11), n_found = 0;
	uint32_t hosts[2] = {thread(process, 5), thread(process, 6)};
	uint64_t now = 1000, free_ns[2] = {0};
	uint32_t device = s->lanes[stream(process, 0, 99)].device;

	state = (uint64_t)_i * 131 + 7;
	for (unsigned i = 0; i < 300; i++) {
		unsigned who = (unsigned)draw(2), on = (unsigned)draw(2);
		const struct session_lane lane = {process, device, 1, on, 5 + who};
		uint64_t launched = now + draw(20), start = launched + 1 + draw(50);

		start = MAX(start, free_ns[on]);
		if (draw(3))
			add_launched(session_lane_intern(s, &lane), start, start - launched);
		free_ns[on] = start + 10;
		add(nodes[4], hosts[who], now, now + 20);
		if (draw(4) == 0)
			add(nodes[5], hosts[who], now + 1, now + 18);
		now += 25 + draw(20);
	}
	make();
	for (size_t k = 0; k < t.n_strips; k++) {
		const struct strip *strip = &t.strips[k];
		bool is_host = t.lanes[strip->lane].is_host;

		for (size_t i = 0; i < strip->n; i++) {
			struct strip_place range;
			const struct strip_lane *lane;
			uint64_t at;

			if (is_host) {
				check_first_launched(strip, i);
				continue;
			}
			at = strip_launched_ns(&t, strip, i);
			lane = strip_launcher(&t, strip, i);
			ck_assert_ptr_nonnull(lane);
			range = strips_range_at(&t, lane, at);
			ck_assert_ptr_nonnull(range.strip);
			ck_assert_uint_le(strip_start_ns(&t, range.strip, range.i), at);
			ck_assert_uint_ge(strip_end_ns(&t, range.strip, range.i), at);
			n_found++;
		}
	}
	ck_assert_uint_gt(n_found, 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("strips");
	TCase *c = tcase_create("strips");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, none_without_a_trace);
	tcase_add_loop_test(c, many_in_no_order, 0, 4);
	tcase_add_loop_test(c, launches, 0, 8);
	tcase_add_loop_test(c, random_worlds, 0, N_WORLDS);
	tcase_add_test(c, nested_ranges);
	tcase_add_test(c, lanes_in_order);
	tcase_add_test(c, lanes_of_pages);
	tcase_add_test(c, pages_alone);
	tcase_add_test(c, names_of_pages);
	tcase_add_test(c, why_nothing_ran);
	tcase_add_test(c, one_clock);
	tcase_add_test(c, largest_times);
	tcase_add_test(c, many_at_once);
	suite_add_tcase(suite, c);
	return check_run(suite);
}
