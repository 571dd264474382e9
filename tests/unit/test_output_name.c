/* SPDX-License-Identifier: MIT */
/* Names of profiles: their directives, and whose a name is while several runs want it. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "check_main.h"
#include "live/output_name.h"

static char folder[] = "/tmp/proton-name.XXXXXX";

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static const struct {
	const char *pattern, *name; /* NULL: refused, because … */
	const char *why;
} cases[] = {
	{"plain.hatchet", "plain.hatchet", NULL},
	{"%e.%p", "app.77", NULL},
	{"%r-%r", "3-3", NULL},
	{"%q{PROTON_T}%q{PROTON_T}/x", "v/7v/7/x", NULL},
	{"%q{PROTON_EMPTY}x", "x", NULL},
	{"100%%", "100%", NULL},
	{"%%p%%%p", "%p%77", NULL},
	{"%x", NULL, "'%x'"},
	{"a%", NULL, "'%'"},
	{"a%%%", NULL, "'%'"},
	{"%P", NULL, "'%P'"},
	{"%q", NULL, "'%q'"},
	{"%q{", NULL, "'%q'"},
	{"%q{PROTON_T", NULL, "'%q'"},
	{"%q{}", NULL, "'%q'"},
	{"%qPROTON_T}", NULL, "'%q'"},
	{"%q{PROTON_UNSET}", NULL, "'PROTON_UNSET' of the name '%q{PROTON_UNSET}' is not set"},
	{"%q{PROTON_T}%q{PROTON_UNSET}%x", NULL, "'PROTON_UNSET'"},
};

START_TEST(directives)
{
	_cleanup_(freep) char *why = NULL, *name = NULL;

	setenv("RANK", "3", 1);
	setenv("PROTON_T", "v/7", 1);
	setenv("PROTON_EMPTY", "", 1);
	unsetenv("PROTON_UNSET");
	ck_assert_int_eq(output_name_check(cases[_i].pattern, &why), !!cases[_i].name);
	if (!cases[_i].name) {
		ck_assert_ptr_nonnull(strstr(why, cases[_i].why));
		return;
	}
	name = output_name_expand(cases[_i].pattern, "app", 77);
	ck_assert_str_eq(name, cases[_i].name);
}
END_TEST

START_TEST(variable_of_any_length)
{
	char pattern[600] = "%q{";
	_cleanup_(freep) char *why = NULL;

	memset(pattern + 3, 'A', 500);
	strcpy(pattern + 503, "}");
	ck_assert(!output_name_check(pattern, &why));
}
END_TEST

/* Claims of one process do not see each other apart by fcntl(), but OFD locks do. */
START_TEST(one_name_is_of_one)
{
	static const char *const wanted[] = {"./a.b/run.hatchet", "./a.b/run.2.hatchet",
					     "./a.b/run.3.hatchet"};
	struct output_claim claims[4];
	char *names[4];

	ck_assert_int_eq(mkdir("a.b", 0700), 0);
	for (size_t i = 0; i < 3; i++) {
		names[i] = output_claim(&claims[i], wanted[0]);
		ck_assert_str_eq(names[i], wanted[i]);
	}
	output_claim_done(&claims[1]);
	free(names[1]);
	names[1] = output_claim(&claims[1], wanted[0]);
	ck_assert_str_eq(names[1], wanted[1]);
	/* a name of its own that is one of these */
	names[3] = output_claim(&claims[3], wanted[2]);
	ck_assert_str_eq(names[3], "./a.b/run.3.2.hatchet");
	for (size_t i = 0; i < 4; i++) {
		output_claim_done(&claims[i]);
		free(names[i]);
	}
	ck_assert_int_eq(rmdir("a.b"), 0); /* nothing is left */
}
END_TEST

/* The number stands before what tells the format, and there alone. */
START_TEST(where_the_number_stands)
{
	static const char *const names[][2] = {
		{"x", "x.2"}, {".x", ".x.2"}, {"a.b.c", "a.b.2.c"}, {"./x", "./x.2"}};
	struct output_claim one, two;
	_cleanup_(freep) char *first = output_claim(&one, names[_i][0]);
	_cleanup_(freep) char *second = output_claim(&two, names[_i][0]);

	ck_assert_str_eq(first, names[_i][0]);
	ck_assert_str_eq(second, names[_i][1]);
	output_claim_done(&one);
	output_claim_done(&two);
}
END_TEST

START_TEST(a_link_names_the_same_file)
{
	struct output_claim one, two;
	_cleanup_(freep) char *first = NULL, *second = NULL;

	close(open("file", O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(symlink("file", "link"), 0);
	first = output_claim(&one, "file");
	second = output_claim(&two, "link");
	ck_assert_str_eq(second, "link.2");
	output_claim_done(&one);
	output_claim_done(&two);
}
END_TEST

/* What is no file, or cannot be locked, is taken as it is named. */
START_TEST(where_there_are_no_locks)
{
	static const char *const names[] = {"/dev/null", "no/such/folder/x", "fifo", "trap"};
	struct output_claim one, two;
	_cleanup_(freep) char *first = NULL, *second = NULL;

	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(symlink("/etc/passwd", ".proton-trap.lock"), 0);
	first = output_claim(&one, names[_i]);
	second = output_claim(&two, names[_i]);
	ck_assert_str_eq(first, names[_i]);
	ck_assert_str_eq(second, names[_i]);
	output_claim_done(&one);
	output_claim_done(&two);
}
END_TEST

/* Who is killed keeps nothing. */
START_TEST(a_lock_ends_with_its_holder)
{
	struct output_claim claim;
	_cleanup_(freep) char *name = NULL;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (!output_claim(&claim, "run"))
			_exit(1);
		_exit(access(".proton-run.lock", F_OK) == 0 ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	name = output_claim(&claim, "run");
	ck_assert_str_eq(name, "run");
	output_claim_done(&claim);
	ck_assert_int_ne(access(".proton-run.lock", F_OK), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output_name");
	TCase *c = tcase_create("names");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, directives, 0, ARRAY_SIZE(cases));
	tcase_add_test(c, variable_of_any_length);
	tcase_add_test(c, one_name_is_of_one);
	tcase_add_loop_test(c, where_the_number_stands, 0, 4);
	tcase_add_test(c, a_link_names_the_same_file);
	tcase_add_loop_test(c, where_there_are_no_locks, 0, 4);
	tcase_add_test(c, a_lock_ends_with_its_holder);
	suite_add_tcase(suite, c);
	return check_run(suite);
}
