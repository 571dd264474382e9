/* SPDX-License-Identifier: MIT */
/* The devices' time in steps of the host: against a map with a byte for each nanosecond. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/step_busy.h"

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
	uint8_t busy[TIME * 2];
	struct span room[2 * PIECES];
	struct coverage ran;
	struct step_busy busy_of;
	uint64_t floor; /* what began before is not known */
} w;

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
		step_busy_add(&w.busy_of, &w.ran, &w.steps[w.n_added++]);
	if (w.n_added < w.n_steps && w.steps[w.n_added].start_ns < until)
		step_busy_go_on(&w.busy_of, &w.ran, w.steps[w.n_added].start_ns, until);
}

static uint64_t count_busy(const struct step_ended *s)
{
	uint64_t n = 0;

	for (uint64_t t = s->start_ns; t < s->end_ns; t++)
		n += w.busy[t];
	return n;
}

static void expect(bool (*is_known)(const struct step_ended *))
{
	struct step_busy_told told;
	uint64_t n = 0, busy = 0, idle = 0, busy_max = 0, idle_max = 0, slowest_ns = 0, slowest = 0,
		 slowest_busy = 0;

	for (unsigned i = 1; i < w.n_added; i++) {
		const struct step_ended *s = &w.steps[i];
		uint64_t its = count_busy(s);

		if (!is_known(s))
			continue;
		n++;
		busy += its;
		idle += s->ns - its;
		busy_max = MAX(busy_max, its);
		idle_max = MAX(idle_max, s->ns - its);
		if (s->ns <= slowest_ns)
			continue;
		slowest_ns = s->ns;
		slowest = s->number;
		slowest_busy = its;
	}
	step_busy_tell(&w.busy_of, &told);
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
	step_busy_clear(&w.busy_of);
	make_ops();
	make_steps();
}

/* What is settled counts, whatever came besides. Before that only what the next steps need is remembered. */
START_TEST(as_a_map_says)
{
	begin((unsigned)_i, PIECES);
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
	const struct step_ended first = {0, 10, 10, 0, true},
				longest = {10, 40010, 40000, 1, false},
				range = {20, 40010, 39990, 2, false};
	struct step_busy_told told;

	coverage_init(&w.ran, w.room, 16);
	step_busy_clear(&w.busy_of);
	step_busy_add(&w.busy_of, &w.ran, &first);
	for (uint64_t t = 10; t < 40010; t += 10) {
		coverage_add(&w.ran, &(struct span){t + 2, t + 5}, 1);
		step_busy_go_on(&w.busy_of, &w.ran, 10, t + 4);
	}
	step_busy_add(&w.busy_of, &w.ran, &longest);
	step_busy_tell(&w.busy_of, &told);
	ck_assert_uint_eq(told.busy.n, 1);
	ck_assert_uint_eq(told.busy.sum_ns, 12000);
	step_busy_add(&w.busy_of, &w.ran, &range);
	step_busy_tell(&w.busy_of, &told);
	ck_assert_uint_eq(told.busy.n, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("step_busy");
	TCase *t = tcase_create("step_busy");
	SRunner *r;
	int failed;

	tcase_add_loop_test(t, as_a_map_says, 0, 200);
	tcase_add_loop_test(t, a_break, 0, 50);
	tcase_add_test(t, longer_than_what_is_remembered);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
