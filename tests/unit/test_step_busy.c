/* SPDX-License-Identifier: MIT */
/* The devices' time in steps of the host: against a map with a byte for each nanosecond. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
#include "core/step_busy.h"
#include "core/step_moved.h"

enum { TIME = 6000, DEVICES = 3, OPS = 900, STEPS = 200, PIECES = 1 << 11, RUN = 40 };

struct op {
	struct span ran;
	unsigned device;
	uint64_t ended; /* when its record may come, at the earliest */
	bool came;
};

static struct world {
	struct op ops[OPS];
	unsigned n_ops;
	struct step_ended steps[STEPS];
	unsigned n_steps, n_added;
	uint8_t busy[TIME * 2], in_graph[TIME * 2];
	struct span room[2 * PIECES];
	struct span graph_room[2 * PIECES];
	struct coverage ran, in_graphs;
	struct step_busy busy_of;
	uint64_t floor; /* what began before is not known */
} w;

static const struct step_covers covers = {&w.ran, &w.in_graphs};

static unsigned below(unsigned n)
{
	return (unsigned)rand() % n;
}

/* Work of each device overlaps itself (streams), that of others, and the ends of steps. */
static void make_ops(void)
{
	uint64_t at[DEVICES] = {0};

	w.n_ops = 0;
	for (unsigned i = 0; i < OPS; i++) {
		unsigned d = below(DEVICES);
		struct op *o = &w.ops[w.n_ops];

		at[d] += below(3 + below(60));
		if (at[d] >= TIME)
			continue;
		*o = (struct op){{at[d], at[d] + below(1 + below(80))}, d, 0, false};
		o->ended = o->ran.end + below(100);
		for (uint64_t t = o->ran.start; t < o->ran.end; t++)
			w.busy[t] = 1;
		w.n_ops++;
	}
}

/* A gap of a device is between two nodes of a graph, or it is not; others may work then. */
static void make_graph_gap(uint64_t start, uint64_t end)
{
	if (start >= end || below(2))
		return;
	coverage_add(&w.in_graphs, &(struct span){start, end}, 1);
	for (uint64_t t = start; t < end; t++)
		w.in_graph[t] = !w.busy[t];
}

static void make_graphs(void)
{
	for (unsigned d = 0; d < DEVICES; d++) {
		uint64_t end = 0;

		for (unsigned i = 0; i < w.n_ops; i++) {
			if (w.ops[i].device != d)
				continue;
			make_graph_gap(end, w.ops[i].ran.start);
			end = MAX(end, w.ops[i].ran.end);
		}
	}
}

static void make_steps(void)
{
	uint64_t at = below(50);

	w.n_steps = 0;
	for (unsigned i = 0; i < STEPS; i++) {
		struct step_ended *s = &w.steps[i];

		s->start_ns = at;
		s->end_ns = at + 1 + below(i % 17 ? 40 : 900);
		s->ns = s->end_ns - s->start_ns;
		s->number = i * 3;
		s->is_first = !i;
		at = s->end_ns + (below(3) ? 0 : below(30));
		if (s->end_ns >= TIME)
			break;
		w.n_steps++;
	}
}

/* Those that may have come by now, and what must have: in runs that are sorted, of one device each, in any order. */
static void deliver(uint64_t settled, uint64_t now)
{
	struct span run[RUN];

	for (unsigned d = 0, first = below(DEVICES); d < DEVICES; d++) {
		unsigned device = (first + d) % DEVICES, n = 0;

		for (unsigned i = 0; i < w.n_ops; i++) {
			struct op *o = &w.ops[i];

			if (o->came || o->device != device ||
			    (o->ran.start >= settled && (o->ended > now || below(3))))
				continue;
			o->came = true;
			run[n++] = o->ran;
			if (n == RUN) {
				coverage_add(&w.ran, run, n);
				n = 0;
			}
		}
		coverage_add(&w.ran, run, n);
	}
}

static void settle(uint64_t until)
{
	while (w.n_added < w.n_steps && w.steps[w.n_added].end_ns <= until)
		step_busy_add(&w.busy_of, &covers, &w.steps[w.n_added++]);
	if (w.n_added < w.n_steps && w.steps[w.n_added].start_ns < until)
		step_busy_go_on(&w.busy_of, &covers, w.steps[w.n_added].start_ns, until);
}

static uint64_t count(const uint8_t *map, const struct step_ended *s)
{
	uint64_t n = 0;

	for (uint64_t t = s->start_ns; t < s->end_ns; t++)
		n += map[t];
	return n;
}

