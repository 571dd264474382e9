/* SPDX-License-Identifier: MIT */
/* Tests of filters: which nodes stay, by the names of the leaves. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check_main.h"
#include "core/column.h"
#include "core/filter.h"
#include "core/flat.h"
#include "core/name_pattern.h"

/* ROOT -> a -> (foo, foobar), ROOT -> b.py:1@f -> foo */
static struct session *tree(void)
{
	struct session *s = session_new();
	uint32_t a = session_node(s, SESSION_ROOT, FRAME_SCOPE, "a");
	uint32_t b = session_node(s, SESSION_ROOT, FRAME_SCOPE, "b.py:1@f");

	session_node(s, a, FRAME_KERNEL, "foo");
	session_node(s, a, FRAME_KERNEL, "foobar");
	session_node(s, b, FRAME_KERNEL, "foo");
	s->ended = true;
	return s;
}

/* What is shown, one digit a node: ROOT, a, b, a/foo, a/foobar, b/foo. */
/* clang-format off */
static const struct {
	const char *include, *exclude, *shown;
} cases[] = {
	{NULL, NULL, "111111"},   {"foo", NULL, "111111"},     {"bar", NULL, "000000"},
	{".*bar", NULL, "110010"}, {"foo$", NULL, "111101"},    {"a", NULL, "110110"},
	{NULL, "a", "101001"},    {NULL, ".*bar", "111101"},   {"foo", "b", "110110"},
	{"a|.*bar", NULL, "110110"}, {"b\\.py:\\d+@\\w", NULL, "101001"}, {"ROOT", NULL, "111111"},
	{"[\\w.]+:1", NULL, "101001"}, {"fo+?b", NULL, "110010"}, {"(?:foo)bar", NULL, "110010"},
	{"(?i)FOOB", NULL, "110010"},
	{"(fo{1,50}b+a{1,2}r?)+", NULL, "110010"}, {NULL, "ROOT", "000000"},
};
/* clang-format on */

