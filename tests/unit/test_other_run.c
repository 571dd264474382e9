/* SPDX-License-Identifier: MIT */
/* Tests of core/other_run: what another run counted is joined where it did the same, by process, stream and thread, and what
 * cannot be told from something else is not guessed. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check_main.h"
#include "core/other_run.h"
#include "core/ranges_wanted.h"

#define MEAN "lts__t_sector_hit_rate.pct"

enum { PID = 100 };

/* A run that counts one metric of kernels. */
struct run {
	struct session *s;
	const char *metric;
	uint32_t set;
};

static struct run new_run(const char *metric)
{
	struct run r = {session_new(), metric, 0};
	const struct metric counted[] = {
		{RANGES_COUNT, "", METRIC_U64, METRIC_INCLUSIVE, METRIC_SUM, METRIC_NONE},
		{RANGES_TIME, "ns", METRIC_U64, METRIC_INCLUSIVE, METRIC_SUM, METRIC_NONE}};
	struct metric m = {metric, "", METRIC_F64, METRIC_INCLUSIVE, range_metric_add(metric), 0};
	uint32_t ids[3];

	ids[0] = session_metric_add(r.s, &counted[0]);
	ids[1] = m.weight = session_metric_add(r.s, &counted[1]);
	ids[2] = session_metric_add(r.s, &m);
	r.set = session_set_intern(r.s, ids, 3);
	return r;
}

static uint32_t process(struct run *r, int32_t rank, const char *command)
{
	uint32_t id = session_process_add(r->s, r->s->n_processes + 1 + (uintptr_t)r->metric[0]);

	r->s->processes[id].rank = rank;
	r->s->processes[id].pid = PID + id;
	r->s->processes[id].cmdline = strtab_adds(r->s->strings, command);
	r->s->processes[id].exe = r->s->processes[id].cmdline;
	return id;
}

static uint32_t kernel_node(struct run *r, const char *scope, const char *name)
{
	return session_node(r->s, session_node(r->s, SESSION_ROOT, FRAME_SCOPE, scope),
			    FRAME_KERNEL, name);
}

/* A kernel of a scope ran n times, was measured as often, and counted v. */
static void ran_in_epoch(struct run *r, uint32_t epoch, const char *scope, const char *name,
			 const struct session_lane *lane, uint64_t n, uint64_t ns, double v)
{
	uint32_t node = kernel_node(r, scope, name), on = session_lane_intern(r->s, lane);
	uint32_t row = session_row_intern(r->s, node, on, epoch, SET_KERNEL);

	session_row_set(r->s, row, 1, (union metric_value){.u64 = n});
	row = session_row_intern(r->s, node, on, epoch, r->set);
	session_row_set(r->s, row, 0, (union metric_value){.u64 = n});
	session_row_set(r->s, row, 1, (union metric_value){.u64 = ns});
	session_row_set(r->s, row, 2, (union metric_value){.f64 = v});
}

static void ran(struct run *r, const char *scope, const char *name, const struct session_lane *lane,
		uint64_t n, uint64_t ns, double v)
{
	ran_in_epoch(r, 0, scope, name, lane, n, ns, v);
}

static struct session_lane lane_of(uint32_t process, uint32_t stream, uint64_t thread)
{
	return (struct session_lane){process, SESSION_NONE, 1, stream, thread};
}

static double value(struct run *r, const char *scope, const char *name, const char *metric)
{
	uint32_t id = metric_table_find(r->s->metrics, metric);
	union metric_value v;

	if (id == METRIC_NONE || !session_value(r->s, kernel_node(r, scope, name), id, &v))
		return NAN;
	return metric_number(metric_table_get(r->s->metrics, id), v);
}

static bool is_noted(struct run *r, const char *words)
{
	for (size_t i = 0; i < r->s->n_notes; i++)
		if (strstr(strtab_str(r->s->strings, r->s->notes[i].text), words))
			return true;
	return false;
}

static struct run a, b;

