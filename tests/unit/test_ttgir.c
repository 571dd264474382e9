/* SPDX-License-Identifier: MIT */
/* Kernels in Triton's GPU dialect: what is read of them, what rules mean, and where records go. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "ttgir/insert.h"
#include "ttgir/positions.h"

static void read_kernel(const char *name, struct buf *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), KERNELS "/%s.ttgir", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(buf_read(text, fd), 0);
	close(fd);
}

/* What is put into a text: each record on a line, behind the number of the line that it is before. */
static int put(const char *text, size_t len, const char *words, struct buf *ret, char *why)
{
	struct ttgir_rules rules;
	struct ttgir_places places;
	struct buf out = {0};
	struct ttgir m;
	int r;

	*why = '\0';
	ck_assert_int_eq(ttgir_rules_parse(&rules, words, why, 160), 0);
	r = ttgir_insert(&m, text, len, &rules, &out, &places, why, 160);
	buf_clear(ret);
	for (size_t i = 0; r == 0 && i < places.n_records; i++) {
		const struct ttgir_record *record = &places.records[i];
		unsigned line = 1;

		for (size_t k = 0; k < record->at; k++)
			line += text[k] == '\n';
		buf_printf(ret, "%u%c%s\n", line, record->is_start ? '+' : '-',
			   places.scopes[record->scope].name);
	}
	if (r == 0) {
		ttgir_places_done(&places);
		ttgir_done(&m);
	}
	buf_done(&out);
	ttgir_rules_done(&rules);
	return r;
}

static void check_put(const char *kernel, const char *words, const char *wanted)
{
	struct buf text = {0}, got = {0};
	char why[160];

	read_kernel(kernel, &text);
	ck_assert_int_eq(put(text.data, text.len, words, &got, why), 0);
	ck_assert_str_eq(buf_str(&got), wanted);
	buf_done(&got);
	buf_done(&text);
}

START_TEST(rules_put_records)
{
	check_put("add_kernel", "func", "9+add_kernel\n27-add_kernel\n");
	check_put("add_kernel", "ld,tt.store as out",
		  "19+tt.load@k.py:10\n20-tt.load@k.py:10\n22+tt.load@k.py:11\n23-tt.load@k.py:11\n"
		  "26+out\n27-out\n");
	check_put("matmul", "func,loop,loop:iter,mma",
		  "21+matmul\n69+loop@k.py:24\n70+iteration@k.py:24\n"
		  "75+ttng.warp_group_dot@k.py:27\n76-ttng.warp_group_dot@k.py:27\n"
		  "79-iteration@k.py:24\n81-loop@k.py:24\n100-matmul\n");
	check_put("add_kernel", "atomic", "");
}
END_TEST

/* Reductions are no places for records, and what a function of theirs does is of the kernel's line, too. */
START_TEST(regions_are_told_apart)
{
	check_put("softmax", "loop,reduce,arith.maxnumf",
		  "32+loop@k.py:37\n36+tt.reduce@k.py:40\n41-tt.reduce@k.py:40\n44+loop@k.py:43\n"
		  "53-loop@k.py:43\n53+tt.reduce@k.py:46\n58-tt.reduce@k.py:46\n62-loop@k.py:37\n");
	check_put("softmax", "loop:iter",
		  "33+iteration@k.py:37\n49+iteration@k.py:43\n51-iteration@k.py:43\n"
		  "60-iteration@k.py:37\n");
	check_put("wspec", "wgmma",
		  "188+ttng.warp_group_dot@k2.py:41\n189-ttng.warp_group_dot@k2.py:41\n"
		  "244+ttng.warp_group_dot@k2.py:41\n245-ttng.warp_group_dot@k2.py:41\n");
}
END_TEST

START_TEST(lines_are_scopes)
{
	check_put("softmax", "loc k.py:40-41 as both", "36+both\n44-both\n");
	check_put("softmax", "loc user/k.py:40", "36+k.py:40\n43-k.py:40\n");
	check_put("softmax", "loc standard.py:293", "53+standard.py:293\n58-standard.py:293\n");
	check_put("softmax", "loc .py:40", "");
}
END_TEST

/* A kernel that returns at several places is no scope: the compiler wants one end for each. */
START_TEST(early_returns)
{
	check_put("early", "func,ld", "23+tt.load@k2.py:9\n24-tt.load@k2.py:9\n");
}
END_TEST

