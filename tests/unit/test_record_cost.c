/* SPDX-License-Identifier: MIT */
/* What records cost is taken out of times (intra/record_cost.h). */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <stdlib.h>

#include "base/util.h"
#include "check_main.h"
#include "intra/record_cost.h"

static const struct record_cost cost = {.read = 3, .record = 7};

/* Of an outer scope with a mark and two inner ones, one of two records: as if none had cost anything. */
START_TEST(all_that_is_within_is_taken_out)
{
	struct warp_scope scopes[] = {
		{.enter = 100, .leave = 200, .parent = UINT32_MAX, .is_whole = true},
		{.enter = 110, .leave = 120, .parent = 0, .is_whole = true},
		{.enter = 150, .leave = 170, .parent = 0},
		{.enter = 300, .leave = UINT64_MAX, .parent = UINT32_MAX, .is_open = true}};
	struct warp_point points[] = {{.at = 130}, {.at = 400}};
	struct warp_contents warp = {.scopes = scopes,
				     .points = points,
				     .n_scopes = ARRAY_SIZE(scopes),
				     .n_points = ARRAY_SIZE(points)};

	ck_assert_int_eq(record_cost_take(&cost, &warp), 0);
	ck_assert_uint_eq(scopes[0].leave - scopes[0].enter, 100 - (3 + 3 + 7 + 7 + 7 + 7));
	ck_assert_uint_eq(scopes[1].leave - scopes[1].enter, 10 - 3);
	ck_assert_uint_eq(scopes[2].leave - scopes[2].enter, 20 - 7);
	ck_assert_uint_eq(scopes[0].enter, 100);
	ck_assert_uint_eq(points[0].at, 130 - 13);
	ck_assert_uint_eq(points[1].at, 400 - 48);
	ck_assert(scopes[3].is_open && scopes[3].leave == UINT64_MAX);
}
END_TEST

/* On another day they cost less: nothing lasts less than 0. */
START_TEST(nothing_ends_before_it_begins)
{
	struct warp_scope scopes[] = {{.enter = 100, .leave = 102, .parent = UINT32_MAX},
				      {.enter = 102, .leave = 103, .parent = UINT32_MAX}};
	struct warp_contents warp = {.scopes = scopes, .n_scopes = 2};

	ck_assert_int_eq(record_cost_take(&cost, &warp), 0);
	for (size_t i = 0; i < 2; i++)
		ck_assert_uint_eq(scopes[i].leave, scopes[i].enter);
	warp = (struct warp_contents){.n_scopes = 0};
	ck_assert_int_eq(record_cost_take(&cost, &warp), 0);
}
END_TEST

START_TEST(only_what_was_measured_is_known)
{
	struct record_cost of;

	ck_assert(record_cost_of(90, &of));
	ck_assert_uint_gt(of.read, 0);
	ck_assert_uint_gt(of.record, of.read);
	ck_assert(!record_cost_of(10, &of));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("record_cost");
	TCase *c = tcase_create("record_cost");

	tcase_add_test(c, all_that_is_within_is_taken_out);
	tcase_add_test(c, nothing_ends_before_it_begins);
	tcase_add_test(c, only_what_was_measured_is_known);
	suite_add_tcase(s, c);
	return check_run(s);
}
