/* SPDX-License-Identifier: MIT */
/* Tests of core/diff: trees with the comparison that is expected of them beside. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "check_main.h"
#include "core/diff.h"

/* "a/b 5;a/c 7": paths and their own times. A second "a/b" is a node beside the first. */
static struct session *session_of(const char *text)
{
	static const struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	struct session *s = session_new();
	uint32_t lane = session_lane_intern(s, &nowhere);
	char copy[512], *line, *next, *value, *name, *save;

	snprintf(copy, sizeof(copy), "%s", text);
	for (line = copy; line && *line; line = next) {
		uint32_t node = SESSION_ROOT;
		union metric_value v;

		next = strchr(line, ';');
		if (next)
			*next++ = 0;
		value = strchr(line, ' ');
		if (value)
			*value++ = 0;
		for (name = strtok_r(line, "/", &save); name; name = strtok_r(NULL, "/", &save))
			node = session_node(s, node, FRAME_FUNCTION, name);
		if (value) {
			v.u64 = strtoull(value, NULL, 10);
			ck_assert_int_eq(session_add(s, node, lane, 0, METRIC_TIME, v), 0);
		}
	}
	s->ended = true;
	return s;
}

static void put_range(struct buf *b, const struct diff_range *r)
{
	if (!r->n)
		buf_puts(b, " -");
	else if (r->n == 1)
		buf_printf(b, " %g", r->median);
	else
		buf_printf(b, " %g<%g<%g", r->min, r->median, r->max);
}

/* "ROOT 5 7 +2 changed;…", in order of ids */
static const char *show(const struct diff *d, struct buf *b)
{
	uint32_t i;

	for (i = 0; i < diff_n(d); i++) {
		const struct diff_value *v = diff_value(d, i, 0);

		buf_printf(b, "%s%*s%s", i ? ";" : "", (int)diff_node(d, i)->depth, "",
			   diff_name(d, i));
		put_range(b, &v->side[DIFF_A]);
		put_range(b, &v->side[DIFF_B]);
		if (!isnan(v->delta))
			buf_printf(b, " %+g", v->delta);
		buf_printf(b, " %s", diff_status_word((enum diff_status)v->status));
	}
	return buf_str(b);
}

static int add(struct diff *d, enum diff_side side, const char *text)
{
	struct session *s = session_of(text);
	int r = diff_add(d, side, s);

	session_free(s);
	return r;
}

/* clang-format off */
static const struct {
	const char *what;
	bool exclusive;
	const char *a[4], *b[4]; /* runs */
	const char *wanted;
} cases[] = {
	{"equal", false, {"s/k 5"}, {"s/k 5"}, "ROOT 5 5 +0 same; s 5 5 +0 same;  k 5 5 +0 same"},
	{"a change", false, {"s/k 5;t 1"}, {"s/k 7;t 1"},
	 "ROOT 6 8 +2 changed; s 5 7 +2 changed;  k 5 7 +2 changed; t 1 1 +0 same"},
	{"new and gone", false, {"s/old 5"}, {"s/new 7"},
	 "ROOT 5 7 +2 changed; s 5 7 +2 changed;  old 5 - -5 gone;  new - 7 +7 new"},
	{"both empty", false, {""}, {""}, "ROOT - - same"},
	{"one empty", false, {""}, {"k 3"}, "ROOT - 3 +3 new; k - 3 +3 new"},
	{"no runs at all on one side", false, {"k 3"}, {NULL}, "ROOT 3 - -3 gone; k 3 - -3 gone"},
	{"zero is not absent", false, {"k 0"}, {"k 0"}, "ROOT 0 0 +0 same; k 0 0 +0 same"},
	{"recursion", false, {"f/f/f 2;f 1"}, {"f/f 3"},
	 "ROOT 3 3 +0 same; f 3 3 +0 same;  f 2 3 +1 changed;   f 2 - -2 gone"},
	{"own values", true, {"f/g 2;f 1"}, {"f/g 2;f 4"},
	 "ROOT - - same; f 1 4 +3 changed;  g 2 2 +0 same"},
	{"a scope without values", false, {"s"}, {"s/k 1"},
	 "ROOT - 1 +1 new; s - 1 +1 new;  k - 1 +1 new"},
	{"within the noise", false, {"k 10", "k 12", "k 11"}, {"k 12", "k 13"},
	 "ROOT 10<11<12 12<12.5<13 +1.5 same; k 10<11<12 12<12.5<13 +1.5 same"},
	{"beyond the noise", false, {"k 10", "k 12", "k 11"}, {"k 14", "k 13", "k 99"},
	 "ROOT 10<11<12 13<14<99 +3 changed; k 10<11<12 13<14<99 +3 changed"},
	{"not in every run", false, {"k 10", "j 4"}, {"k 10"},
	 "ROOT 4<7<10 10 +3 same; k 10 10 +0 same; j 4 - -4 gone"},
	{"metadata is left out", false, {"k 1;__proton_launch_metadata/x 9"}, {"k 1"},
	 "ROOT 1 1 +0 same; k 1 1 +0 same"},
};
/* clang-format on */

