/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check_main.h"
#include "core/alike.h"
#include "core/step_slow.h"
#include "core/step_trend.h"
#include "core/steps.h"
#include "core/stepped.h"

static struct steps steps;

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The same from all of them. */
static void expect(const uint64_t *ns, size_t n, const struct steps_told *told)
{
	uint64_t *sorted = malloc(n * sizeof(*sorted)), sum = 0;
	double squares = 0, mean, deviation;

	memcpy(sorted, ns, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_time);
	for (size_t i = 0; i < n; i++)
		sum += ns[i];
	mean = (double)sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((double)ns[i] - mean) * ((double)ns[i] - mean);
	deviation = sqrt(squares / (double)n);
	ck_assert_uint_eq(told->n, n);
	ck_assert_uint_eq(told->sum_ns, sum);
	ck_assert_uint_eq(told->min_ns, sorted[0]);
	ck_assert_uint_eq(told->max_ns, sorted[n - 1]);
	ck_assert_uint_eq(ns[told->slowest - 1], sorted[n - 1]);
	ck_assert_double_le(fabs((double)told->deviation_ns - deviation), 1 + deviation * 1e-6);
	ck_assert_double_le(fabs((double)told->median_ns - (double)sorted[(n - 1) / 2]),
			    2 + (double)sorted[n / 2] * .035 +
				    (double)(sorted[n / 2] - sorted[(n - 1) / 2]));
	ck_assert_uint_ge(told->p95_ns, told->median_ns);
	ck_assert_uint_le(told->p95_ns, told->max_ns);
	free(sorted);
}

START_TEST(model)
{
	uint64_t ns[3000], around[] = {1, 50, 40000, 41200000, UINT64_C(3600000000000)};
	struct steps_told told;

	srand((unsigned)_i);
	steps_clear(&steps);
	steps_add(&steps, 0, 777); /* the first */
	for (size_t i = 0; i < 3000; i++) {
		uint64_t base = around[_i % 5];

		ns[i] = base + (uint64_t)rand() % (base / (1 + (unsigned)_i % 7 * 10) + 1);
		steps_add(&steps, i + 1, ns[i]);
		if (i % 500 == 0 || i < 5) {
			steps_tell(&steps, &told);
			if (_i % 5 < 4) /* histograms end at 18 minutes */
				expect(ns, i + 1, &told);
		}
	}
	steps_tell(&steps, &told);
	ck_assert_uint_eq(told.first_ns, 777);
	ck_assert_uint_eq(told.n_restarts, 0);
	ck_assert_uint_le(told.min_ns, told.median_ns);
	ck_assert_uint_le(told.p95_ns, told.max_ns);
}
END_TEST

START_TEST(nothing_yet)
{
	struct steps_told told;

	steps_clear(&steps);
	steps_tell(&steps, &told);
	ck_assert_uint_eq(told.n, 0);
	steps_add(&steps, 5, 0);
	steps_tell(&steps, &told);
	ck_assert_uint_eq(told.n, 0);
	ck_assert_uint_eq(told.first_ns, 0);
	steps_add(&steps, 6, 0);
	steps_tell(&steps, &told);
	ck_assert_uint_eq(told.n, 1);
	ck_assert_uint_eq(told.max_ns, 0);
	ck_assert_uint_eq(told.deviation_ns, 0);
}
END_TEST

/* Numbers that begin anew, and one that comes twice. */
START_TEST(restarts)
{
	struct steps_told told;

	steps_clear(&steps);
	for (unsigned i = 0; i < 100; i++)
		steps_add(&steps, i % 10, 1000);
	steps_tell(&steps, &told);
	ck_assert_uint_eq(told.n_restarts, 9);
	ck_assert(!steps_are_a_loop(told.n, told.n_restarts, false));
	ck_assert(steps_are_a_loop(told.n, told.n_restarts, true));
	ck_assert(!steps_are_a_loop(3, 0, true));
	ck_assert(!steps_are_a_loop(40, 10, true));
}
END_TEST