START_TEST(shows_what_it_should)
{
	static const struct snapshot_spec spec;
	struct session *s = tree();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct selector *include = NULL, *exclude = NULL;
	struct selector_error error;
	uint8_t *mask;

	if (cases[_i].include)
		ck_assert_msg(selector_new(cases[_i].include, &include, &error) == 0, "%s",
			      error.why);
	if (cases[_i].exclude)
		ck_assert_int_eq(selector_new(cases[_i].exclude, &exclude, &error), 0);
	ck_assert_int_eq(filter_make(&(struct filter){include, exclude, NULL}, snap, &mask), 0);
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_msg(mask[i] == cases[_i].shown[i] - '0', "case %d, node %u", _i, i);
	free(mask);
	selector_free(include);
	selector_free(exclude);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(keeps_what_is_above_enough)
{
	static const struct snapshot_spec spec;
	static const double values[] = {5, 1, 2, 9, 3, 4};
	struct session *s = tree();
	struct snapshot *snap = snapshot_new(s, &spec);
	uint8_t *mask = filter_all(snap);

	filter_at_least(mask, snap, values, 4);
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_int_eq(mask[i], "111101"[i] - '0');
	free(mask);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* Memory, and what is there for it alone, has no numbers in the tree; nothing at all stays. */
START_TEST(memory_alone_is_left_out)
{
	static const struct snapshot_spec spec;
	struct session *s = tree();
	uint32_t lane = session_lane_intern(
		s, &(struct session_lane){.process = SESSION_NONE, .device = SESSION_NONE});
	uint32_t outer = session_node(s, SESSION_ROOT, FRAME_SCOPE, "outer");
	uint32_t empty = session_node(s, outer, FRAME_SCOPE, "empty_strided");
	uint32_t alone = session_node(s, empty, FRAME_ALLOC, "alloc device");
	uint32_t beside = session_node(s, 1, FRAME_ALLOC, "alloc device");
	struct snapshot *snap;
	uint8_t *mask;

	s->ended = false;
	snap = snapshot_new(s, &spec);
	mask = filter_all(snap);
	ck_assert_int_eq(filter_out_unasked(mask, snap, 0), 0);
	ck_assert_uint_eq(mask[alone], 1); /* nobody measured any */
	session_add(s, 3, lane, 0, METRIC_TIME, (union metric_value){.u64 = 10});
	session_add(s, alone, lane, 0, METRIC_MEM_LIVE, (union metric_value){.u64 = 10});
	session_add(s, beside, lane, 0, METRIC_MEM_LIVE, (union metric_value){.u64 = 10});
	snapshot_update(snap, 1);
	ck_assert_int_eq(filter_out_unasked(mask, snap, 0), 0);
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_uint_eq(mask[i], 1);
	ck_assert_uint_eq(mask[outer] + mask[empty] + mask[alone] + mask[beside], 0);
	free(mask);
	mask = filter_all(snap);
	ck_assert_int_eq(filter_out_unasked(mask, snap, ROWS_OF_MEMORY), 0);
	ck_assert_uint_eq(mask[outer] + mask[empty] + mask[alone] + mask[beside], 4);
	free(mask);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* A form of graphs that were captured in one place: kernels of it are in the contexts that launched them. */
START_TEST(forms_are_left_out_but_above_kernels)
{
	static const struct snapshot_spec spec;
	struct session *s = tree();
	uint32_t lane = session_lane_intern(
		s, &(struct session_lane){.process = SESSION_NONE, .device = SESSION_NONE});
	uint32_t told = session_node(s, 1, FRAME_GRAPH, "<form 2>");
	uint32_t above = session_node(s, 2, FRAME_GRAPH, "<form 2>");
	uint32_t kernel = session_node(s, above, FRAME_KERNEL, "gemm");
	struct snapshot *snap;
	uint8_t *mask;

	session_add(s, told, lane, 0, METRIC_GRAPH_LAUNCHES, (union metric_value){.u64 = 10});
	session_add(s, told, lane, 0, METRIC_GRAPH_FORM, (union metric_value){.u64 = 7});
	session_add(s, kernel, lane, 0, METRIC_TIME, (union metric_value){.u64 = 10});
	snap = snapshot_new(s, &spec);
	mask = filter_all(snap);
	ck_assert_int_eq(filter_out_unasked(mask, snap, ROWS_OF_FORMS), 0);
	ck_assert_uint_eq(mask[told], 1);
	ck_assert_int_eq(filter_out_unasked(mask, snap, 0), 0);
	ck_assert_uint_eq(mask[told], 0);
	ck_assert_uint_eq(mask[above] + mask[kernel] + mask[2], 3);
	free(mask);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* Calls of the GPU's library have numbers in columns about these alone. */
START_TEST(calls_are_left_out_where_nothing_asks_for_them)
{
	static const struct snapshot_spec spec;
	struct session *s = tree();
	uint32_t lane = session_lane_intern(
		s, &(struct session_lane){.process = SESSION_NONE, .device = SESSION_NONE});
	uint32_t call = session_node(s, 1, FRAME_CALL, "cudaMalloc");
	uint32_t memory = session_node(s, 1, FRAME_ALLOC, "alloc device");
	struct snapshot *snap;
	uint8_t *mask;

	session_add(s, 3, lane, 0, METRIC_TIME, (union metric_value){.u64 = 10});
	session_add(s, call, lane, 0, METRIC_API_TIME, (union metric_value){.u64 = 10});
	session_add(s, memory, lane, 0, METRIC_MEM_LIVE, (union metric_value){.u64 = 10});
	snap = snapshot_new(s, &spec);
	mask = filter_all(snap);
	ck_assert(filter_has_unasked(snap, ROWS_OF_MEMORY));
	ck_assert(!filter_has_unasked(snap, ROWS_OF_THEIR_OWN));
	ck_assert_int_eq(filter_out_unasked(mask, snap, ROWS_OF_CALLS), 0);
	ck_assert_uint_eq(mask[call], 1);
	ck_assert_uint_eq(mask[memory], 0);
	ck_assert_int_eq(filter_out_unasked(mask, snap, 0), 0);
	ck_assert_uint_eq(mask[call], 0);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_uint_eq(mask[i], 1);
	free(mask);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* What a mask takes out of a snapshot does not count, in columns and tables, until it is back. */
START_TEST(masked_nodes_do_not_count)
{
	static const struct snapshot_spec spec;
	static const uint8_t mask[] = {1, 1, 0, 1, 0, 0};
	struct session *s = tree();
	uint32_t lane = session_lane_intern(
		s, &(struct session_lane){.process = SESSION_NONE, .device = SESSION_NONE});
	struct snapshot *snap;
	struct numbers *numbers;
	struct flat *flat;

	for (uint32_t i = 3; i < 6; i++)
		session_add(s, i, lane, 0, METRIC_TIME, (union metric_value){.u64 = 10 * i});
	snap = snapshot_new(s, &spec);
	ck_assert_double_eq(snapshot_column(snap, METRIC_TIME, true)->v[0], 120);
	snapshot_mask(snap, mask);
	ck_assert(snapshot_node(snap, 2)->hidden && !snapshot_node(snap, 2)->metadata);
	ck_assert_double_eq(snapshot_column(snap, METRIC_TIME, true)->v[0], 30);
	numbers = numbers_new(snap, NULL);
	flat = flat_new(numbers, true);
	ck_assert_int_eq(flat_update(flat), 0);
	ck_assert_uint_eq(flat_n(flat), 1);
	ck_assert_double_eq(flat_usual(flat, 0, USUAL_SELF), 30);
	flat_free(flat);
	numbers_free(numbers);
	snapshot_update(snap, 1); /* a later picture keeps it, for new nodes by their parents */
	session_node(s, 2, FRAME_KERNEL, "late");
	snapshot_update(snap, 2);
	ck_assert(snapshot_node(snap, 6)->hidden);
	ck_assert_uint_eq(snapshot_n_shown(snap), 2);
	ck_assert_uint_eq(snapshot_n_contexts(snap), 6);
	snapshot_mask(snap, NULL);
	ck_assert_uint_eq(snapshot_n_shown(snap), 6);
	ck_assert(!snapshot_node(snap, 6)->hidden);
	ck_assert_double_eq(snapshot_column(snap, METRIC_TIME, true)->v[0], 120);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* What grew in a window is that of the nodes that are shown, whenever the mask came or went. */
START_TEST(masks_keep_what_grew)
{
	static const struct snapshot_spec spec;
	static const uint8_t mask[] = {1, 1, 0, 1, 1, 0, 1};
	struct session *s = tree();
	uint32_t lane = session_lane_intern(
		s, &(struct session_lane){.process = SESSION_NONE, .device = SESSION_NONE});
	struct snapshot *snap;
	const struct snap_column *rate;

	s->ended = false;
	for (uint32_t i = 3; i < 6; i++)
		session_add(s, i, lane, 0, METRIC_TIME, (union metric_value){.u64 = 1000});
	snap = snapshot_new(s, &spec);
	snapshot_update(snap, NSEC_PER_SEC);
	for (uint32_t i = 3; i < 6; i++)
		session_add(s, i, lane, 0, METRIC_TIME, (union metric_value){.u64 = 10 * i});
	snapshot_update(snap, 2 * NSEC_PER_SEC);
	ck_assert_double_eq(snapshot_rate(snap, METRIC_TIME)->v[0], 120);
	snapshot_mask(snap, mask); /* the first one there is */
	rate = snapshot_rate(snap, METRIC_TIME);
	ck_assert_double_eq(rate->v[0], 70);
	ck_assert_double_eq(rate->v[1], 70);
	ck_assert_double_nan(rate->v[2]);
	ck_assert_double_nan(rate->v[5]);
	snapshot_update(snap, 3 * NSEC_PER_SEC);
	snapshot_mask(snap, NULL); /* and the last one */
	ck_assert_double_eq(snapshot_rate(snap, METRIC_TIME)->v[0], 0);
	session_add(s, session_node(s, 1, FRAME_KERNEL, "late"), lane, 0, METRIC_TIME,
		    (union metric_value){.u64 = 7});
	session_add(s, 5, lane, 0, METRIC_TIME, (union metric_value){.u64 = 3});
	snapshot_update(snap, 4 * NSEC_PER_SEC);
	ck_assert_double_eq(snapshot_rate(snap, METRIC_TIME)->v[0], 10);
	snapshot_mask(snap, mask);
	ck_assert_double_eq(snapshot_rate(snap, METRIC_TIME)->v[0], 7);
	snapshot_mask(snap, NULL);
	ck_assert_double_eq(snapshot_rate(snap, METRIC_TIME)->v[2], 3);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(says_what_is_no_expression)
{
	static const char *const wrong[] = {
		"(",
		"[a",
		"(?=x)",
		"(?P<n>x)",
		"a+++++++++++++++++++++++++++++",
		"((a{99}){99}){99}",
		"a{9}{9}{9}{9}{9}{9}{9}{9}",
		"a*{9}*{9}?{9}*{9}*{9}*{9}*{9}",
		"(){9}{9}{9}{9}{9}{9}{9}{9}",
		"((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+"};
	struct name_pattern p;
	char why[128];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		*why = '\0';
		ck_assert_msg(name_pattern_init(&p, wrong[i], why, sizeof(why)) == -EINVAL, "%s",
			      wrong[i]);
		ck_assert_str_ne(why, "");
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter");
	TCase *tc = tcase_create("filter");

	tcase_add_loop_test(tc, shows_what_it_should, 0, ARRAY_SIZE(cases));
	tcase_add_test(tc, keeps_what_is_above_enough);
	tcase_add_test(tc, memory_alone_is_left_out);
	tcase_add_test(tc, forms_are_left_out_but_above_kernels);
	tcase_add_test(tc, calls_are_left_out_where_nothing_asks_for_them);
	tcase_add_test(tc, masked_nodes_do_not_count);
	tcase_add_test(tc, masks_keep_what_grew);
	tcase_add_test(tc, says_what_is_no_expression);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