START_TEST(sides_are_compared)
{
	static const struct diff_options inclusive = {.metrics = "time"},
					 exclusive = {.metrics = "time", .exclusive = true};
	struct diff *d = diff_new(cases[_i].exclusive ? &exclusive : &inclusive);
	struct buf b;
	unsigned i;

	buf_init(&b, 0);
	for (i = 0; i < 4 && cases[_i].a[i]; i++)
		ck_assert_int_eq(add(d, DIFF_A, cases[_i].a[i]), 0);
	for (i = 0; i < 4 && cases[_i].b[i]; i++)
		ck_assert_int_eq(add(d, DIFF_B, cases[_i].b[i]), 0);
	ck_assert_int_eq(diff_compare(d), 0);
	ck_assert_msg(!strcmp(show(d, &b), cases[_i].wanted), "%s: %s", cases[_i].what,
		      buf_str(&b));
	buf_done(&b);
	diff_free(d);
}
END_TEST

START_TEST(siblings_of_one_name_are_one)
{
	static const struct diff_options options = {"time (ns)", false};
	struct diff *d = diff_new(&options);
	struct session *s = session_of("k 5");
	uint32_t twin = session_node_append(s, SESSION_ROOT, s->nodes[1].frame);
	uint32_t kernel =
		session_node(s, SESSION_ROOT, FRAME_KERNEL, "k"); /* same name, other kind */

	session_add(s, twin, 0, 0, METRIC_TIME, (union metric_value){.u64 = 6});
	session_add(s, kernel, 0, 0, METRIC_TIME, (union metric_value){.u64 = 7});
	ck_assert_int_eq(diff_add(d, DIFF_A, s), 0);
	ck_assert_int_eq(add(d, DIFF_B, "k 18"), 0);
	ck_assert_int_eq(diff_compare(d), 0);
	ck_assert_uint_eq(diff_n(d), 2);
	ck_assert_int_eq(diff_value(d, 1, 0)->status, DIFF_SAME);
	ck_assert_str_eq(diff_metric(d, 0)->unit, "ns");
	session_free(s);
	diff_free(d);
}
END_TEST

#define LONG "0123456789012345678901234567890123456789" /* more is not shown of a build id */

/* Frames of two kinds that no name tells apart, and two addresses that read alike. */
START_TEST(frames_without_a_name)
{
	static const struct diff_options options = {.metrics = "time"};
	static const struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	struct session *s = session_new();
	uint32_t lane = session_lane_intern(s, &nowhere), nodes[4];
	struct diff *d = diff_new(&options);

	nodes[0] = session_node(s, SESSION_ROOT, FRAME_SCOPE, "");
	nodes[1] = session_node(s, SESSION_ROOT, FRAME_NVTX, "");
	for (uint32_t i = 0; i < 2; i++) {
		const struct session_module module = {
			.build_id = strtab_adds(s->strings, i ? LONG "1" : LONG "2")};
		uint32_t id = session_module_intern(s, &module);

		nodes[2 + i] = session_node_intern(
			s, SESSION_ROOT, session_frame_intern(s, FRAME_NATIVE, 0, id, 16));
	}
	for (size_t i = 0; i < 4; i++)
		session_add(s, nodes[i], lane, 0, METRIC_TIME, (union metric_value){.u64 = 5});
	ck_assert_int_eq(diff_add(d, DIFF_A, s), 0);
	ck_assert_int_eq(diff_add(d, DIFF_B, s), 0);
	ck_assert_int_eq(diff_compare(d), 0);
	ck_assert_uint_eq(diff_n(d), 3);
	ck_assert_double_eq(diff_value(d, 1, 0)->side[DIFF_B].median, 10);
	ck_assert_double_eq(diff_metric(d, 0)->total.side[DIFF_B].median, 20);
	diff_free(d);
	session_free(s);
}
END_TEST