static void expect(bool (*is_known)(const struct step_ended *))
{
	struct step_busy_told told;
	uint64_t n = 0, busy = 0, idle = 0, busy_max = 0, idle_max = 0, slowest_ns = 0, slowest = 0,
		 slowest_busy = 0;

	for (unsigned i = 1; i < w.n_added; i++) {
		const struct step_ended *s = &w.steps[i];
		uint64_t its = count(w.busy, s), its_idle = s->ns - its - count(w.in_graph, s);

		if (!is_known(s))
			continue;
		n++;
		busy += its;
		idle += its_idle;
		busy_max = MAX(busy_max, its);
		idle_max = MAX(idle_max, its_idle);
		if (s->ns <= slowest_ns)
			continue;
		slowest_ns = s->ns;
		slowest = s->number;
		slowest_busy = its;
	}
	step_busy_tell(&w.busy_of, UINT64_MAX, &told);
	ck_assert_uint_eq(told.busy.n, n);
	ck_assert_uint_eq(told.idle.n, n);
	ck_assert_uint_eq(told.busy.sum_ns, busy);
	ck_assert_uint_eq(told.idle.sum_ns, idle);
	ck_assert_uint_eq(told.busy.max_ns, busy_max);
	ck_assert_uint_eq(told.idle.max_ns, idle_max);
	if (!n)
		return;
	ck_assert_uint_eq(told.slowest, slowest);
	ck_assert_uint_eq(told.slowest_busy_ns, slowest_busy);
}

static bool all(const struct step_ended *s)
{
	(void)s;
	return true;
}

static void begin(unsigned seed, uint32_t pieces)
{
	srand(seed);
	memset(&w, 0, sizeof(w));
	coverage_init(&w.ran, w.room, pieces);
	coverage_init(&w.in_graphs, w.graph_room, pieces);
	step_busy_clear(&w.busy_of);
	make_ops();
	make_steps();
}

/* What is settled counts, whatever came besides. Before that only what the next steps need is remembered. */
START_TEST(as_a_map_says)
{
	begin((unsigned)_i, PIECES);
	if (_i % 3)
		make_graphs();
	for (uint64_t until = 0, now; until < TIME; until += 1 + below(400)) {
		now = until + below(300);
		deliver(until, now);
		settle(until);
		expect(all);
		if (_i % 2)
			coverage_raise_floor(&w.ran, until);
	}
	ck_assert_uint_gt(w.n_added, 5);
}
END_TEST

static bool after_floor(const struct step_ended *s)
{
	return s->start_ns >= w.floor;
}

/* From some time on nothing is known of what was before (a pause, lost records): steps that began then are in no number,
 * those of later are right. */
START_TEST(a_break)
{
	uint64_t until;

	begin((unsigned)_i, PIECES);
	until = 500 + below(3000);
	deliver(until, until + 50);
	w.floor = until + 60;
	coverage_raise_floor(&w.ran, w.floor);
	deliver(TIME, 2 * TIME);
	settle(TIME);
	expect(after_floor);
	ck_assert_uint_eq(w.n_added, w.n_steps);
}
END_TEST

/* One step of more pieces than are remembered, which went in pieces while it was open; and one that did not. */
START_TEST(longer_than_what_is_remembered)
{
	const struct step_ended first = {0, 10, 10, 0, 0, true},
				longest = {10, 40010, 40000, 1, 1, false},
				range = {20, 40010, 39990, 2, 2, false};
	struct step_busy_told told;

	coverage_init(&w.ran, w.room, 16);
	coverage_init(&w.in_graphs, w.graph_room, 16);
	step_busy_clear(&w.busy_of);
	step_busy_add(&w.busy_of, &covers, &first);
	for (uint64_t t = 10; t < 40010; t += 10) {
		coverage_add(&w.ran, &(struct span){t + 2, t + 5}, 1);
		step_busy_go_on(&w.busy_of, &covers, 10, t + 4);
	}
	step_busy_add(&w.busy_of, &covers, &longest);
	step_busy_tell(&w.busy_of, UINT64_MAX, &told);
	ck_assert_uint_eq(told.busy.n, 1);
	ck_assert_uint_eq(told.busy.sum_ns, 12000);
	step_busy_add(&w.busy_of, &covers, &range);
	step_busy_tell(&w.busy_of, UINT64_MAX, &told);
	ck_assert_uint_eq(told.busy.n, 1);
}
END_TEST

enum { CHANGES = 1500, SPAN = 8 };

static struct {
	struct step_mark room[4096];
	struct step_marks marks;
	struct step_moved moved;
	struct step_change all[CHANGES];
} b;

/* What there was before a moment, from all that ever came. */
static uint64_t before(enum step_total what, uint64_t at_ns)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < CHANGES; i++)
		if (b.all[i].what == what && b.all[i].at_ns < at_ns)
			n = what == STEP_TOTAL_LIVE ? b.all[i].bytes : n + b.all[i].bytes;
	return n;
}

