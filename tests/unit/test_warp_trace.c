/* SPDX-License-Identifier: MIT */
/* Single scopes of single warps in memory (intra/warp_trace.h): who belongs to whom, what is refused, times of cycles. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "check_main.h"
#include "intra/warp_trace.h"

#define NONE  WARP_TRACE_NO_PARENT
#define EPOCH UINT64_C(1764201600000000001) /* ns; a double has no such one */

static struct warp_trace t;

static void setup(void)
{
	ck_assert_int_eq(warp_trace_init(&t), 0);
}

static void teardown(void)
{
	warp_trace_done(&t);
}

START_TEST(warps_are_of_the_latest_launch)
{
	uint32_t load = strtab_adds(t.names, "load");
	const struct warp_trace_scope scopes[] = {
		{.enter = 10, .leave = 30, .parent = NONE, .name = load},
		{.enter = 12, .leave = 20, .parent = 0, .name = load},
	};

	for (uint32_t i = 0; i < 100; i++) {
		ck_assert_int_eq(
			warp_trace_add_launch(&t, &(struct warp_trace_launch){.launch = i}), 0);
		for (uint32_t w = 0; w < i; w++)
			ck_assert_int_eq(warp_trace_add_warp(&t,
							     &(struct warp_trace_warp){.warp = w},
							     scopes, w % 3),
					 0);
	}
	ck_assert_uint_eq(t.n_launches, 100);
	ck_assert_uint_eq(t.n_warps, 99 * 100 / 2);
	for (size_t i = 0; i < t.n_launches; i++) {
		ck_assert_uint_eq(t.launches[i].n_warps, i);
		for (size_t w = 0; w < i; w++) {
			const struct warp_trace_warp *warp = &t.warps[t.launches[i].warps + w];

			ck_assert_uint_eq(warp->launch, i);
			ck_assert_uint_eq(warp->warp, w);
			ck_assert_uint_eq(warp->n_scopes, w % 3);
			if (warp->n_scopes > 1)
				ck_assert_uint_eq(t.scopes[warp->scopes + 1].enter, 12);
		}
	}
}
END_TEST

START_TEST(what_does_not_fit_together_is_refused)
{
	const struct warp_trace_warp warp = {.warp = 1};
	const struct warp_trace_scope own = {.parent = 0}, nameless = {.parent = NONE, .name = 77},
				      sound = {.parent = NONE};

	ck_assert_int_eq(warp_trace_add_warp(&t, &warp, &sound, 1), -EINVAL);
	ck_assert_int_eq(warp_trace_add_launch(&t, &(struct warp_trace_launch){.launch = 1}), 0);
	ck_assert_int_eq(warp_trace_add_warp(&t, &warp, &own, 1), -EINVAL);
	ck_assert_int_eq(warp_trace_add_warp(&t, &warp, &nameless, 1), -EINVAL);
	ck_assert_uint_eq(t.n_warps, 0);
	ck_assert_int_eq(warp_trace_add_warp(&t, &warp, &sound, 1), 0);
	ck_assert_int_eq(warp_trace_add_warp(&t, &warp, NULL, 0), 0);
	ck_assert_uint_eq(t.launches[0].n_warps, 2);
}
END_TEST

START_TEST(cycles_have_times)
{
	const struct warp_trace_scope scope = {.enter = 5, .leave = 6, .parent = NONE};
	struct warp_trace_warp w = {.entered_ns = EPOCH,
				    .left_ns = EPOCH + 500,
				    .entered_clock = 1000,
				    .left_clock = 2000};

	ck_assert_double_eq(warp_trace_cycle_ns(&w), 0.5);
	ck_assert_double_eq(warp_trace_ns(&w, 1002, 0.5, EPOCH - 7), 8);
	ck_assert_double_eq(warp_trace_ns(&w, 998, 0.5, EPOCH), -1);
	ck_assert_uint_eq(warp_trace_first_cycle(&t, &w), 1000);
	w.left_clock = 1000;
	ck_assert_double_eq(warp_trace_cycle_ns(&w), 0);

	ck_assert_int_eq(warp_trace_add_launch(&t, &(struct warp_trace_launch){.launch = 1}), 0);
	ck_assert_int_eq(warp_trace_add_warp(&t, &(struct warp_trace_warp){.warp = 0}, &scope, 1),
			 0);
	ck_assert_uint_eq(warp_trace_first_cycle(&t, &t.warps[0]), 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("warp_trace");
	TCase *tc = tcase_create("warp_trace");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, warps_are_of_the_latest_launch);
	tcase_add_test(tc, what_does_not_fit_together_is_refused);
	tcase_add_test(tc, cycles_have_times);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