START_TEST(names)
{
	static const struct {
		const char *name;
		unsigned rank;
	} names[] = {{"ProfilerStep#3", 5},
		     {"train_STEP_9", 4},
		     {"Iteration 4", 3},
		     {"batch-2", 2},
		     {"epoch 1", 1},
		     {"layer 3", 0},
		     {"", 0},
		     {"ste", 0}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ck_assert_uint_eq(steps_rank(names[i].name, strlen(names[i].name)), names[i].rank);
}
END_TEST

static void put(struct session *s, uint32_t node, uint32_t lane, uint32_t metric, uint64_t v)
{
	ck_assert_int_eq(session_add(s, node, lane, 0, metric, (union metric_value){.u64 = v}), 0);
}

static void put_loop(struct session *s, uint32_t node, uint32_t lane, uint64_t n, uint64_t mean,
		     uint64_t deviation)
{
	put(s, node, lane, METRIC_STEPS, n);
	put(s, node, lane, METRIC_STEP_TIME, n * mean);
	put(s, node, lane, METRIC_STEP_MIN, mean - deviation);
	put(s, node, lane, METRIC_STEP_MAX, mean + 2 * deviation);
	put(s, node, lane, METRIC_STEP_SLOWEST, n / 2);
	put(s, node, lane, METRIC_STEP_MEDIAN, mean);
	put(s, node, lane, METRIC_STEP_P95, mean + deviation);
	put(s, node, lane, METRIC_STEP_DEVIATION, deviation);
	put(s, node, lane, METRIC_STEP_FIRST, 10 * mean);
}

static void put_busy(struct session *s, uint32_t node, uint32_t lane, uint64_t n, uint64_t busy,
		     uint64_t idle, uint64_t slowest)
{
	put(s, node, lane, METRIC_STEP_KNOWN, n);
	put(s, node, lane, METRIC_STEP_BUSY, n * busy);
	put(s, node, lane, METRIC_STEP_BUSY_MEDIAN, busy + 1);
	put(s, node, lane, METRIC_STEP_BUSY_MAX, 2 * busy);
	put(s, node, lane, METRIC_STEP_IDLE, n * idle);
	put(s, node, lane, METRIC_STEP_IDLE_MEDIAN, idle + 1);
	put(s, node, lane, METRIC_STEP_IDLE_MAX, 2 * idle);
	put(s, node, lane, METRIC_STEP_BUSY_AT, slowest);
	put(s, node, lane, METRIC_STEP_BUSY_SLOWEST, busy / 2);
}

static void put_late(struct session *s, uint32_t node, uint32_t lane, uint64_t n, uint64_t at)
{
	put_loop(s, node, lane, 100, 40000, 1000);
	put(s, node, lane, METRIC_STEP_KNOWN, 100);
	put(s, node, lane, METRIC_STEP_LATE, n);
	put(s, node, lane, METRIC_STEP_LATE_AT, at);
}

/* Files may lack any value of a row: the slowest is of those that have theirs. */
START_TEST(causes_that_are_not_whole)
{
	struct session *s = session_new();
	uint32_t step = session_node(s, 0, FRAME_NVTX, "step 0"), lanes[4], n;
	struct stepped *v;

	for (uint32_t i = 0; i < 4; i++)
		lanes[i] = session_lane_intern(
			s, &(struct session_lane){.process = session_process_add(s, i + 1),
						  .device = SESSION_NONE});
	put_late(s, step, lanes[0], 2, 7);
	v = stepped_new(s, &n);
	ck_assert_double_eq(v->late.n, 2);
	ck_assert_double_lt(v->late.max_ns, 0);
	ck_assert_double_nan(v->late.at);
	free(v);
	for (uint32_t i = 1; i < 4; i++) {
		put_late(s, step, lanes[i], 1, 10 * i);
		if (i != 2)
			put(s, step, lanes[i], METRIC_STEP_LATE_MAX, 100000 - i);
	}
	v = stepped_new(s, &n);
	ck_assert_double_eq(v->late.n, 5);
	ck_assert_double_eq(v->late.max_ns, 99999);
	ck_assert_double_eq(v->late.at, 10);
	ck_assert_double_nan(v->more.n);
	free(v);
	session_free(s);
}
END_TEST

/* Of one process devices are not known, of another one not in its slowest step. */
START_TEST(devices)
{
	struct session *s = session_new();
	uint32_t step = session_node(s, 0, FRAME_NVTX, "step 0"), lanes[3], n;
	char text[STEPPED_TEXT];
	struct stepped *v;

	for (uint32_t i = 0; i < 3; i++)
		lanes[i] = session_lane_intern(
			s, &(struct session_lane){.process = session_process_add(s, i + 1),
						  .device = SESSION_NONE});
	put_loop(s, step, lanes[0], 100, 40000, 1000);
	v = stepped_new(s, &n);
	ck_assert_double_nan(v->busy_ns);
	ck_assert_str_eq(stepped_busy_text(v, text), "");
	ck_assert_int_eq(stepped_why_slowest(v), STEPPED_NOT_KNOWN);
	free(v);
	put_loop(s, step, lanes[1], 300, 44000, 2000);
	put_busy(s, step, lanes[1], 300, 30000, 14000, 150);
	v = stepped_new(s, &n);
	ck_assert_double_eq(v->known, 300);
	ck_assert_double_eq(v->busy_ns, 30000);
	ck_assert_double_eq(v->slowest_busy_ns, 15000);
	ck_assert_str_eq(stepped_busy_text(v, text),
			 "devices busy 30.0us a step (15.0us of #150, the slowest), "
			 "known of 300 steps");
	ck_assert_int_eq(stepped_why_slowest(v), STEPPED_HOST);
	free(v);
	put_loop(s, step, lanes[2], 100, 44000, 5000);
	put_busy(s, step, lanes[2], 100, 10000, 34000, 49);
	v = stepped_new(s, &n);
	ck_assert_double_eq(v->known, 400);
	ck_assert_double_eq(v->busy_ns, 25000);
	ck_assert_double_eq(v->idle_ns, 19000);
	ck_assert_double_eq(v->busy_median_ns, 25001);
	ck_assert_double_eq(v->idle_median_ns, 19001);
	ck_assert_double_eq(v->busy_max_ns, 60000);
	ck_assert_double_eq(v->idle_max_ns, 68000);
	ck_assert_double_eq(v->slowest, 50);
	ck_assert_double_nan(v->slowest_busy_ns);
	ck_assert_str_eq(stepped_busy_text(v, text),
			 "devices busy 25.0us a step, known of 400 steps");
	free(v);
	session_free(s);
}
END_TEST

/* Of two processes: as if all steps were of one. */
START_TEST(processes)
{
	struct session *s = session_new();
	uint32_t step = session_node(s, 0, FRAME_NVTX, "step 0"),
		 epoch = session_node(s, 0, FRAME_NVTX, "epoch 0"), lanes[2], n;
	char text[STEPPED_TEXT];
	struct stepped *v;

	for (uint32_t i = 0; i < 2; i++)
		lanes[i] = session_lane_intern(
			s, &(struct session_lane){.process = session_process_add(s, i + 1),
						  .device = SESSION_NONE});
	ck_assert_ptr_null(stepped_new(s, &n));
	ck_assert_uint_eq(n, 0);
	put_loop(s, epoch, lanes[0], 5, 1000000000, 0);
	put_loop(s, step, lanes[0], 100, 40000000, 1000000);
	put_loop(s, step, lanes[1], 300, 44000000, 2000000);
	v = stepped_new(s, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(v[0].node, step);
	ck_assert_uint_eq(v[0].n_processes, 2);
	ck_assert_double_eq(v[0].n, 400);
	ck_assert_double_eq_tol(v[0].mean_ns, 43e6, 1);
	/* (100 (1 + 3²) + 300 (2² + 1)) / 400 = 6.25 */
	ck_assert_double_eq_tol(v[0].deviation_ns, 2.5e6, 1);
	ck_assert_double_eq(v[0].max_ns, 48e6);
	ck_assert_double_eq(v[0].slowest, 150);
	ck_assert_uint_eq(v[0].process, 1);
	ck_assert_str_eq(stepped_text(&v[0], true, text), "43.0ms +-2.50ms (max 48.0ms at #150)");
	ck_assert_uint_eq(v[1].node, epoch);
	free(v);
	session_free(s);
}
END_TEST

/* Those with names of their own, and all others; several numbers as the program says them. */
START_TEST(which_step)
{
	struct session *s = session_new();
	uint32_t first = session_node(s, SESSION_ROOT, FRAME_SCOPE, "epoch 3 step 7"),
		 other = session_node(s, SESSION_ROOT, FRAME_NVTX, "epoch 3 step 14"),
		 all = session_node(s, SESSION_ROOT, FRAME_SCOPE, "epoch # step #"),
		 lane = session_lane_intern(s, &(struct session_lane){.process = SESSION_NONE,
								      .device = SESSION_NONE}),
		 n;
	uint64_t number;
	char out[STEPPED_NUMBER];
	struct stepped *v;

	put_loop(s, first, lane, 10, 100, 5);
	v = stepped_new(s, &n);
	ck_assert_uint_eq(n, 1);
	alike_number("epoch 3 step 7", strlen("epoch 3 step 7"), &number);
	ck_assert_uint_eq(stepped_node(s, v, (double)number), first);
	ck_assert_str_eq(stepped_number(v, (double)number, out), "3,7");
	alike_number("epoch 3 step 14", strlen("epoch 3 step 14"), &number);
	ck_assert_uint_eq(stepped_node(s, v, (double)number), all);
	ck_assert_str_eq(stepped_number(v, (double)number, out), "3,14");
	session_node(s, other, FRAME_SCOPE, "epoch 3 step 7");
	alike_number("epoch 3 step 7", strlen("epoch 3 step 7"), &number);
	ck_assert_uint_eq(stepped_node(s, v, (double)number), SESSION_NONE); /* which of two? */
	v->n_numbers = 1;
	ck_assert_str_eq(stepped_number(v, 12345678, out), "12345678");
	free(v);
	session_free(s);
}
END_TEST

static size_t join(char *out, const char *before, const char *between, const uint64_t *v,
		   unsigned n)
{
	size_t len = 0;

	for (unsigned i = 0; i < n; i++)
		len += (size_t)sprintf(&out[len], "%s%" PRIu64, i ? between : before, v[i]);
	return len;
}

/* Numbers of any size, or of one that every loop may have. */
static void random_numbers(uint64_t *v, unsigned n, bool large)
{
	for (unsigned i = 0; i < n; i++)
		v[i] = (((uint64_t)rand() << 42) ^ ((uint64_t)rand() << 21) ^ (uint64_t)rand()) &
		       ((UINT64_C(1) << rand() % (large ? 63 : 14)) - 1);
}

/* What is said of a step is what its name says, or nothing, whatever the numbers are; and where they count up, so does
 * what stands for them. */
START_TEST(numbers_in_names)
{
	char name[128], said[128], out[STEPPED_NUMBER];
	const struct stepped of = {.n_numbers = 1 + (unsigned)_i % 5};
	unsigned n_told = 0;

	srand((unsigned)_i);
	for (unsigned round = 0; round < 2000; round++) {
		uint64_t number, next, v[5];

		random_numbers(v, of.n_numbers, round % 2);
		ck_assert(
			alike_number(name, join(name, "step ", " of ", v, of.n_numbers), &number));
		join(said, "", ",", v, of.n_numbers);
		stepped_number(&of, (double)number, out);
		if (*out != '-')
			ck_assert_str_eq(out, said);
		else
			ck_assert_msg(round % 2 || of.n_numbers > 2, "'%s' is not told", name);
		n_told += *out != '-';
		v[of.n_numbers - 1]++;
		ck_assert(alike_number(name, join(name, "step ", " of ", v, of.n_numbers), &next));
		ck_assert_msg(next > number, "'%s' is less than the one before", name);
	}
	ck_assert(of.n_numbers > ALIKE_NUMBERS_MAX ? !n_told : n_told > 200);
}
END_TEST

/* A second number may be as large as one that counts requests. */
START_TEST(large_numbers)
{
	static const struct {
		const char *name, *said;
	} names[] = {
		{"epoch 3 step 16777215", "3,16777215"},
		{"epoch 3 step 16777216", "3,16777216"},
		{"epoch 3 step 20000000", "3,20000000"},
		{"run 1000000 day 20261126", "1000000,20261126"},
		{"epoch 200000000 step 7", "200000000,7"},
		{"epoch 31 batch 5 step 7", "31,5,7"},
		{"epoch 32 batch 5 step 7", "-"},
		{"run 1100000 day 20261126", "-"},
		{"rank 1 epoch 2 batch 3 step 4", "-"},
		{"request 9007199254740991", "9007199254740991"},
		{"request 9007199254740993", "-"},
		{"request 99999999999999999999999999", "-"},
	};
	char out[STEPPED_NUMBER];
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = names[i].name;
		struct stepped of = {0};

		for (const char *p = name; (p = strchr(p, ' ')); p++)
			of.n_numbers += p[1] <= '9';
		ck_assert(alike_number(name, strlen(name), &number));
		ck_assert_str_eq(stepped_number(&of, (double)number, out), names[i].said);
	}
}
END_TEST

static uint64_t growth_of(const uint64_t *v, unsigned n)
{
	struct step_trend t;

	step_trend_clear(&t);
	for (unsigned i = 0; i < n; i++)
		step_trend_add(&t, i, v[i]);
	ck_assert_uint_eq(t.n, n);
	return step_trend_growth(&t);
}

/* Whatever the number of steps is: what grows by so much does, and what only comes in the beginning, goes to and fro, or
 * comes once, does not. */
START_TEST(trends)
{
	static uint64_t grows[5000], fills[5000], waves[5000], jumps[5000], shrinks[5000];

	srand((unsigned)_i);
	for (unsigned i = 0; i < 5000; i++) {
		grows[i] = 1000 + 64 * i + (i % 3 ? 5000 : 0);
		fills[i] = 64 * (i < 20 ? i : 20);
		waves[i] = (unsigned)rand() % 100000;
		jumps[i] = i < 90 ? 100 : 100000;
		shrinks[i] = 1000000 - 64 * i;
	}
	for (unsigned n = STEP_TREND_LEAST; n < 5000; n += 1 + n / 20) {
		/* with what goes to and fro in it, quarters of few steps say it less well */
		ck_assert_uint_ge(growth_of(grows, n), n < 100 ? 0 : 60);
		ck_assert_uint_le(growth_of(grows, n), n < 100 ? 5000 : 68);
		ck_assert(n < 80 || growth_of(fills, n) == 0);
		ck_assert_uint_eq(growth_of(shrinks, n), 0);
		ck_assert(n < 150 || growth_of(jumps, n) == 0);
		ck_assert(n < 1000 || growth_of(waves, n) < 3);
	}
	for (unsigned i = 0; i < 5000; i++)
		grows[i] = 7 + 64 * i;
	for (unsigned n = STEP_TREND_LEAST; n < 5000; n += 1 + n / 20)
		ck_assert_uint_eq(growth_of(grows, n), 64);
	ck_assert_uint_eq(growth_of(grows, STEP_TREND_LEAST - 1), 0);
}
END_TEST

/* Of most steps in between nothing is known: growth is that of one step, not of one that is known. */
START_TEST(trend_with_gaps)
{
	struct step_trend t;

	step_trend_clear(&t);
	for (unsigned i = 0; i < 5000; i += i % 40 ? 1 : 21)
		step_trend_add(&t, i, 7 + 64 * i);
	ck_assert_uint_eq(step_trend_growth(&t), 64);
	step_trend_clear(&t);
	for (unsigned i = 0; i < 100000; i += i < 1000 ? 1 : 100)
		step_trend_add(&t, i, 7 + 64 * i);
	ck_assert_uint_eq(step_trend_growth(&t), 64);
}
END_TEST

/* Against all of them sorted. */
START_TEST(causes)
{
	static struct step_slow s;
	struct step_slow_told told;
	uint64_t n[2] = {0}, at[2] = {0}, most[2] = {0}, busy[2] = {0};
	unsigned n_slow = (unsigned)_i * 20; /* at the last ones more than are remembered */

	srand((unsigned)_i);
	step_slow_clear(&s);
	for (unsigned i = 0; i < 3000; i++) {
		bool is_slow = i % 3 == 0 && i / 3 < n_slow, is_more = i % 2;
		uint64_t ns = is_slow ? 15000 + i * 7 : 10000 + (unsigned)rand() % 4999,
			 busy_ns = is_slow && is_more ? ns - 3000 : 7000;

		step_slow_add(&s, i, ns, busy_ns, ns - busy_ns);
		if (!is_slow)
			continue;
		n[is_more]++;
		at[is_more] = i;
		most[is_more] = ns;
		busy[is_more] = busy_ns;
	}
	step_slow_tell(&s, 10000, 3000, &told);
	ck_assert_uint_eq(told.host.n + told.work.n,
			  n_slow < STEP_SLOW_MAX ? n_slow : STEP_SLOW_MAX);
	if (n_slow < STEP_SLOW_MAX)
		ck_assert_uint_eq(told.host.n, n[0]);
	ck_assert_uint_eq(told.host.number, at[0]);
	ck_assert_uint_eq(told.host.ns, most[0]);
	ck_assert_uint_eq(told.host.busy_ns, busy[0]);
	ck_assert_uint_eq(told.work.number, at[1]);
	ck_assert_uint_eq(told.work.ns, most[1]);
	ck_assert_uint_eq(told.work.busy_ns, busy[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("steps");
	TCase *t = tcase_create("steps");

	tcase_add_loop_test(t, model, 0, 35);
	tcase_add_test(t, nothing_yet);
	tcase_add_test(t, restarts);
	tcase_add_test(t, names);
	tcase_add_test(t, which_step);
	tcase_add_loop_test(t, numbers_in_names, 0, 20);
	tcase_add_test(t, large_numbers);
	tcase_add_loop_test(t, trends, 0, 5);
	tcase_add_test(t, trend_with_gaps);
	tcase_add_loop_test(t, causes, 0, 20);
	tcase_add_test(t, processes);
	tcase_add_test(t, devices);
	tcase_add_test(t, causes_that_are_not_whole);
	suite_add_tcase(s, t);
	return check_run(s);
}