static void setup(void)
{
	a = new_run("dram__bytes.sum");
	b = new_run(MEAN);
}

static void teardown(void)
{
	session_free(a.s);
	session_free(b.s);
}

static void join(void)
{
	ck_assert_int_eq(other_run_join(a.s, b.s, 2, 2), 0);
}

/* Both with one process; the other run's threads and pid are others. */
static void ran_in_both(uint32_t stream, uint64_t thread_a, uint64_t thread_b, double v)
{
	struct session_lane x = lane_of(0, stream, thread_a), y = lane_of(0, stream, thread_b);

	ran(&a, "step", "gemm", &x, 2, 10, 5);
	ran(&b, "step", "gemm", &y, 2, 30, v);
}

START_TEST(test_values_are_beside)
{
	process(&a, -1, "app");
	process(&b, -1, "app");
	b.s->processes[0].pid = 777;
	ran_in_both(7, PID, 777, 50);
	join();
	ck_assert_double_eq(value(&a, "step", "gemm", MEAN), 50);
	ck_assert_double_eq(value(&a, "step", "gemm", "dram__bytes.sum"), 5);
	ck_assert_double_eq(value(&a, "step", "gemm", RANGES_COUNT), 2);
	ck_assert_double_eq(value(&a, "step", "gemm", RANGES_TIME), 10);
	ck_assert_double_eq(value(&a, "step", "gemm", "count"), 2);
	ck_assert(is_noted(&a, "run 2 of 2 of the program counted " MEAN));
	ck_assert(!is_noted(&a, "was not like the first"));
}
END_TEST

/* A mean in the first run's row is weighed by its time there. */
static uint32_t epoch(struct run *r, uint32_t index, uint32_t phase)
{
	const struct session_epoch e = {r->s->epochs[0].name, index, phase};

	return session_epoch_intern(r->s, &e);
}

/* Between two sessions an epoch was counted in one of the runs, and not in the other: epochs are the same by their order. */
START_TEST(test_epochs_that_were_not_counted)
{
	struct session_lane lane = lane_of(0, 7, PID);

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran_in_epoch(&a, epoch(&a, 2, 0), "later", "gemm", &lane, 1, 10, 5);
	ran(&a, "early", "gemm", &lane, 2, 10, 5);
	ran(&b, "early", "gemm", &lane, 2, 10, 50);
	ran_in_epoch(&b, epoch(&b, 1, 0), "later", "gemm", &lane, 1, 10, 60);
	join();
	ck_assert_double_eq(value(&a, "early", "gemm", MEAN), 50);
	ck_assert_double_eq(value(&a, "later", "gemm", MEAN), 60);
}
END_TEST

/* … but where there are more in one of them, by their numbers. */
START_TEST(test_epochs_of_one_run_alone)
{
	struct session_lane lane = lane_of(0, 7, PID);

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran_in_epoch(&a, epoch(&a, 2, 0), "later", "gemm", &lane, 1, 10, 5);
	ran_in_epoch(&b, epoch(&b, 1, 0), "between", "gemm", &lane, 1, 10, 60);
	ran_in_epoch(&b, epoch(&b, 2, 0), "later", "gemm", &lane, 1, 10, 70);
	join();
	ck_assert_double_eq(value(&a, "later", "gemm", MEAN), 70);
	ck_assert(isnan(value(&a, "between", "gemm", MEAN)));
}
END_TEST

START_TEST(test_means_are_weighed)
{
	struct session_lane one = lane_of(0, 7, PID), two = lane_of(0, 8, PID);

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran(&a, "step", "gemm", &one, 1, 30, 0);
	ran(&a, "step", "gemm", &two, 1, 10, 0);
	ran(&b, "step", "gemm", &one, 1, 1000, 20);
	ran(&b, "step", "gemm", &two, 1, 1000, 60);
	join();
	ck_assert_double_eq(value(&a, "step", "gemm", MEAN), (20 * 30 + 60 * 10) / 40.);
}
END_TEST

