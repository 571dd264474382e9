/* SPDX-License-Identifier: MIT */
/* Sets of hardware metrics, what is counted of them on a chip, and which names somebody means. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "counters/metric_set.h"
#include "counters/patterns.h"
#include "counters/plan.h"

/* ---- sets ---- */

START_TEST(test_set)
{
	_cleanup_(metric_set_freep) struct metric_set *set = NULL;
	unsigned line;

	ck_assert_int_eq(metric_set_parse("mine",
					  "# a comment\n"
					  "  about  what it is # for\n"
					  "counting pm\r\n"
					  "passes\t2\n\n"
					  "dram__bytes.sum\n"
					  "a__new.sum\ta__old.sum  # the first\n"
					  "sm__last.avg",
					  &set, &line),
			 0);
	ck_assert_str_eq(set->name, "mine");
	ck_assert_int_eq(strncmp(set->about, "what it is", 10), 0);
	ck_assert_int_eq(set->counting, COUNTING_PM);
	ck_assert_uint_eq(set->most_passes, 2);
	ck_assert_uint_eq(set->n, 3);
	ck_assert_uint_eq(set->choices[0].n, 1);
	ck_assert_uint_eq(set->choices[1].n, 2);
	ck_assert_str_eq(set->choices[1].names[1], "a__old.sum");
	ck_assert_str_eq(set->choices[2].names[0], "sm__last.avg");
}
END_TEST

/* What is wrong, and in which line; 0: it has no metric. */
static const struct {
	const char *text;
	unsigned line;
} wrong[] = {
	{"", 0},
	{"# dram__bytes.sum\n", 0},
	{"about nothing\n", 0},
	{"dram__bytes.sum\nbytes\n", 2},
	{"counting\ndram__bytes.sum\n", 1},
	{"counting both\ndram__bytes.sum\n", 1},
	{"counting pm range\ndram__bytes.sum\n", 1},
	{"dram__bytes.sum\n\npasses 0\n", 3},
	{"passes -1\ndram__bytes.sum\n", 1},
	{"passes 1x\ndram__bytes.sum\n", 1},
	{"passes\ndram__bytes.sum\n", 1},
	{"passes 99999999999999999999\ndram__bytes.sum\n", 1},
};

START_TEST(test_wrong_set)
{
	struct metric_set *set = NULL;
	unsigned line = 77;

	ck_assert_int_eq(metric_set_parse("x", wrong[_i].text, &set, &line), -EINVAL);
	ck_assert_uint_eq(line, wrong[_i].line);
	ck_assert_ptr_null(set);
}
END_TEST

/* All that are built in can be read, have something to say, and no metric twice. */
START_TEST(test_builtin)
{
	const char *name;
	unsigned n = 0;

	for (; (name = metric_set_name(n)); n++) {
		_cleanup_(metric_set_freep) struct metric_set *set = NULL;

		ck_assert_int_eq(metric_set_find(name, &set), 0);
		ck_assert_str_eq(set->name, name);
		ck_assert_str_ne(set->about, "");
		for (size_t i = 0; i < set->n; i++)
			for (size_t k = 0; k < i; k++)
				ck_assert_str_ne(set->choices[i].names[0],
						 set->choices[k].names[0]);
		if (!strcmp(name, "gmp"))
			ck_assert_uint_eq(set->n, 30);
		if (!strcmp(name, "live")) {
			ck_assert_int_eq(set->counting, COUNTING_PM);
			ck_assert_uint_eq(set->most_passes, 1);
		}
	}
	ck_assert_uint_eq(n, 6);
	ck_assert_int_eq(metric_set_find("gm", &(struct metric_set *){NULL}), -ENOENT);
}
END_TEST

/* ---- plans ---- */

/* A chip on which a metric of group x takes one of the three counters that group has in a pass: "x__1"
 * one, "x__22" two … what is called no__… it does not have, bad__… it refuses. */
static bool has(void *ctx, const char *name)
{
	(void)ctx;
	return strncmp(name, "no__", 4) != 0;
}

static int passes(void *ctx, const char *const *names, size_t n, size_t *ret)
{
	size_t used[256] = {0}, most = 0;
	unsigned *n_asked = ctx;

	++*n_asked;
	for (size_t i = 0; i < n; i++) {
		if (!strncmp(names[i], "bad__", 5))
			return 27;
		used[(unsigned char)names[i][0]] += strlen(strstr(names[i], "__") + 2);
	}
	for (size_t i = 0; i < ARRAY_SIZE(used); i++)
		most = MAX(most, used[i]);
	*ret = (most + 2) / 3;
	return 0;
}

/* "NAME STATE PASSES" of each, and together. */
static void plan_text(const char *text, struct buf *out)
{
	_cleanup_(metric_set_freep) struct metric_set *set = NULL;
	unsigned line, n_asked = 0;
	struct plan plan;

	ck_assert_int_eq(metric_set_parse("x", text, &set, &line), 0);
	ck_assert_int_eq(plan_make(set, &(struct plan_source){has, passes, &n_asked}, &plan), 0);
	for (size_t i = 0; i < plan.n; i++)
		buf_printf(out, "%s %s %zu; ", plan.rows[i].name, plan_words[plan.rows[i].state],
			   plan.rows[i].passes);
	buf_printf(out, "%zu in %zu", plan.n_counted, plan.passes);
	plan_done(&plan);
	ck_assert_uint_le(n_asked, 1 + 2 * 8);
}

