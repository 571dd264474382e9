/* SPDX-License-Identifier: MIT */
/* Names of what is no file, too: nothing is waited for that does not come, nothing else is opened. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/util.h"
#include "check_main.h"

static char folder[] = "/tmp/test_named_file.XXXXXX";

static void setup(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert(mkdtemp(folder) && chdir(folder) == 0);
	ck_assert(mkfifo("fifo", 0600) == 0 && symlink("file", "link") == 0 &&
		  symlink("fifo", "to_fifo") == 0);
	ck_assert(fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0);
	close(fd);
	fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(fd_write_all(fd, "in it", 5), 0);
	close(fd);
}

static void teardown(void)
{
	static const char *const names[] = {"fifo", "link", "to_fifo", "socket", "file"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	rmdir(folder);
}

static const struct {
	const char *path;
	int as_file, as_input; /* 0, -errno */
} names[] = {
	{"file", 0, 0},
	{"link", 0, 0},
	{"/proc/self/status", 0, 0},
	{"absent", -ENOENT, -ENOENT},
	{".", -EISDIR, -EISDIR},
	{"fifo", -ENODEV, -ENXIO},
	{"to_fifo", -ENODEV, -ENXIO},
	{"socket", -ENODEV, -ENODEV},
	{"/dev/zero", -ENODEV, -ENODEV},
	{"/dev/null", -ENODEV, 0},
};

START_TEST(what_may_be_opened)
{
	int fd = regular_open(names[_i].path, O_RDONLY, NULL);

	ck_assert_int_eq(MIN(fd, 0), names[_i].as_file);
	if (fd >= 0) {
		ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
	}
	fd = input_open(names[_i].path, 0);
	ck_assert_int_eq(MIN(fd, 0), names[_i].as_input);
	closep(&fd);
}
END_TEST

static void expect_text(int fd, const char *text)
{
	_cleanup_(buf_done) struct buf b = {0};

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(buf_read(&b, fd), 0);
	ck_assert_str_eq(buf_str(&b), text);
	close(fd);
}

START_TEST(links_are_refused_on_request)
{
	struct stat st;

	ck_assert_int_eq(regular_open("link", O_RDONLY | O_NOFOLLOW, NULL), -ELOOP);
	expect_text(regular_open("file", O_RDWR | O_NOFOLLOW, &st), "in it");
	ck_assert_int_eq(st.st_size, 5);
}
END_TEST

/* The number that it gets is another file in the process. */
static void *open_alone(void *unused)
{
	int other = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (unshare(CLONE_FILES) < 0)
		return unused;
	close(other);
	expect_text(regular_open("file", O_RDONLY, NULL), "in it");
	return unused;
}

START_TEST(of_a_thread_with_its_own_descriptors)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, open_alone, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(a_pipe_blocks_for_its_writer)
{
	char path[32];
	int ends[2], fd;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	fd = input_open(path, 0); /* it has written nothing yet */
	ck_assert_int_ge(fd, 0);
	ck_assert(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	ck_assert_int_eq(fd_write_all(ends[1], "later", 5), 0);
	close(ends[1]);
	expect_text(fd, "later");
	expect_text(input_open(path, 0), ""); /* nobody will */
}
END_TEST

/* Opens when somebody reads: input_open() does by then. */
static void *write_slowly(void *text)
{
	int fd = open("fifo", O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(fd_write_all(fd, text, strlen(text)), 0);
	close(fd);
	return NULL;
}

START_TEST(a_fifo_is_waited_for)
{
	static char text[] = "through it", nothing[] = "";
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, write_slowly, text), 0);
	expect_text(input_open("fifo", 60000), text);
	pthread_join(thread, NULL);
	ck_assert_int_eq(pthread_create(&thread, NULL, write_slowly, nothing), 0);
	expect_text(input_open("fifo", 60000), nothing);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_writer_may_be_silent)
{
	int keeps = open("fifo", O_RDWR | O_CLOEXEC), fd = input_open("fifo", 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fd_write_all(keeps, "at last", 7), 0);
	close(keeps);
	expect_text(fd, "at last");
}
END_TEST

START_TEST(errors_have_words)
{
	ck_assert_str_eq(open_error(-ENXIO), "a FIFO that nobody writes into");
	ck_assert_str_eq(open_error(-ENODEV), "neither a file nor a pipe");
	ck_assert_str_eq(open_error(-ENOENT), strerror(ENOENT));
	ck_assert_str_eq(regular_open_error(-ENODEV), "it is no regular file");
	ck_assert_str_eq(regular_open_error(-ENOENT), strerror(ENOENT));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("named_file");
	TCase *tc = tcase_create("named_file");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, what_may_be_opened, 0, (int)ARRAY_SIZE(names));
	tcase_add_test(tc, links_are_refused_on_request);
	tcase_add_test(tc, of_a_thread_with_its_own_descriptors);
	tcase_add_test(tc, a_pipe_blocks_for_its_writer);
	tcase_add_test(tc, a_fifo_is_waited_for);
	tcase_add_test(tc, a_writer_may_be_silent);
	tcase_add_test(tc, errors_have_words);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
