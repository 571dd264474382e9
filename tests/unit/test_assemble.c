/* SPDX-License-Identifier: MIT */
/* Assembling: who does not end in time, is told too much, or is not there; and what is read of messages. Who assembles is a script. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assemble/assemble.h"
#include "base/util.h"
#include "check_main.h"

#define PTX ".version 8.0\n.target sm_90a\n.entry k() { ret; }\n"

static char folder[] = "/tmp/proton-test-assemble.XXXXXX";
static char script[sizeof(folder) + 16];
static const struct elf_part ptx = {(const uint8_t *)PTX, sizeof(PTX) - 1};

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(script, sizeof(script), "%s/ptxas", folder);
}

static void teardown(void)
{
	unlink(script);
	rmdir(folder);
}

static void write_script(const char *text)
{
	FILE *f = fopen(script, "we");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "#!/bin/sh\n%s\n", text);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(script, 0700), 0);
}

START_TEST(a_cubin_comes_back)
{
	struct assembled a;

	/* ptxas -v IN -o OUT … */
	write_script("cat \"$2\" >\"$4\"; echo \"$5 $6\"; echo said >&2");
	ck_assert_int_eq(image_assemble(ptx, &(struct assemble_options){.ptxas = script}, &a), 0);
	ck_assert_uint_eq(a.cubin.len, ptx.size);
	ck_assert_mem_eq(a.cubin.data, ptx.at, ptx.size);
	ck_assert_str_eq(buf_str(&a.messages), "-arch=sm_90a \nsaid\n");
	ck_assert_str_eq(a.by, "ptxas");
	ck_assert_uint_eq(a.why.len, 0);
	assembled_done(&a);
}
END_TEST

START_TEST(who_does_not_end)
{
	struct assembled a;

	write_script("exec tail -f /dev/null");
	ck_assert_int_eq(
		image_assemble(ptx, &(struct assemble_options){.ptxas = script, .limit_ms = 200},
			       &a),
		-ETIMEDOUT);
	ck_assert_str_eq(buf_str(&a.why), "ptxas did not end within 1 s");
	ck_assert_uint_eq(a.cubin.len, 0);
	assembled_done(&a);
}
END_TEST

static void count(void *data, unsigned ms)
{
	unsigned *n = data;

	*n += ms < ASSEMBLE_MS;
}

START_TEST(who_waits_is_told)
{
	unsigned n = 0;
	const struct probe_waiting waiting = {count, &n};
	struct assembled a;

	write_script("exec tail -f /dev/null");
	ck_assert_int_eq(image_assemble(ptx,
					&(struct assemble_options){.ptxas = script,
								   .limit_ms = 200,
								   .waiting = &waiting},
					&a),
			 -ETIMEDOUT);
	ck_assert_uint_gt(n, 0);
	assembled_done(&a);
}
END_TEST

START_TEST(too_many_options)
{
	const char *more[80] = {NULL};
	struct assembled a;

	for (size_t i = 0; i + 1 < ARRAY_SIZE(more); i++)
		more[i] = "-O3";
	write_script("echo code >\"$4\"");
	ck_assert_int_eq(
		image_assemble(ptx, &(struct assemble_options){.ptxas = script, .options = more},
			       &a),
		-E2BIG);
	assembled_done(&a);
	more[50] = NULL;
	ck_assert_int_eq(
		image_assemble(ptx, &(struct assemble_options){.ptxas = script, .options = more},
			       &a),
		0);
	assembled_done(&a);
}
END_TEST

START_TEST(what_is_not_there)
{
	struct assembled a;

	ck_assert_int_eq(image_assemble(ptx, &(struct assemble_options){.ptxas = "/nowhere"}, &a),
			 -ENOENT);
	ck_assert_uint_gt(a.why.len, 0);
	assembled_done(&a);
	ck_assert_int_eq(image_assemble((struct elf_part){(const uint8_t *)"text", 4},
					&(struct assemble_options){.ptxas = script}, &a),
			 -EBADMSG);
	ck_assert_str_eq(buf_str(&a.why), "it is no PTX");
	assembled_done(&a);
}
END_TEST

/* What is said of one twice holds as it was said first; the last message may end anywhere. */
START_TEST(what_many_spill)
{
	struct assembled a = {0};
	struct spills s;
	char name[16];

	for (unsigned i = 0; i < 2000; i++)
		buf_printf(&a.messages,
			   "ptxas info    : Function properties for k%u\n    0 bytes stack frame, "
			   "%u bytes spill stores, %u bytes spill loads\n",
			   i % 1000, i, 2 * i);
	buf_puts(&a.messages, "ptxas info    : Function properties for last");
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		ck_assert(assembled_spills(&a, name, strlen(name), &s));
		ck_assert_uint_eq(s.stores_bytes, i);
		ck_assert_uint_eq(s.loads_bytes, 2 * i);
	}
	ck_assert(!assembled_spills(&a, "k1000", 5, &s));
	ck_assert(!assembled_spills(&a, "last", 4, &s));
	assembled_done(&a);
}
END_TEST

START_TEST(what_is_spilled)
{
	static const char text[] =
		"ptxas info    : Function properties for k\n"
		"    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
		"ptxas info    : Function properties for kernel\n"
		"ptxas         .     0 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads\n"
		"ptxas info    : Function properties for none\n"
		"ptxas info    : Used 10 registers\n";
	struct assembled a = {0}, silent = {0};
	struct spills s;

	ck_assert(!assembled_spills(&silent, "k", 1, &s));
	assembled_done(&silent);
	buf_puts(&a.messages, text);
	ck_assert(assembled_spills(&a, "k", 1, &s));
	ck_assert_uint_eq(s.stores_bytes, 4);
	ck_assert_uint_eq(s.loads_bytes, 12);
	ck_assert(assembled_spills(&a, "kernel", 6, &s));
	ck_assert_uint_eq(s.stores_bytes, 1);
	ck_assert(!assembled_spills(&a, "none", 4, &s));
	ck_assert(!assembled_spills(&a, "kern", 4, &s));
	assembled_done(&a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("assemble");
	TCase *tc = tcase_create("assemble");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_cubin_comes_back);
	tcase_add_test(tc, who_does_not_end);
	tcase_add_test(tc, who_waits_is_told);
	tcase_add_test(tc, too_many_options);
	tcase_add_test(tc, what_is_not_there);
	tcase_add_test(tc, what_is_spilled);
	tcase_add_test(tc, what_many_spill);
	suite_add_tcase(s, tc);
	return check_run(s);
}