static const struct {
	const char *set, *plan;
} plans[] = {
	{"a__1\na__22\n", "a__1 counted 1; a__22 counted 1; 2 in 1"},
	/* As many passes as it takes. */
	{"a__1\na__22\na__333\nb__1\n",
	 "a__1 counted 1; a__22 counted 1; a__333 counted 1; b__1 counted 1; 4 in 2"},
	/* In one: what does not fit is left out, what comes after it may fit. */
	{"passes 1\na__1\na__333\na__22\nb__1\n",
	 "a__1 counted 1; a__333 left out 1; a__22 counted 1; b__1 counted 1; 3 in 1"},
	{"passes 2\na__333\na__333\na__1\n",
	 "a__333 counted 1; a__333 counted 1; a__1 left out 1; 2 in 2"},
	/* More alone than there may be. */
	{"passes 1\na__4444\na__1\n", "a__4444 left out 2; a__1 counted 1; 1 in 1"},
	/* The first name that the chip has; and in one pass, that fits. */
	{"no__1 a__22\n", "a__22 counted 1; 1 in 1"},
	{"a__1 a__22\n", "a__1 counted 1; 1 in 1"},
	{"passes 1\na__22\na__22 b__22\n", "a__22 counted 1; b__22 counted 1; 2 in 1"},
	{"passes 1\na__22\nno__1 a__22 a__333\n", "a__22 counted 1; a__22 left out 1; 1 in 1"},
	{"no__1 no__2\n", "no__1 absent 0; 0 in 0"},
	/* One that is refused takes no other along. */
	{"a__1\nbad__1\na__1\n", "a__1 counted 1; bad__1 refused 0; a__1 counted 1; 2 in 1"},
	{"bad__1 a__1\n", "a__1 counted 1; 1 in 1"},
};

START_TEST(test_plan)
{
	_cleanup_(buf_done) struct buf text = {0};

	plan_text(plans[_i].set, &text);
	ck_assert_str_eq(buf_str(&text), plans[_i].plan);
}
END_TEST

/* ---- names ---- */

START_TEST(test_patterns)
{
	ck_assert(pattern_matches("bytes", "dram__bytes_read"));
	ck_assert(pattern_matches("DRAM", "dram__bytes_read"));
	ck_assert(!pattern_matches("bytes$", "dram__bytes_read"));
	ck_assert(pattern_matches("dram__*read", "dram__bytes_read"));
	ck_assert(!pattern_matches("dram__*", "l1dram__bytes"));
	ck_assert(!pattern_matches("*bytes", "dram__bytes_read"));
	ck_assert(pattern_matches("[ds]ram__byte?", "dram__bytes"));
}
END_TEST

static const char *const known[] = {"dram__bytes",   "dram__bytes_read",  "dram__bytes_write",
				    "dram__sectors", "sm__cycles_active", "sm__cycles_elapsed"};

static const struct {
	const char *word, *near;
} words[] = {
	{"dram__byte", "'dram__bytes'"},
	{"dram_bytes", "'dram__bytes'"},
	{"dram__bytes_reed", "'dram__bytes_read', 'dram__bytes_write' or 'dram__bytes'"},
	{"sm__cycles_activ", "'sm__cycles_active' or 'sm__cycles_elapsed'"},
	{"nothing_like_it", ""},
	{"", ""},
};

START_TEST(test_near)
{
	_cleanup_(buf_done) struct buf text = {0};

	names_near(words[_i].word, known, ARRAY_SIZE(known), &text);
	ck_assert_str_eq(buf_str(&text), words[_i].near);
}
END_TEST

/* Names of hardware metrics are longer than words of options. */
START_TEST(test_near_long)
{
	static const char *const one[] = {
		"l1tex__m_l1tex2xbar_read_requests_mem_global_op_tma_ld_dest_multicast_size_128B"};
	_cleanup_(buf_done) struct buf text = {0};

	names_near("l1tex__m_l1tex2xbar_read_request_mem_global_op_tma_ld_dest_multicast_size_128B",
		   one, 1, &text);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), one[0]));
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("counters");
	TCase *sets = tcase_create("sets"), *planning = tcase_create("plans"),
	      *names = tcase_create("names");

	tcase_add_test(sets, test_set);
	tcase_add_loop_test(sets, test_wrong_set, 0, ARRAY_SIZE(wrong));
	tcase_add_test(sets, test_builtin);
	suite_add_tcase(s, sets);
	tcase_add_loop_test(planning, test_plan, 0, ARRAY_SIZE(plans));
	suite_add_tcase(s, planning);
	tcase_add_test(names, test_patterns);
	tcase_add_loop_test(names, test_near, 0, ARRAY_SIZE(words));
	tcase_add_test(names, test_near_long);
	suite_add_tcase(s, names);
	return s;
}

int main(void)
{
	return check_run(suite());
}
