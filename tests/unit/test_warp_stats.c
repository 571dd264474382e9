/* SPDX-License-Identifier: MIT */
/* What single scopes of warps say together (intra/warp_stats.h): against sums that are made another way, and by hand. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check_main.h"
#include "intra/warp_stats.h"
#include "intra/warp_stats_impl.h"

#define NONE WARP_TRACE_NO_PARENT

static struct warp_trace t;
static struct warp_stats s;

static void setup(void)
{
	ck_assert_int_eq(warp_trace_init(&t), 0);
}

static void teardown(void)
{
	warp_stats_done(&s);
	warp_trace_done(&t);
}

static void add_launch(const char *kernel)
{
	ck_assert_int_eq(
		warp_trace_add_launch(
			&t, &(struct warp_trace_launch){.kernel = strtab_adds(t.names, kernel),
							.n_dropped = 2}),
		0);
}

/* A warp of a block with a loop, in which it waits. */
static void add_warp(uint64_t block, uint32_t sm, uint64_t start_ns, uint64_t loop, uint64_t wait)
{
	uint32_t names[] = {strtab_adds(t.names, "loop"), strtab_adds(t.names, "wait"),
			    strtab_adds(t.names, "k")};
	const struct warp_trace_scope scopes[] = {
		{.enter = 100, .leave = 100 + loop, .parent = NONE, .name = names[0]},
		{.enter = 110, .leave = 110 + wait, .parent = 0, .name = names[1]},
		{.enter = 120, .leave = 120, .parent = 0, .name = names[1], .is_open = true},
		{.enter = 130,
		 .parent = 0,
		 .name = names[2],
		 .event = WARP_EVENT_VALUE,
		 .value = (double)loop},
		{.enter = 140, .parent = 0, .name = names[2], .event = WARP_EVENT_MARK},
		{.enter = 150, .leave = 150 + wait, .parent = NONE, .name = names[1]},
	};

	ck_assert_int_eq(
		warp_trace_add_warp(&t,
				    &(struct warp_trace_warp){.block = block,
							      .multiprocessor = sm,
							      .entered_ns = start_ns,
							      .left_ns = start_ns + loop / 2,
							      .entered_clock = 100,
							      .left_clock = 100 + loop,
							      .n_lost = 1},
				    scopes, ARRAY_SIZE(scopes)),
		0);
}

static const struct warp_stat *stat_at(size_t i, const char *name, uint32_t parent,
				       enum warp_event event)
{
	const struct warp_stat *stat = &s.stats[i];

	ck_assert_uint_lt(i, s.n_stats);
	ck_assert_str_eq(strtab_str(t.names, stat->name), name);
	ck_assert_uint_eq(stat->parent, parent);
	ck_assert_int_eq(stat->event, event);
	return stat;
}

START_TEST(each_scope_stands_in_its_place)
{
	add_launch("small");
	add_warp(0, 0, 1000, 60, 5);
	add_launch("gemm");
	for (uint64_t i = 1; i <= 100; i++)
		add_warp(i, (uint32_t)i, 1000, 1000 * i, i);
	ck_assert_int_eq(warp_stats_init(&s, &t, 0, 2), 0);
	ck_assert_uint_eq(s.n_kernels, 2);
	/* The one that took more comes first, and its scopes as its tree has them. */
	ck_assert_str_eq(strtab_str(t.names, s.kernels[0].name), "gemm");
	ck_assert_uint_eq(s.kernels[0].stats, 0);
	ck_assert_uint_eq(s.kernels[0].n_stats, 5);
	const struct warp_stat *loop = stat_at(0, "loop", NONE, WARP_EVENT_SCOPE);
	const struct warp_stat *wait = stat_at(1, "wait", 0, WARP_EVENT_SCOPE);
	const struct warp_stat *value = stat_at(2, "k", 0, WARP_EVENT_VALUE);
	const struct warp_stat *mark = stat_at(3, "k", 0, WARP_EVENT_MARK);

	stat_at(4, "wait", NONE, WARP_EVENT_SCOPE);
	stat_at(5, "loop", NONE, WARP_EVENT_SCOPE);
	ck_assert_uint_eq(loop->n, 100);
	ck_assert_uint_eq(loop->n_warps, 100);
	ck_assert_uint_eq(loop->depth, 0);
	ck_assert_uint_eq(wait->depth, 1);
	ck_assert_double_eq(loop->cycles, 1000 * 5050);
	ck_assert_double_eq(loop->min, 1000);
	ck_assert_double_eq(loop->max, 100000);
	ck_assert_double_eq(loop->p50, 50000);
	ck_assert_double_eq(loop->p99, 99000);
	ck_assert_double_eq(loop->share, 1);
	ck_assert_uint_eq(wait->n, 100);
	ck_assert_uint_eq(wait->n_open, 100);
	ck_assert_double_eq(wait->cycles, 5050);
	ck_assert_double_eq(wait->share, 0.001);
	ck_assert_uint_eq(value->n, 100);
	ck_assert(isnan(value->cycles));
	ck_assert_double_eq(value->value, 1000 * 5050);
	ck_assert_double_eq(value->value_max, 100000);
	ck_assert_uint_eq(mark->n, 100);
	ck_assert(isnan(mark->value));
	ck_assert_double_eq(s.kernels[0].cycle_ns, 0.5);
	ck_assert_uint_eq(s.kernels[0].n_lost, 100);
	ck_assert_uint_eq(s.kernels[0].n_dropped, 2);
	ck_assert_uint_eq(s.kernels[0].n_warps, 100);
	ck_assert_uint_eq(s.kernels[0].launch, 1);
}
END_TEST

