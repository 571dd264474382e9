/* SPDX-License-Identifier: MIT */
/* Records of kernels and what was counted around them, whoever comes first. */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_range_joins.h"
#include <check.h>
#include "backends/cupti.h"
#include "base/util.h"
#include "check_main.h"
#include "core/ranges_wanted.h"

/* A sink whose phases change under it: what they are now, and what was told. */
static struct {
	uint32_t use;
	size_t n_records, n_told, n_lost, n_unlaunched;
	struct range_place at;
	uint64_t time_ns;
	double value;
} seen;

static bool sink_measured_at(struct activity_sink *sink, const struct activity *a,
			     struct range_place *ret)
{
	(void)sink;
	*ret = (struct range_place){.slot = a->launch, .use = seen.use};
	return a->launch != 0;
}

static void sink_measured(struct activity_sink *sink, const struct range_place *at,
			  uint64_t time_ns, const double *values)
{
	(void)sink;
	seen.n_told++;
	seen.at = *at;
	seen.time_ns = time_ns;
	seen.value = values[0];
}

static void sink_record(struct activity_sink *sink, const struct activity *a)
{
	(void)sink;
	(void)a;
	seen.n_records++;
}

static void sink_lose(struct activity_sink *sink, enum loss loss, uint64_t n)
{
	(void)sink;
	ck_assert_int_eq(loss, LOSS_ZERO_TIME);
	seen.n_lost += n;
}

static void sink_unlaunch(struct activity_sink *sink, uint64_t n)
{
	(void)sink;
	seen.n_unlaunched += n;
}

static const struct activity_sink_ops ops = {.measured_at = sink_measured_at,
					     .measured = sink_measured,
					     .record = sink_record,
					     .lose = sink_lose,
					     .unlaunch = sink_unlaunch};
static struct activity_sink sink = {.ops = &ops};
static struct cupti c = {.sink = &sink};

static void begin(enum ranges_replay replay, const char *metric)
{
	static struct ranges_wanted wanted;

	wanted = (struct ranges_wanted){.replay = replay, .of = RANGES_OF_KERNELS, .n = 1};
	wanted.metrics[0].name = (char *)(uintptr_t)metric;
	ck_assert(range_joins_begin(&wanted));
}

static bool record(uint32_t correlation, uint32_t launch, bool is_timed)
{
	const struct activity a = {.kind = ACTIVITY_KERNEL,
				   .launch = launch,
				   .start_ns = is_timed ? 100 : 0,
				   .end_ns = is_timed ? 142 : 0};

	return range_join_record(&c, &a, correlation, is_timed);
}

/* Its phase is that of its record: once that is delivered, another one may have the place. */
START_TEST(values_that_come_late)
{
	const double bytes = 3;

	begin(RANGES_ONCE, "dram__bytes.sum");
	seen.use = 1;
	ck_assert(!record(7, 9, true));
	ck_assert_uint_eq(seen.n_told, 0);
	seen.use = 2;
	range_join(&c, 7, 50, &bytes);
	ck_assert_uint_eq(seen.n_told, 1);
	ck_assert_uint_eq(seen.at.slot, 9);
	ck_assert_uint_eq(seen.at.use, 1);
	ck_assert_uint_eq(seen.time_ns, 42);
	ck_assert_double_eq(seen.value, 3);
}
END_TEST

START_TEST(values_that_come_first)
{
	const double bytes = 3;

	begin(RANGES_ONCE, "dram__bytes.sum");
	range_join(&c, 7, 50, &bytes);
	seen.use = 1;
	ck_assert_uint_eq(seen.n_told, 0);
	ck_assert(!record(7, 9, true));
	ck_assert_uint_eq(seen.n_told, 1);
	ck_assert_uint_eq(seen.at.use, 1);
	ck_assert_uint_eq(range_joins_n(), 1);
	ck_assert_uint_eq(range_joins_n_given_up(), 0);
}
END_TEST

/* Nowhere: as while the run is paused. */
START_TEST(values_without_a_place)
{
	const double bytes = 3;

	begin(RANGES_ONCE, "dram__bytes.sum");
	ck_assert(!record(7, 0, true));
	range_join(&c, 7, 50, &bytes);
	ck_assert_uint_eq(seen.n_told, 0);
}
END_TEST

/* A kernel that CUPTI ran again is delivered with the time that was counted, once. */
START_TEST(records_without_times)
{
	const double ns = 5;

	begin(RANGES_KERNELS, RANGES_DURATION);
	seen.use = 1;
	ck_assert(record(7, 9, false));
	ck_assert_uint_eq(seen.n_records, 0);
	range_join(&c, 7, 50, &ns);
	ck_assert_uint_eq(seen.n_records, 1);
	ck_assert_uint_eq(seen.time_ns, 5);
	ck_assert_uint_eq(seen.at.use, 1);
	ck_assert(record(8, 9, false));
	range_joins_end(&c);
	ck_assert_uint_eq(seen.n_records, 1);
	ck_assert_uint_eq(seen.n_lost, 1);
	ck_assert_uint_eq(seen.n_unlaunched, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("range_joins");
	TCase *t = tcase_create("joins");

	tcase_add_test(t, values_that_come_late);
	tcase_add_test(t, values_that_come_first);
	tcase_add_test(t, values_without_a_place);
	tcase_add_test(t, records_without_times);
	suite_add_tcase(s, t);
	return check_run(s);
}