/* Two threads that are not the main one: nothing says which is which. */
START_TEST(test_threads_that_are_alike)
{
	struct session_lane lane[4] = {lane_of(0, 7, 201), lane_of(0, 7, 202), lane_of(0, 7, 301),
				       lane_of(0, 7, 302)};

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran(&a, "step", "gemm", &lane[0], 1, 10, 1);
	ran(&a, "step", "gemm", &lane[1], 3, 10, 1);
	ran(&b, "step", "gemm", &lane[2], 3, 30, 20);
	ran(&b, "step", "gemm", &lane[3], 1, 10, 60);
	join();
	ck_assert_double_eq(value(&a, "step", "gemm", MEAN), (20 * 30 + 60 * 10) / 40.);
	ck_assert_double_eq(value(&a, "step", "gemm", RANGES_COUNT), 4);
	for (size_t i = 0; i < a.s->n_rows; i++)
		if (a.s->lanes[a.s->rows[i].lane].thread == 0)
			return;
	ck_abort_msg("no row of no thread");
}
END_TEST

/* Streams that have other numbers in the other run, one before all of the first's. */
START_TEST(test_streams_that_are_others)
{
	struct session_lane lane[3] = {lane_of(0, 7, PID), lane_of(0, 8, PID), lane_of(0, 9, PID)};

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran(&a, "step", "gemm", &lane[1], 1, 10, 1);
	ran(&a, "step", "gemm", &lane[2], 1, 10, 1);
	ran(&b, "step", "gemm", &lane[0], 1, 10, 20);
	ran(&b, "step", "gemm", &lane[2], 1, 30, 60);
	join();
	ck_assert_double_eq(value(&a, "step", "gemm", MEAN), (20 * 10 + 60 * 30) / 40.);
}
END_TEST

/* One thread beside the main one, each in its place. */
START_TEST(test_main_and_another)
{
	struct session_lane x = lane_of(0, 7, PID), y = lane_of(0, 7, 9000);
	struct session_lane z = lane_of(0, 7, 8000);

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran(&a, "step", "gemm", &y, 1, 10, 1);
	ran(&a, "step", "gemm", &x, 2, 10, 1);
	ran(&b, "step", "gemm", &z, 1, 10, 11);
	ran(&b, "step", "gemm", &x, 2, 10, 22);
	join();
	for (size_t i = 0; i < a.s->n_rows; i++) {
		const struct session_row *row = &a.s->rows[i];
		double v = session_row_number(a.s, row, metric_table_find(a.s->metrics, MEAN));

		ck_assert_uint_ne(a.s->lanes[row->lane].thread, 0);
		if (!isnan(v))
			ck_assert_double_eq(v, a.s->lanes[row->lane].thread == PID ? 22 : 11);
	}
}
END_TEST

START_TEST(test_other_numbers_are_refused)
{
	struct session_lane lane = lane_of(0, 7, PID);

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran(&a, "step", "gemm", &lane, 2, 10, 1);
	ran(&b, "step", "gemm", &lane, 3, 10, 20);
	ran(&a, "step", "relu", &lane, 1, 10, 1);
	ran(&b, "step", "relu", &lane, 1, 10, 30);
	ran(&a, "step", "gone", &lane, 1, 10, 1);
	join();
	ck_assert(isnan(value(&a, "step", "gemm", MEAN)));
	ck_assert_double_eq(value(&a, "step", "gemm", "dram__bytes.sum"), 1);
	ck_assert_double_eq(value(&a, "step", "relu", MEAN), 30);
	ck_assert(is_noted(&a, "without " MEAN
			       " are: 'step > gemm', which ran 3 times, and 2 in the first run; "
			       "'step > gone', which ran 0 times, and 1 in the first run"));
}
END_TEST