/* In order of time, but handed over in runs of what came so far, each by another way: memory first, then copies. */
static void hand_over(unsigned from, unsigned to, bool memory)
{
	struct step_change run[CHANGES];
	unsigned n = 0;

	for (unsigned i = from; i < to; i++)
		if ((b.all[i].what == STEP_TOTAL_LIVE) == memory)
			run[n++] = b.all[i];
	for (unsigned done = 0; done < n; done += SPAN)
		step_marks_add(&b.marks, run + done, MIN(SPAN, n - done));
}

/* Bytes of steps with gaps between them, as they come, against sums over all changes. */
START_TEST(bytes)
{
	uint64_t sums[STEP_N_TOTALS] = {0}, most[STEP_N_TOTALS] = {0}, n = 0;
	struct step_moved_told told;

	srand((unsigned)_i);
	for (unsigned i = 0; i < CHANGES; i++)
		b.all[i] =
			(struct step_change){i * 10 + below(10), below(1000), below(STEP_N_TOTALS)};
	step_marks_init(&b.marks, b.room, ARRAY_SIZE(b.room));
	step_moved_clear(&b.moved);
	for (unsigned at = 0, step = 0; at + 50 <= CHANGES; at += 50) {
		hand_over(at, at + 50, _i % 2);
		hand_over(at, at + 50, !(_i % 2));
		step_marks_settle(&b.marks, (at + 50) * 10);
		if (at % 150 == 0) { /* one begins, and ends when two more have come */
			step_moved_go_on(&b.moved, &b.marks, at * 10 + 5, (at + 50) * 10);
			if (_i % 3 == 0)
				step_marks_keep(&b.marks, 60);
		}
		if (at % 150 != 100)
			continue;
		const struct step_ended e = {
			(at - 100) * 10 + 5, (at + 20) * 10 + 7, 1, step, step, !step};

		step_moved_add(&b.moved, &b.marks, &e);
		for (unsigned i = 0; step && i < STEP_N_TOTALS; i++) {
			uint64_t v = before(i, e.end_ns) -
				     (i == STEP_TOTAL_LIVE ? 0 : before(i, e.start_ns));

			sums[i] += v;
			most[i] = MAX(most[i], v);
		}
		n += step++ > 0;
	}
	step_moved_tell(&b.moved, &told);
	ck_assert_uint_eq(told.n, n);
	ck_assert(told.has_memory);
	for (unsigned i = 0; i < STEP_N_TOTALS; i++) {
		ck_assert_uint_eq(told.of[i].sum, sums[i]);
		ck_assert_uint_eq(told.of[i].max, most[i]);
	}
}
END_TEST

/* Where something is missing, or more has come than there is room for, it is not known; and from then on it is again. */
START_TEST(bytes_that_are_forgotten)
{
	uint64_t v[STEP_N_TOTALS];

	step_marks_init(&b.marks, b.room, 64);
	for (unsigned i = 0; i < 1000; i++)
		step_marks_add(&b.marks, &(struct step_change){i, 1, STEP_TOTAL_TO_HOST}, 1);
	step_marks_settle(&b.marks, 1000);
	ck_assert(!step_marks_at(&b.marks, 900, v));
	ck_assert(step_marks_at(&b.marks, 1000, v));
	ck_assert_uint_eq(v[STEP_TOTAL_TO_HOST], 1000);
	ck_assert(step_marks_at(&b.marks, 990, v));
	ck_assert_uint_eq(v[STEP_TOTAL_TO_HOST], 990);
	step_marks_raise_floor(&b.marks, 995);
	ck_assert(!step_marks_at(&b.marks, 994, v));
	ck_assert(step_marks_at(&b.marks, 995, v));
	/* What comes late counts from then on. */
	step_marks_add(&b.marks, &(struct step_change){10, 5, STEP_TOTAL_TO_HOST}, 1);
	step_marks_settle(&b.marks, 2000);
	ck_assert(step_marks_at(&b.marks, 1500, v));
	ck_assert_uint_eq(v[STEP_TOTAL_TO_HOST], 1005);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("step_busy");
	TCase *t = tcase_create("step_busy");

	tcase_add_loop_test(t, as_a_map_says, 0, 200);
	tcase_add_loop_test(t, a_break, 0, 50);
	tcase_add_test(t, longer_than_what_is_remembered);
	tcase_add_loop_test(t, bytes, 0, 60);
	tcase_add_test(t, bytes_that_are_forgotten);
	suite_add_tcase(s, t);
	return check_run(s);
}
