/* SPDX-License-Identifier: MIT */
/* Tests of core/pair: the same ids on both sides, the values of each. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
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
		frame = session_frame_intern(s, kind, strtab_adds(s->strings, names[i]),
					     SESSION_NONE, 0);
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
	static const char *const before[] = {"gemm", "old"}, *const after[] = {"new", "gemm",
									       "gemm"};
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

/* Two ranks in this order, of other processes, threads and devices than another run's. */
static struct session *ranks(int32_t first, uint64_t id, const char *device,
			     const uint64_t times[2])
{
	struct session *s = session_new();
	struct session_device d = {.type = strtab_adds(s->strings, "CUDA"),
				   .name = strtab_adds(s->strings, device)};
	uint32_t gpu = session_device_intern(s, &d), node;

	node = session_node(s, SESSION_ROOT, FRAME_KERNEL, "gemm");
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t process = session_process_add(s, id + i);
		struct session_lane lane = {process, gpu, 1, 7 + i, id * 10 + i};

		s->processes[process].pid = (uint32_t)(id + i);
		s->processes[process].rank = first < 0 ? -1 : i ? 1 - first : first;
		session_add(s, node, session_lane_intern(s, &lane), 0, METRIC_TIME,
			    (union metric_value){.u64 = times[i]});
	}
	return s;
}

/* The time of the gemm below a group of this name; -1: there is no such group. */
static double time_in(const struct session *s, const char *group)
{
	for (uint32_t i = 1; i < s->n_nodes; i++)
		if (!strcmp(session_node_name(s, s->nodes[i].parent), group) &&
		    !strcmp(session_node_name(s, i), "gemm"))
			return time_of(s, i);
	return -1;
}

static const struct {
	enum group group;
	const char *name;
	double before, after;
} groups[] = {
	{GROUP_PROCESS, "rank 0", 10, 50}, /* the second of the second run */
	{GROUP_PROCESS, "rank 1", 20, 40},
	{GROUP_DEVICE, "GPU0", 30, 90}, /* whatever it is called */
	{GROUP_STREAM, "rank 0 GPU0 stream 7", 10, -1},
	{GROUP_STREAM, "rank 0 GPU0 stream 8", -1, 50},
	{GROUP_THREAD, "rank 1 thread 1", 20, 40},
};

START_TEST(groups_match)
{
	static const uint64_t before_ns[] = {10, 20}, after_ns[] = {40, 50};
	struct session *a = ranks(0, 1000, "H200", before_ns),
		       *b = ranks(1, 2000, "A100", after_ns);
	struct session *grouped[PAIR_N];
	double before, after;

	ck_assert_int_eq(pair_make_grouped(a, b, groups[_i].group, grouped), 0);
	before = time_in(grouped[PAIR_BEFORE], groups[_i].name);
	after = time_in(grouped[PAIR_AFTER], groups[_i].name);
	ck_assert_uint_eq(grouped[PAIR_BEFORE]->n_nodes, grouped[PAIR_AFTER]->n_nodes);
	ck_assert_double_eq(isnan(before) ? -1 : before, groups[_i].before);
	ck_assert_double_eq(isnan(after) ? -1 : after, groups[_i].after);
	session_free(grouped[PAIR_BEFORE]);
	session_free(grouped[PAIR_AFTER]);
	session_free(a);
	session_free(b);
}
END_TEST

/* Processes without a rank are known by their number, as the one of a file that does not say. */
START_TEST(groups_without_ranks)
{
	static const uint64_t before_ns[] = {10, 20};
	static const char *const names[] = {"gemm"};
	static const uint64_t after_ns[] = {7};
	struct session *a = ranks(-1, 1000, "H200", before_ns), *grouped[PAIR_N];
	struct session *b = run(FRAME_KERNEL, names, after_ns, 1);

	ck_assert_int_eq(pair_make_grouped(a, b, GROUP_PROCESS, grouped), 0);
	ck_assert_double_eq(time_in(grouped[PAIR_BEFORE], "process 1"), 10);
	ck_assert_double_eq(time_in(grouped[PAIR_BEFORE], "process 2"), 20);
	ck_assert_double_eq(time_in(grouped[PAIR_AFTER], "step"), 7);
	ck_assert_str_eq(session_node_name(grouped[PAIR_AFTER], 1), "process 1");
	session_free(grouped[PAIR_BEFORE]);
	session_free(grouped[PAIR_AFTER]);
	session_free(a);
	session_free(b);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pair");
	TCase *tc = tcase_create("pair");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, both_have_one_tree);
	tcase_add_test(tc, each_has_its_values);
	tcase_add_test(tc, presence_reaches_up);
	tcase_add_loop_test(tc, groups_match, 0, ARRAY_SIZE(groups));
	tcase_add_test(tc, groups_without_ranks);
	tcase_add_test(tc, absent_counts_as_nothing);
	tcase_add_test(tc, empty_profiles_pair);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