/* As many kernels, but CUPTI has measured less of them. */
START_TEST(test_missing_ranges_are_refused)
{
	uint32_t row;

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran_in_both(7, PID, PID, 50);
	row = (uint32_t)b.s->n_rows - 1;
	session_row_set(b.s, row, 0, (union metric_value){.u64 = 1});
	join();
	ck_assert(isnan(value(&a, "step", "gemm", MEAN)));
	ck_assert(is_noted(&a, "'step > gemm', which it measured 1 time, and the first run 2"));
}
END_TEST

/* Ranks are known by their number, in whatever order they come. */
START_TEST(test_ranks)
{
	struct session_lane lane[2] = {lane_of(0, 7, PID), lane_of(1, 7, PID + 1)};

	process(&a, 0, "app");
	process(&a, 1, "app");
	process(&b, 1, "app");
	process(&b, 0, "app");
	ran(&a, "rank 0", "gemm", &lane[0], 1, 10, 1);
	ran(&a, "rank 1", "gemm", &lane[1], 1, 10, 1);
	ran(&b, "rank 1", "gemm", &lane[0], 1, 10, 11);
	ran(&b, "rank 0", "gemm", &lane[1], 1, 10, 10);
	join();
	ck_assert_double_eq(value(&a, "rank 0", "gemm", MEAN), 10);
	ck_assert_double_eq(value(&a, "rank 1", "gemm", MEAN), 11);
	ck_assert(!is_noted(&a, "was not like the first"));
}
END_TEST

/* Two processes of one command, and no ranks. */
START_TEST(test_processes_that_are_alike)
{
	struct session_lane lane[2] = {lane_of(0, 7, PID), lane_of(1, 7, PID + 1)};

	for (int i = 0; i < 2; i++) {
		process(&a, -1, "app");
		process(&b, -1, "app");
		ran(&a, "step", "gemm", &lane[i], 1, 10, 1);
		ran(&b, "step", "gemm", &lane[i], 1, 10, 10);
	}
	join();
	ck_assert(isnan(value(&a, "step", "gemm", MEAN)));
	ck_assert(is_noted(&a, "all of a process of 'app', which cannot be told from others"));
}
END_TEST

/* What the other run says by itself, and the first did not, is not lost. */
START_TEST(test_notes)
{
	process(&a, -1, "app");
	process(&b, -1, "app");
	ran_in_both(7, PID, PID, 50);
	session_note(a.s, 0, NOTE_WARNING, "both say so");
	session_note(b.s, 0, NOTE_WARNING, "both say so");
	session_note(b.s, 0, NOTE_WARNING, "nobody may count");
	join();
	ck_assert(is_noted(&a, "run 2 of 2: nobody may count"));
	ck_assert(!is_noted(&a, "run 2 of 2: both say so"));
}
END_TEST

/* A row may be told of before it has its first value, in one run alone. */
START_TEST(test_rows_without_ranges)
{
	struct session_lane lane = lane_of(0, 7, PID);

	process(&a, -1, "app");
	process(&b, -1, "app");
	ran(&b, "idle", "gemm", &lane, 0, 0, 0);
	ran(&a, "step", "gemm", &lane, 2, 10, 5);
	join();
	ck_assert(!is_noted(&a, "run 2 of 2 of the program counted"));
	ck_assert(isnan(value(&a, "step", "gemm", MEAN)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("other_run");
	TCase *tc = tcase_create("join");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_values_are_beside);
	tcase_add_test(tc, test_epochs_that_were_not_counted);
	tcase_add_test(tc, test_epochs_of_one_run_alone);
	tcase_add_test(tc, test_means_are_weighed);
	tcase_add_test(tc, test_threads_that_are_alike);
	tcase_add_test(tc, test_streams_that_are_others);
	tcase_add_test(tc, test_main_and_another);
	tcase_add_test(tc, test_other_numbers_are_refused);
	tcase_add_test(tc, test_missing_ranges_are_refused);
	tcase_add_test(tc, test_ranks);
	tcase_add_test(tc, test_processes_that_are_alike);
	tcase_add_test(tc, test_notes);
	tcase_add_test(tc, test_rows_without_ranges);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