/* What it did before the first record that is there is not known: shares are of the rest. */
START_TEST(lost_records_are_not_outside)
{
	struct warp_trace_warp w = {.entered_clock = 1000, .left_clock = 2000, .n_lost = 7};
	struct warp_trace_scope scope = {.parent = NONE};

	add_launch("gemm");
	scope.name = strtab_adds(t.names, "late");
	scope.enter = 1800;
	scope.leave = 1900;
	ck_assert_int_eq(warp_trace_add_warp(&t, &w, &scope, 1), 0);
	ck_assert_int_eq(warp_trace_add_warp(&t, &w, NULL, 0), 0); /* all of it */
	w.n_lost = 0;
	ck_assert_int_eq(warp_trace_add_warp(&t, &w, &scope, 1), 0);
	ck_assert_int_eq(warp_stats_init(&s, &t, 0, 1), 0);
	ck_assert_double_eq(s.kernels[0].warp_cycles, 3000);
	ck_assert_double_eq(s.kernels[0].unknown_cycles, 800 + 1000);
	ck_assert_double_eq(s.stats[0].share, 200. / 1200);
}
END_TEST

START_TEST(one_launch_by_itself)
{
	for (uint64_t i = 0; i < 10; i++) {
		add_launch("gemm");
		add_warp(0, 0, 1000, 100 + i, i);
	}
	ck_assert_int_eq(warp_stats_init(&s, &t, 7, 1), 0);
	ck_assert_uint_eq(s.kernels[0].n_launches, 1);
	ck_assert_double_eq(s.stats[0].cycles, 107);
	ck_assert_uint_eq(s.kernels[0].launch, 7);
	warp_stats_done(&s);
	ck_assert_int_eq(warp_stats_init(&s, &t, 3, 0), 0);
	ck_assert_uint_eq(s.n_kernels, 0);
}
END_TEST

/* Warps of a block do not lie together. */
START_TEST(blocks_that_stand_out_are_named)
{
	add_launch("gemm");
	for (uint32_t warp = 0; warp < 4; warp++)
		for (uint64_t b = 0; b < 100; b++)
			add_warp(b, (uint32_t)b % 10, 1000, 1000 + b % 7, b == 42 ? 90 : 30);
	ck_assert_int_eq(warp_stats_init(&s, &t, 0, 1), 0);
	ck_assert_uint_eq(s.stats[0].n_outliers, 0);
	ck_assert_uint_eq(s.stats[1].n_outliers, 1);
	const struct warp_outlier *o = &s.outliers[s.stats[1].outliers];

	ck_assert_uint_eq(o->stat, 1);
	ck_assert_uint_eq(o->block, 42);
	ck_assert_uint_eq(o->multiprocessor, 2);
	ck_assert_double_eq(o->cycles, 90);
	ck_assert_double_eq(o->times, 3);
}
END_TEST