START_TEST(names_are_told_apart)
{
	check_put("softmax", "scf.* as x", "32+x\n44+x#2\n53-x#2\n62-x\n");
	check_put("softmax", "kernel soft*,skip softmax,func", "");
	check_put("softmax", "kernel add,func", "");
	check_put("softmax", "kernel soft*,func", "16+softmax\n62-softmax\n");
}
END_TEST

START_TEST(records_are_lines)
{
	static const char text[] = "module {\n  tt.func public @k() {\n    tt.a.b loc(#loc1)\n"
				   "    tt.return\n  }\n}\n#loc1 = loc(\"a\\22b.py\":3:4)\n";
	struct ttgir_rules rules;
	struct ttgir_places places;
	struct ttgir m;
	struct buf out = {0};
	char why[160];

	ck_assert_int_eq(ttgir_rules_parse(&rules, "tt.a.b as a \"\xc3\xa9", why, sizeof(why)), 0);
	ck_assert_int_eq(
		ttgir_insert(&m, text, strlen(text), &rules, &out, &places, why, sizeof(why)), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&out),
				     "    proton.record start \"a \\22\\C3\\A9\" loc(#loc1)\n"
				     "    tt.a.b loc(#loc1)\n"
				     "    proton.record end \"a \\22\\C3\\A9\" loc(#loc1)\n"));
	ttgir_places_done(&places);
	ttgir_done(&m);
	/* … and no second time */
	struct buf again = {0};

	ck_assert_int_eq(
		ttgir_insert(&m, out.data, out.len, &rules, &again, &places, why, sizeof(why)),
		-EINVAL);
	ck_assert_str_eq(why, "it has records of a scope 'a \"\xc3\xa9' already");
	ck_assert_int_eq(again.len, 0);
	buf_done(&again);
	buf_done(&out);
	ttgir_rules_done(&rules);
}
END_TEST

START_TEST(what_is_not_read)
{
	static const struct {
		const char *text, *why;
	} refused[] = {
		{"", "it has no operation"},
		{"\n\n", "it has no operation"},
		{".version 8.0", "line 1: '.version 8.0' is no operation"},
		{"module {\n", "line 1: it ends within module"},
		{"module {\n}\n}\n", "line 3: there is no region to end"},
		{"module {\n tt.a(\n  %x)\n}\n", "line 2: tt.a does not end where its line does"},
		{"module {\n %a\n}\n", "line 2: '%a' is no operation"},
		{"module {\n tt.a \"b\n}\n", "line 2: a text in quotes does not end"},
		{"module {\n #a = b\n}\n", "line 2: the name does not stand by itself"},
		{"module { tt.func {\n}}\n", "line 1: module does not end where its line does"},
		{"^bb0:\n", "line 1: the name of a block does not stand by itself"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct buf got = {0};
		char why[160];

		ck_assert_int_eq(put(refused[i].text, strlen(refused[i].text), "func", &got, why),
				 -EINVAL);
		ck_assert_str_eq(why, refused[i].why);
		buf_done(&got);
	}
}
END_TEST

START_TEST(deep_and_many)
{
	struct buf text = {0}, got = {0};
	char why[160];

	for (unsigned i = 0; i < TTGIR_DEPTH + 1; i++)
		buf_puts(&text, "scf.if {\n");
	ck_assert_int_eq(put(text.data, text.len, "func", &got, why), -EINVAL);
	ck_assert_str_eq(why, "line 257: more than 256 regions are in each other");
	buf_clear(&text);
	buf_puts(&text, "module {\ntt.func public @k() {\n");
	for (unsigned i = 0; i < TTGIR_SCOPES + 1; i++)
		buf_puts(&text, "tt.load\n");
	buf_puts(&text, "tt.return\n}\n}\n");
	ck_assert_int_eq(put(text.data, text.len, "ld", &got, why), -EINVAL);
	ck_assert_str_eq(why, "there would be 257 scopes, and a record tells 256 apart");
	buf_done(&text);
	buf_done(&got);
}
END_TEST

START_TEST(rules_are_read)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{"", "no rule says where records are wanted"},
		{"kernel x", "no rule says where records are wanted"},
		{"# func", "no rule says where records are wanted"},
		{"func all", "'all' says more than this rule takes"},
		{"loc k.py", "'k.py' is not FILE:LINE or FILE:LINE-LINE"},
		{"loc k.py:9-3", "'k.py:9-3' is not FILE:LINE or FILE:LINE-LINE"},
		{"loc :3", "':3' is not FILE:LINE or FILE:LINE-LINE"},
		{"op", "'op' needs something behind it"},
		{"op x{9}", "'x{9}' has a {, which expressions of rules do not take"},
	};
	static char deep[1 << 20]; /* more of them than the C library's stack takes */
	struct ttgir_rules rules;
	char why[200];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		ck_assert_int_eq(ttgir_rules_parse(&rules, wrong[i].text, why, sizeof(why)),
				 -EINVAL);
		ck_assert_str_eq(why, wrong[i].why);
	}
	ck_assert_int_eq(ttgir_rules_parse(&rules, "op (", why, sizeof(why)), -EINVAL);
	ck_assert_ptr_eq(strstr(why, "'(' is no regular expression: "), why);
	memset(deep, '(', sizeof(deep) - 1);
	memcpy(deep, "op ", 3);
	ck_assert_int_eq(ttgir_rules_parse(&rules, deep, why, sizeof(why)), -EINVAL);
	ck_assert_int_eq(ttgir_rules_parse(&rules, "dots", why, sizeof(why)), -EINVAL);
	ck_assert_ptr_eq(strstr(why, "'dots' is no rule: there are func"), why);

	ck_assert_int_eq(ttgir_rules_parse(&rules,
					   "func, loop # a remark, loop:iter\n\n"
					   "loc=a b.py:3-4 as here,op tt.(a|b[,c]),,kernel k*",
					   why, sizeof(why)),
			 0);
	ck_assert_int_eq(rules.n, 5);
	ck_assert_int_eq(rules.v[1].kind, TTGIR_RULE_LOOP);
	ck_assert_str_eq(rules.v[2].text, "a b.py");
	ck_assert_str_eq(rules.v[2].name, "here");
	ck_assert_int_eq(rules.v[2].last, 4);
	ck_assert_int_eq(rules.v[3].kind, TTGIR_RULE_OPERATION);
	ck_assert(ttgir_rules_want(&rules, "kern") && !ttgir_rules_want(&rules, "other"));
	ttgir_rules_done(&rules);
}
END_TEST

