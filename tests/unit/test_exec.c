/* SPDX-License-Identifier: MIT */
/* The exec functions that take the place of libc's: arguments, environment, errors. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "check_main.h"

/* $0 and two arguments: "a b" must stay one. */
#define SCRIPT "test \"$0\" = zero && test \"$1\" = 'a b' && test \"$2\" = c && test $# = 2"
static char sh[] = "sh", option[] = "-c", plain[] = SCRIPT " && exit 42",
	    coloured[] = SCRIPT " && test \"$COLOUR\" = red && exit 42", zero[] = "zero",
	    one[] = "a b", two[] = "c", colour[] = "COLOUR=red";
static char *const args[] = {sh, option, plain, zero, one, two, NULL};
static char *const with_env[] = {sh, option, coloured, zero, one, two, NULL};
static char *const env[] = {colour, NULL};

static void by_execve(void)
{
	execve("/bin/sh", with_env, env);
}

static void by_execv(void)
{
	execv("/bin/sh", args);
}

static void by_execvp(void)
{
	execvp("sh", args);
}

static void by_execvpe(void)
{
	execvpe("sh", with_env, env);
}

static void by_fexecve(void)
{
	fexecve(open("/bin/sh", O_RDONLY), with_env, env);
}

static void by_execveat(void)
{
	execveat(open("/bin", O_RDONLY | O_DIRECTORY), "sh", with_env, env, 0);
}

static void by_execl(void)
{
	execl("/bin/sh", sh, option, plain, zero, one, two, (char *)NULL);
}

static void by_execlp(void)
{
	execlp("sh", sh, option, plain, zero, one, two, (char *)NULL);
}

static void by_execle(void)
{
	execle("/bin/sh", sh, option, coloured, zero, one, two, (char *)NULL, env);
}

static void (*const ways[])(void) = {by_execve,   by_execv, by_execvp, by_execvpe, by_fexecve,
				     by_execveat, by_execl, by_execlp, by_execle};

/* Exit status of a child that goes one of the ways. */
static int status_of(void (*way)(void), pid_t child)
{
	int status = 0;

	if (child == 0) {
		way();
		_exit(1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(arguments_and_environment)
{
	ck_assert_int_eq(status_of(ways[_i], fork()), 42);
}
END_TEST

#define W4(x)   x, x, x, x
#define W16(x)  W4(x), W4(x), W4(x), W4(x)
#define W128(x) W16(x), W16(x), W16(x), W16(x), W16(x), W16(x), W16(x), W16(x)

static void many_words(void)
{
	execl("/bin/sh", "sh", "-c", "test $# = 384 && exit 42", "zero", W128("w"), W128("w"),
	      W128("w"), (char *)NULL);
}

START_TEST(more_words_than_anybody_writes)
{
	ck_assert_int_eq(status_of(many_words, fork()), 42);
}
END_TEST

START_TEST(errors_are_libcs)
{
	errno = 0;
	ck_assert_int_eq(execlp("proton-no-such-program", "x", (char *)NULL), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(execl("/", "x", W128("w"), W128("w"), (char *)NULL), -1);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_eq(fexecve(-1, args, env), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exec");
	TCase *c = tcase_create("exec");

	tcase_add_loop_test(c, arguments_and_environment, 0, ARRAY_SIZE(ways));
	tcase_add_test(c, more_words_than_anybody_writes);
	tcase_add_test(c, errors_are_libcs);
	suite_add_tcase(suite, c);
	return check_run(suite);
}