/* Two at once on three multiprocessors, eight blocks: the first two have three each. */
START_TEST(waves_and_tail)
{
	add_launch("gemm");
	for (uint64_t b = 0; b < 8; b++) {
		add_warp(b, b % 3, 1000 + b / 6 * 100, 200, 3); /* 100 ns each */
		add_warp(b, b % 3, 1000 + b / 6 * 100, 180, 3);
	}
	ck_assert_int_eq(warp_stats_init(&s, &t, 0, 1), 0);
	ck_assert_uint_eq(s.kernels[0].n_blocks, 8);
	ck_assert_uint_eq(s.kernels[0].n_multiprocessors, 3);
	ck_assert_double_eq(s.kernels[0].resident, 2);
	ck_assert_double_eq(s.kernels[0].waves, 1.5);
	ck_assert_double_eq(s.kernels[0].duration_ns, 200);
	ck_assert_double_eq(s.kernels[0].tail_ns, 100);
	ck_assert_double_eq_tol(s.kernels[0].tail_share, 100.0 / 600, 1e-12);
}
END_TEST

/* Of blocks that were not kept nobody knows when they ran: a launch that has all of its own is told of, however small. */
START_TEST(waves_are_not_of_launches_that_are_kept_in_part)
{
	for (uint64_t launch = 0; launch < 2; launch++) {
		add_launch("gemm");
		t.launches[launch].n_blocks = launch ? 3 : 1000;
		for (uint64_t b = 0; b < (launch ? 3 : 8); b++)
			add_warp(b, 0, 1000 + b * 100, 200, 3);
	}
	ck_assert_int_eq(warp_stats_init(&s, &t, 0, 1), 0);
	ck_assert(s.kernels[0].is_partial);
	ck_assert_uint_eq(s.kernels[0].n_blocks, 8);
	ck_assert_uint_eq(s.kernels[0].n_multiprocessors, 1);
	ck_assert(isnan(s.kernels[0].waves) && isnan(s.kernels[0].tail_ns));
	ck_assert(isnan(s.kernels[0].duration_ns) && isnan(s.kernels[0].resident));
	warp_stats_done(&s);
	ck_assert_int_eq(warp_stats_init(&s, &t, 0, 2), 0);
	ck_assert(!s.kernels[0].is_partial);
	ck_assert_uint_eq(s.kernels[0].launch, 1);
	ck_assert_uint_eq(s.kernels[0].n_blocks, 11);
	ck_assert_double_eq(s.kernels[0].waves, 3);
}
END_TEST

START_TEST(clocks_that_nobody_read)
{
	const struct warp_trace_scope scope = {.enter = 5, .leave = 25, .parent = NONE};

	add_launch("gemm");
	warp_trace_add_warp(&t, &(struct warp_trace_warp){.block = 0}, &scope, 1);
	ck_assert_int_eq(warp_stats_init(&s, &t, 0, 1), 0);
	ck_assert_double_eq(s.kernels[0].warp_cycles, 20);
	ck_assert_double_eq(s.stats[0].share, 1);
	ck_assert(isnan(s.kernels[0].cycle_ns));
	ck_assert(isnan(s.kernels[0].waves));
	ck_assert(isnan(s.kernels[0].tail_share));
}
END_TEST

static int compare(const void *x, const void *y)
{
	return COMPARE(*(const double *)x, *(const double *)y);
}

START_TEST(the_nth_of_many)
{
	double v[200], sorted[200];
	unsigned seed = 7;

	for (int turn = 0; turn < 2000; turn++) {
		size_t n = 1 + (size_t)rand_r(&seed) % ARRAY_SIZE(v), k = (size_t)rand_r(&seed) % n;
		int most = 1 + rand_r(&seed) % 300;

		for (size_t i = 0; i < n; i++)
			v[i] = sorted[i] = rand_r(&seed) % most;
		qsort(sorted, n, sizeof(*sorted), compare);
		ck_assert_double_eq(warp_stats_nth(v, n, k), sorted[k]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("warp_stats");
	TCase *tc = tcase_create("warp_stats");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_scope_stands_in_its_place);
	tcase_add_test(tc, lost_records_are_not_outside);
	tcase_add_test(tc, one_launch_by_itself);
	tcase_add_test(tc, blocks_that_stand_out_are_named);
	tcase_add_test(tc, waves_and_tail);
	tcase_add_test(tc, waves_are_not_of_launches_that_are_kept_in_part);
	tcase_add_test(tc, clocks_that_nobody_read);
	tcase_add_test(tc, the_nth_of_many);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
