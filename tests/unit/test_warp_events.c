/* SPDX-License-Identifier: MIT */
/* Events within kernels (intra/warp_events.h), and what warps record in a moment or add up by themselves, as sums below a kernel
 * (intra/scope_sums.h). */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <stdlib.h>

#include "base/util.h"
#include "check_main.h"
#include "intra/warp_events.h"

#define NONE UINT32_MAX
#define B    WARP_POINT_BEGIN
#define E    WARP_POINT_END

static struct scope_sums sums;
static struct warp_events events;

static void begin(void)
{
	events = (struct warp_events){.n = 0};
	ck_assert_int_eq(scope_sums_init(&sums), 0);
}

static void end(void)
{
	warp_events_done(&events);
	scope_sums_done(&sums);
}

static struct warp_point point(enum warp_point_kind kind, uint32_t scope, uint64_t at)
{
	return (struct warp_point){.kind = kind, .scope = scope, .at = at, .parent = NONE};
}

static void add(uint64_t block, uint32_t multiprocessor, struct warp_point *points, size_t n)
{
	const struct warp_slice slice = {.block = block, .multiprocessor = multiprocessor};
	const struct warp_contents warp = {.points = points, .n_points = n};

	ck_assert_int_eq(warp_events_add(&events, &slice, &warp), 0);
}

static const struct scope_sum *find(uint32_t parent, uint32_t scope)
{
	for (size_t i = 1; i < sums.n; i++)
		if (sums.items[i].parent == parent && sums.items[i].scope == scope)
			return &sums.items[i];
	return NULL;
}

static void check_times(uint32_t parent, uint32_t scope, uint64_t n, uint64_t cycles, uint64_t min,
			uint64_t max)
{
	const struct scope_sum *s = find(parent, scope);

	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->n, n);
	ck_assert_uint_eq(s->cycles, cycles);
	ck_assert_uint_eq(s->cycles_min, min);
	ck_assert_uint_eq(s->cycles_max, max);
}

/* One warp begins them, another ends them, and its slice is read first. */
START_TEST(events_end_in_another_warp)
{
	struct warp_point ends[] = {point(E, 1000, 50), point(E, 1000, 90)};
	struct warp_point begins[] = {point(B, 1000, 10), point(B, 1000, 20)};

	begin();
	add(7, 3, ends, 2);
	ck_assert_int_eq(warp_events_join(&events, &sums), 1);
	ck_assert_uint_eq(warp_events_left(&events), 2);
	add(7, 3, begins, 2);
	ck_assert_int_eq(warp_events_join(&events, &sums), 0);
	check_times(SCOPE_SUMS_KERNEL, 1000, 2, 110, 40, 70);
	end();
}
END_TEST

/* The same block number on another multiprocessor is of another launch of the graph; another block has its own, too, and so has
 * another number of an event, or name. */
START_TEST(events_are_of_their_block)
{
	struct warp_point first[] = {point(B, 1000, 10), point(E, 1001, 30)};
	struct warp_point second[] = {point(E, 1000, 5000), point(B, 1001, 4000)};
	struct warp_point third[] = {point(B, 1000, 20), point(E, 1000, 25)};

	begin();
	add(7, 3, first, 2);
	add(7, 4, second, 2);
	add(8, 3, &second[1], 1);
	third[1].event = 1;
	add(9, 3, third, 2);
	ck_assert_int_eq(warp_events_join(&events, &sums), 1);
	ck_assert_uint_eq(sums.n, 1);
	ck_assert_uint_eq(warp_events_left(&events), 7);
	third[0].event = 1;
	add(9, 3, third, 1);
	ck_assert_int_eq(warp_events_join(&events, &sums), 1);
	check_times(SCOPE_SUMS_KERNEL, 1000, 1, 5, 5, 5);
	ck_assert_uint_eq(warp_events_left(&events), 6);
	end();
}
END_TEST

/* Stages of a pipeline: as many under way at a time as there are, in their order; what ends without having begun is left. */
START_TEST(events_end_in_their_order)
{
	struct warp_point points[] = {point(E, 1000, 5),  point(B, 1000, 10), point(B, 1000, 11),
				      point(E, 1000, 20), point(B, 1000, 20), point(E, 1000, 31),
				      point(E, 1000, 40), point(E, 1000, 50), point(B, 1000, 60)};

	begin();
	add(0, 0, points, ARRAY_SIZE(points));
	ck_assert_int_eq(warp_events_join(&events, &sums), 1);
	check_times(SCOPE_SUMS_KERNEL, 1000, 3, 10 + 20 + 20, 10, 20);
	ck_assert_uint_eq(warp_events_left(&events), 3);
	end();
}
END_TEST