START_TEST(sorted_by_size_of_change)
{
	static const struct diff_options options = {"time", false};
	struct diff *d = diff_new(&options);
	uint32_t *ids;

	add(d, DIFF_A, "a 5;b 50;c 5;e");
	add(d, DIFF_B, "a 8;b 10;c 5;d 3");
	ck_assert_int_eq(diff_compare(d), 0);
	ids = diff_sorted(d);
	ck_assert_str_eq(diff_name(d, ids[0]), "b");
	ck_assert_str_eq(diff_name(d, ids[1]), "a");
	ck_assert_str_eq(diff_name(d, ids[2]), "d");
	ck_assert_str_eq(diff_name(d, ids[3]), "c");
	ck_assert_str_eq(diff_name(d, ids[4]), "e");
	ck_assert(isinf(diff_value(d, ids[2], 0)->ratio));
	ck_assert_double_eq(diff_value(d, ids[0], 0)->ratio, -0.8);
	free(ids);
	diff_free(d);
}
END_TEST

START_TEST(metrics_that_do_not_add_up)
{
	static const struct diff_options text = {"direction", false}, none = {"nothing", false};
	static const struct diff_options entered = {"cpu_count", false}, cpu = {"cpu_time", false};
	struct diff *d = diff_new(&text);
	struct session *s = session_of("a/b");

	ck_assert_int_eq(diff_add(d, DIFF_A, s), -EINVAL);
	diff_free(d);
	d = diff_new(&none);
	ck_assert_int_eq(diff_add(d, DIFF_A, s), 0);
	ck_assert_int_eq(diff_compare(d), 0);
	ck_assert(!diff_metric(d, 0)->has_values);
	diff_free(d);
	/* An exclusive metric: the whole is the sum over all nodes, of host time what is not nested. */
	for (uint32_t node = 1; node <= 2; node++) {
		session_add(s, node, 0, 0, METRIC_CPU_COUNT, (union metric_value){.u64 = 5 - node});
		session_add(s, node, 0, 0, METRIC_CPU_TIME, (union metric_value){.u64 = 5 - node});
	}
	d = diff_new(&entered);
	ck_assert_int_eq(diff_add(d, DIFF_A, s), 0);
	ck_assert_int_eq(diff_add(d, DIFF_B, s), 0);
	ck_assert_int_eq(diff_compare(d), 0);
	ck_assert_double_eq(diff_metric(d, 0)->total.side[DIFF_B].median, 7);
	diff_free(d);
	d = diff_new(&cpu);
	ck_assert_int_eq(diff_add(d, DIFF_A, s), 0);
	ck_assert_int_eq(diff_add(d, DIFF_B, s), 0);
	ck_assert_int_eq(diff_compare(d), 0);
	ck_assert_double_eq(diff_metric(d, 0)->total.side[DIFF_B].median, 4);
	ck_assert_str_eq(diff_metric(d, 0)->name, "cpu_time (ns)");
	diff_free(d);
	session_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff");
	TCase *tc = tcase_create("diff");

	tcase_add_loop_test(tc, sides_are_compared, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, siblings_of_one_name_are_one);
	tcase_add_test(tc, frames_without_a_name);
	tcase_add_test(tc, sorted_by_size_of_change);
	tcase_add_test(tc, metrics_that_do_not_add_up);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