/* Names of locations in a circle, and in each other without end. */
START_TEST(locations_end)
{
	static const char text[] =
		"module {\n  tt.a loc(#loc1)\n  tt.b loc(#loc3)\n"
		"  tt.c loc(fused<1>[unknown, \"x\"(\"d/e.py\":7:1)])\n  tt.d\n}\n"
		"#loc1 = loc(callsite(#loc2 at #loc2))\n"
		"#loc2 = loc(callsite(#loc1 at #loc1))\n"
		"#loc3 = loc(callsite(\"f.py\":1:2 at callsite(\"g.py\":3:4 at \"h.py\":5:6)))\n";
	struct ttgir_position p;
	struct ttgir m;
	char why[160];

	ck_assert_int_eq(ttgir_read(&m, text, strlen(text), why, sizeof(why)), 0);
	ck_assert_int_eq(m.n_ops, 5);
	ck_assert(!ttgir_position(&m, &m.ops[1], &p));
	ck_assert(ttgir_position(&m, &m.ops[2], &p));
	ck_assert_int_eq(p.line, 5);
	ck_assert(ttgir_position(&m, &m.ops[3], &p));
	ck_assert_int_eq(p.line, 7);
	ck_assert_int_eq(ttgir_base_name(p.file).len, 4);
	ck_assert(!ttgir_position(&m, &m.ops[4], &p));
	ttgir_done(&m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ttgir");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, rules_put_records);
	tcase_add_test(tests, regions_are_told_apart);
	tcase_add_test(tests, lines_are_scopes);
	tcase_add_test(tests, early_returns);
	tcase_add_test(tests, names_are_told_apart);
	tcase_add_test(tests, records_are_lines);
	tcase_add_test(tests, what_is_not_read);
	tcase_add_test(tests, deep_and_many);
	tcase_add_test(tests, rules_are_read);
	tcase_add_test(tests, locations_end);
	suite_add_tcase(suite, tests);
	return check_run(suite);
}