/* Of warps that added up ends less beginnings: a time once there are as many of both. */
START_TEST(events_that_warps_added_up)
{
	struct warp_sum produces = {.parent = NONE,
				    .scope = 1000,
				    .kind = WARP_SUM_EVENT,
				    .n_begun = 2,
				    .cycles = -UINT64_C(300)};
	struct warp_sum consumes = {
		.parent = NONE, .scope = 1000, .kind = WARP_SUM_EVENT, .n = 2, .cycles = 350};
	const struct warp_slice slice = {.block = 1};
	struct warp_contents warp = {.sums = &produces, .n_sums = 1};

	begin();
	ck_assert_int_eq(scope_sums_add_warp(&sums, &warp), 0);
	ck_assert_int_eq(warp_events_add(&events, &slice, &warp), 0);
	ck_assert_int_eq(warp_events_join(&events, &sums), 1);
	ck_assert_uint_eq(warp_events_left(&events), 2);
	warp.sums = &consumes;
	ck_assert_int_eq(warp_events_add(&events, &slice, &warp), 0);
	ck_assert_int_eq(warp_events_join(&events, &sums), 0);
	ck_assert_uint_eq(sums.n, 2);
	ck_assert_uint_eq(sums.items[1].n_untimed, 2);
	ck_assert_uint_eq(sums.items[1].cycles_untimed, 50);
	ck_assert_uint_eq(sums.items[1].n, 0);
	end();
}
END_TEST

/* Marks and values are below the scope that they are within, and are no times. */
START_TEST(moments_are_below_scopes)
{
	struct warp_scope scopes[] = {{.enter = 10, .leave = 90, .parent = NONE, .scope = 2000},
				      {.enter = 20, .leave = 30, .parent = 0, .scope = 2001}};
	struct warp_point points[] = {point(WARP_POINT_MARK, 3000, 5),
				      point(WARP_POINT_MARK, 3000, 25),
				      point(WARP_POINT_VALUE, 3001, 26),
				      point(WARP_POINT_VALUE, 3001, 27), point(B, 3002, 28)};
	const struct warp_contents warp = {
		.scopes = scopes, .n_scopes = 2, .points = points, .n_points = ARRAY_SIZE(points)};

	points[1].parent = points[2].parent = points[3].parent = 1;
	points[2].value = -4;
	points[3].value = 1;
	begin();
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(scope_sums_add_warp(&sums, &warp), 0);
	ck_assert_uint_eq(sums.n, 6);
	check_times(SCOPE_SUMS_KERNEL, 2000, 2, 160, 80, 80);
	check_times(1, 2001, 2, 20, 10, 10);
	ck_assert_uint_eq(find(SCOPE_SUMS_KERNEL, 3000)->n_marks, 2);
	ck_assert_uint_eq(find(2, 3000)->n_marks, 2);
	ck_assert_uint_eq(find(2, 3000)->n, 0);
	ck_assert_uint_eq(find(2, 3001)->n_values, 4);
	ck_assert_double_eq(find(2, 3001)->value, -6);
	ck_assert_double_eq(find(2, 3001)->value_min, -4);
	ck_assert_double_eq(find(2, 3001)->value_max, 1);
	end();
}
END_TEST

/* The same of a warp that added it up by itself; what was not there at all is no row. */
START_TEST(sums_are_as_records)
{
	struct warp_sum of[] = {{.parent = NONE,
				 .scope = 2000,
				 .kind = WARP_SUM_SCOPE,
				 .n = 2,
				 .cycles = 160,
				 .cycles_min = 70,
				 .cycles_max = 90},
				{.parent = 0, .scope = 3000, .kind = WARP_SUM_MARK, .n = 4},
				{.parent = 0,
				 .scope = 3001,
				 .kind = WARP_SUM_VALUE,
				 .n = 2,
				 .value = -3,
				 .value_min = -4,
				 .value_max = 1},
				{.parent = 0, .scope = 3003, .kind = WARP_SUM_VALUE}};
	const struct warp_contents warp = {.sums = of, .n_sums = ARRAY_SIZE(of)};

	begin();
	ck_assert_int_eq(scope_sums_add_warp(&sums, &warp), 0);
	check_times(SCOPE_SUMS_KERNEL, 2000, 2, 160, 70, 90);
	ck_assert_uint_eq(find(1, 3000)->n_marks, 4);
	ck_assert_double_eq(find(1, 3001)->value, -3);
	ck_assert_double_eq(find(1, 3001)->value_min, -4);
	ck_assert_double_eq(find(1, 3001)->value_max, 1);
	ck_assert_uint_eq(find(1, 3003)->n_values, 0);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("warp_events");
	TCase *c = tcase_create("warp_events");

	tcase_add_test(c, events_end_in_another_warp);
	tcase_add_test(c, events_are_of_their_block);
	tcase_add_test(c, events_end_in_their_order);
	tcase_add_test(c, events_that_warps_added_up);
	tcase_add_test(c, moments_are_below_scopes);
	tcase_add_test(c, sums_are_as_records);
	suite_add_tcase(s, c);
	return check_run(s);
}
