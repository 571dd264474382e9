/* SPDX-License-Identifier: MIT */
/* Lines that a cubin knows, put into the PTX that it holds: they are those that its compiler had said. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "images/cubin.h"
#include "override/ptx_lines.h"
#include "ptx/probe.h"

static struct buf cubin, ptx, said;

static void read_sample(const char *name, struct buf *ret)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", IMAGES, name);
	f = fopen(path, "rbe");
	ck_assert_ptr_nonnull(f);
	buf_clear(ret);
	ck_assert_int_eq(buf_read(ret, fileno(f)), 0);
	fclose(f);
}

static struct elf_part whole(void)
{
	return (struct elf_part){(const uint8_t *)cubin.data, cubin.len};
}

static void read_ptx_of(const char *name)
{
	read_sample(name, &cubin);
	buf_clear(&ptx);
	ck_assert_int_eq(cubin_ptx(whole(), &ptx), 0);
}

static void teardown(void)
{
	buf_done(&cubin);
	buf_done(&ptx);
	buf_done(&said);
}

/* "loop@a.cu:3 a.cu:3, …": what is probed by some rules. */
static void list(const struct buf *text, const char *rules_said, struct buf *ret)
{
	struct buf why = {0};
	struct ptx_rules *rules = NULL;
	struct ptx_probed probed;

	ck_assert_int_eq(ptx_rules_said(rules_said, &rules, &why), 0);
	ck_assert_int_eq(ptx_probe(text->data, text->len, rules, NULL, &probed), 0);
	for (size_t i = 0; i < probed.n_places; i++)
		buf_printf(ret, "%s %s:%u, ", probed.place[i].scope,
			   probed.place[i].file ? probed.place[i].file : "?", probed.place[i].line);
	ptx_probed_done(&probed);
	ptx_rules_free(rules);
	buf_done(&why);
}

static void is_same(const char *rules)
{
	_cleanup_(buf_done) struct buf has = {0}, should = {0};

	list(&ptx, rules, &has);
	list(&said, rules, &should);
	ck_assert_str_ne(buf_str(&should), "");
	ck_assert_str_eq(buf_str(&has), buf_str(&should));
}

START_TEST(what_the_compiler_said)
{
	static const char *const rules[] = {"func,loop", "loop:iter", "bar,st",
					    "loc inlined.cu:5-6", /* within what is inlined */
					    "loc inlined.cu:21"}; /* what is inlined there */

	read_ptx_of("inlined.cubin");
	ck_assert_int_eq(ptx_lines_put(whole(), &ptx), 0);
	read_sample("inlined.ptx", &said);
	is_same(rules[_i]);
}
END_TEST

/* Loops have the names of their lines, which they had not. */
START_TEST(loops_by_lines)
{
	_cleanup_(buf_done) struct buf before = {0}, after = {0};

	read_ptx_of("inlined.cubin");
	list(&ptx, "loop", &before);
	ck_assert_int_eq(ptx_lines_put(whole(), &ptx), 0);
	list(&ptx, "loop", &after);
	ck_assert_ptr_nonnull(strstr(buf_str(&before), "loop@ptx:"));
	ck_assert_ptr_null(strstr(buf_str(&before), "inlined.cu"));
	ck_assert_ptr_null(strstr(buf_str(&after), "loop@ptx:"));
	ck_assert_ptr_nonnull(strstr(buf_str(&after), "loop@inlined.cu:"));
	ck_assert_ptr_nonnull(strstr(buf_str(&ptx), "inlined.cu\""));
}
END_TEST

/* One section has the names; the one that the cubin's text had is empty. */
START_TEST(no_remains)
{
	static const char word[] = ".section";
	const char *first;

	read_ptx_of("inlined.cubin");
	ck_assert_ptr_nonnull(strstr(buf_str(&ptx), "$L__info_string0"));
	ck_assert_int_eq(ptx_lines_put(whole(), &ptx), 0);
	ck_assert_ptr_null(strstr(buf_str(&ptx), "$L__info_string0"));
	first = strstr(buf_str(&ptx), word);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(first + 1, word));
	ck_assert_ptr_nonnull(strstr(first, "$proton_name_1:"));
}
END_TEST

START_TEST(no_rows)
{
	char *at;

	read_ptx_of("inlined.cubin");
	at = memmem(cubin.data, cubin.len, ".nv_debug_line_sass", strlen(".nv_debug_line_sass"));
	ck_assert_ptr_nonnull(at);
	at[1] = 'x';
	buf_clear(&said);
	buf_put(&said, ptx.data, ptx.len);
	ck_assert_int_eq(ptx_lines_put(whole(), &ptx), 0);
	ck_assert_str_eq(buf_str(&ptx), buf_str(&said));
}
END_TEST

START_TEST(no_cubin)
{
	read_ptx_of("inlined.cubin");
	buf_clear(&said);
	buf_put(&said, ptx.data, ptx.len);
	cubin.len /= 2;
	ck_assert_int_eq(ptx_lines_put(whole(), &ptx), 0);
	ck_assert_int_eq(ptx_lines_put((struct elf_part){(const uint8_t *)"", 0}, &ptx), 0);
	ck_assert_uint_eq(ptx.len, said.len);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ptx_lines");
	TCase *t = tcase_create("ptx_lines");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, what_the_compiler_said, 0, 5);
	tcase_add_test(t, loops_by_lines);
	tcase_add_test(t, no_remains);
	tcase_add_test(t, no_rows);
	tcase_add_test(t, no_cubin);
	suite_add_tcase(s, t);
	return check_run(s);
}
