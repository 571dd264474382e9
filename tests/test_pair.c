/* SPDX-License-Identifier: MIT */
/* Tests of core/pair: the same ids on both sides, the values of each. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/pair.h"

/* root / step / NAME, each with a time; the kind of a leaf is a guess of its file. */
static struct session *run(enum frame_kind kind, const char *const *names, const uint64_t *times,
			   unsigned n)
{
	static const struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	struct session *s = session_new();
	uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step"), lane, frame, node;

	lane = session_lane_intern(s, &nowhere);
	for (unsigned i = 0; i < n; i++) {
		frame = session_frame_intern(s, kind, strtab_adds(s->strings, names[i]), SESSION_NONE, 0);
		node = session_node_append(s, step, frame);
		session_add(s, node, lane, 0, METRIC_TIME, (union metric_value){.u64 = times[i]});
	}
	return s;
}

static double time_of(const struct session *s, uint32_t node)
{
	union metric_value v;

	return session_value(s, node, METRIC_TIME, &v) ? (double)v.u64 : NAN;
}

static struct session *sides[PAIR_N];

static void setup(void)
{
	static const char *const before[] = {"gemm", "old"}, *const after[] = {"new", "gemm", "gemm"};
	static const uint64_t before_ns[] = {100, 7}, after_ns[] = {3, 60, 50};
	struct session *a = run(FRAME_KERNEL, before, before_ns, 2);
	struct session *b = run(FRAME_FUNCTION, after, after_ns, 3);

	ck_assert_int_eq(pair_make(a, b, sides), 0);
	session_free(a);
	session_free(b);
}

static void teardown(void)
{
	session_free(sides[PAIR_BEFORE]);
	session_free(sides[PAIR_AFTER]);
}

START_TEST(both_have_one_tree)
{
	static const char *const names[] = {"ROOT", "step", "gemm", "old", "new"};

	for (unsigned side = 0; side < PAIR_N; side++) {
		ck_assert_uint_eq(sides[side]->n_nodes, 5);
		for (uint32_t i = 1; i < 5; i++) {
			ck_assert_str_eq(session_node_name(sides[side], i), names[i]);
			ck_assert_uint_eq(sides[side]->nodes[i].parent, i > 1);
		}
	}
}
END_TEST

START_TEST(each_has_its_values)
{
	ck_assert_double_eq(time_of(sides[PAIR_BEFORE], 2), 100);
	ck_assert_double_eq(time_of(sides[PAIR_AFTER], 2), 110); /* twice there: one path */
	ck_assert_double_eq(time_of(sides[PAIR_BEFORE], 3), 7);
	ck_assert_double_nan(time_of(sides[PAIR_AFTER], 3));
	ck_assert_double_nan(time_of(sides[PAIR_BEFORE], 4));
	ck_assert_double_eq(time_of(sides[PAIR_AFTER], 4), 3);
}
END_TEST

START_TEST(presence_reaches_up)
{
	static const uint8_t wanted[PAIR_N][5] = {{1, 1, 1, 1, 0}, {1, 1, 1, 0, 1}};

	for (unsigned side = 0; side < PAIR_N; side++) {
		uint8_t *present = pair_present(sides[side]);

		ck_assert_mem_eq(present, wanted[side], 5);
		free(present);
	}
}
END_TEST

START_TEST(absent_counts_as_nothing)
{
	ck_assert_double_eq(pair_delta(3, 5), 2);
	ck_assert_double_eq(pair_delta(3, NAN), -3);
	ck_assert_double_eq(pair_delta(NAN, 5), 5);
	ck_assert_double_nan(pair_delta(NAN, NAN));
}
END_TEST

START_TEST(empty_profiles_pair)
{
	struct session *a = session_new(), *b = session_new(), *both[PAIR_N];

	ck_assert_int_eq(pair_make(a, b, both), 0);
	ck_assert_uint_eq(both[PAIR_AFTER]->n_nodes, 1);
	session_free(both[PAIR_BEFORE]);
	session_free(both[PAIR_AFTER]);
	session_free(a);
	session_free(b);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pair");
	TCase *tc = tcase_create("pair");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, both_have_one_tree);
	tcase_add_test(tc, each_has_its_values);
	tcase_add_test(tc, presence_reaches_up);
	tcase_add_test(tc, absent_counts_as_nothing);
	tcase_add_test(tc, empty_profiles_pair);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
