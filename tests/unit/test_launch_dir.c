/* SPDX-License-Identifier: MIT */
/* The session directory, the sweep of leftovers, and the ring file of the log. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "check_main.h"
#include "launch/log_ring.h"
#include "launch/session_dir.h"
#include "launch_help.h"

/* ---- the directory ---- */

static unsigned mode_of(const struct session_dir *dir, const char *name)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir->path, name);
	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode;
}

static struct session_dir *make_dir(void)
{
	struct session_dir *dir = NULL;

	ck_assert_int_eq(session_dir_new(&dir), 0);
	return dir;
}

START_TEST(test_new)
{
	struct session_dir *dir;
	char path[512], byte;

	umask(0);
	dir = make_dir();
	ck_assert_uint_eq(mode_of(dir, ""), S_IFDIR | 0700);
	ck_assert_uint_eq(mode_of(dir, "stream"), S_IFIFO | 0600);
	ck_assert_uint_eq(mode_of(dir, "control"), S_IFREG | 0600);
	ck_assert_uint_eq(dir->control->magic, CONTROL_MAGIC);
	ck_assert_uint_eq(dir->control->version, CONTROL_VERSION);
	ck_assert_uint_eq(dir->control->period_ms, 100);
	ck_assert_uint_eq(dir->control->alive, 1);
	ck_assert_uint_ge(dir->stream_bytes, 4096);
	/* Empty, it is neither at its end nor does reading wait; a writer's end is no end. */
	ck_assert_int_eq(read(dir->stream_fd, &byte, 1), -1);
	ck_assert_int_eq(errno, EAGAIN);
	snprintf(path, sizeof(path), "%s/stream", dir->path);
	close(open(path, O_WRONLY | O_NONBLOCK));
	ck_assert_int_eq(read(dir->stream_fd, &byte, 1), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	ck_assert_int_eq(access(dir->path, F_OK), -1);
	session_dir_free(dir);
}
END_TEST

START_TEST(test_stranger_umask)
{
	struct session_dir *dir;

	umask(0777);
	dir = make_dir();
	ck_assert_uint_eq(mode_of(dir, "stream"), S_IFIFO | 0600);
	ck_assert_uint_eq(umask(022), 0777);
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	session_dir_free(dir);
}
END_TEST

/* Where the runtime folder cannot be trusted, or is too long a name, the next one serves. */
START_TEST(test_where)
{
	char longer[300] = "";
	struct session_dir *dir;

	mkdir(in_scratch("open"), 0700);
	chmod(in_scratch("open"), 0777);
	setenv("XDG_RUNTIME_DIR", in_scratch("open"), 1);
	dir = make_dir();
	ck_assert(!strncmp(dir->path, scratch, strlen(scratch)));
	ck_assert_ptr_null(strstr(dir->path, "/open/"));
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	session_dir_free(dir);

	memset(longer, 'x', 230);
	mkdir(in_scratch(longer), 0700);
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	setenv("TMPDIR", in_scratch(longer), 1);
	dir = make_dir();
	ck_assert_uint_lt(strlen(dir->path), 256);
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	session_dir_free(dir);
}
END_TEST

START_TEST(test_remove_all)
{
	struct session_dir *dir = make_dir();
	char path[512];

	write_file(in_scratch("kept"), "x", 1, 0600);
	snprintf(path, sizeof(path), "%s/1.segment", dir->path);
	write_file(path, "x", 1, 0400);
	snprintf(path, sizeof(path), "%s/sub", dir->path);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/sub/file", dir->path);
	write_file(path, "x", 1, 0600);
	snprintf(path, sizeof(path), "%s/link", dir->path);
	ck_assert_int_eq(symlink(scratch, path), 0);
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	ck_assert_int_eq(access(dir->path, F_OK), -1);
	ck_assert_str_eq(file_text(in_scratch("kept")), "x");
	session_dir_free(dir);

	/* Not ours: open to others; a link. */
	mkdir(in_scratch("d"), 0755);
	chmod(in_scratch("d"), 0755);
	ck_assert_int_eq(session_dir_remove(in_scratch("d")), -EPERM);
	ck_assert_int_eq(symlink(scratch, in_scratch("l")), 0);
	ck_assert_int_lt(session_dir_remove(in_scratch("l")), 0);
	chmod(in_scratch("d"), 0700);
}
END_TEST

START_TEST(test_start_time)
{
	unsigned long long a = 0, b = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(process_start_time(getpid(), &a), 0);
	ck_assert_int_eq(process_start_time(getpid(), &b), 0);
	ck_assert_uint_eq(a, b);
	wait_until(is_dead(pid)); /* a zombie */
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(process_start_time(pid, &a), -ESRCH);
}
END_TEST

/* ---- leftovers ---- */

#define DAY 86400

static int sweep(unsigned keep_s)
{
	return session_dir_sweep_in(in_scratch("proton"), keep_s);
}

/* A process that makes a directory, names a target and dies without a word. */
static void die_with_directory(pid_t target)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct session_dir *dir = NULL;

		if (session_dir_new(&dir) < 0 || (target && session_dir_set_target(dir, target)))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void stop_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

START_TEST(test_sweep_by_target)
{
	pid_t target = start_sleeper();

	die_with_directory(target);
	ck_assert_int_eq(sweep(DAY), 0); /* the target may want it */
	stop_sleeper(target);
	ck_assert_int_eq(sweep(DAY), 1);
	ck_assert_int_eq(count_sessions(), 0);
}
END_TEST

START_TEST(test_sweep_by_age)
{
	pid_t target = start_sleeper();

	die_with_directory(target);
	ck_assert_int_eq(sweep(DAY), 0);
	ck_assert_int_eq(sweep(0), 1);
	stop_sleeper(target);
}
END_TEST

/* In the one directory that there is. */
static int open_in_directory(const char *name, int flags)
{
	char path[512] = "";
	DIR *d = opendir(in_scratch("proton"));
	struct dirent *e;
	int fd;

	ck_assert(d != NULL);
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "proton-", 7))
			snprintf(path, sizeof(path), "%s/%s/%s", in_scratch("proton"), e->d_name,
				 name);
	closedir(d);
	fd = open(path, flags | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* Its maker died before it had a target: perhaps there is one. */
START_TEST(test_sweep_without_target)
{
	int reader, writer;

	die_with_directory(0);
	close(open_in_directory("0123456789abcdef-0.session", O_CREAT | O_WRONLY));
	ck_assert_int_eq(sweep(DAY), 1); /* it has nothing, and nobody has it */
	/* A collector is there, with frames or without. */
	die_with_directory(0);
	reader = open_in_directory("stream", O_RDONLY | O_NONBLOCK);
	writer = open_in_directory("stream", O_WRONLY | O_NONBLOCK);
	close(reader);
	ck_assert_int_eq(sweep(DAY), 0);
	reader = open_in_directory("stream", O_RDONLY | O_NONBLOCK);
	ck_assert_int_eq(write(writer, "frame", 5), 5);
	ck_assert_int_eq(sweep(DAY), 0);
	close(writer);
	close(reader);
	/* One that is gone has left what it had to say. */
	close(open_in_directory("0123456789abcdef.rest", O_CREAT | O_WRONLY));
	ck_assert_int_eq(sweep(DAY), 0);
	ck_assert_int_eq(sweep(0), 1);
}
END_TEST

/* Ours, and one whose maker died but whose lock a child (the keeper) inherited. */
START_TEST(test_sweep_spares_the_living)
{
	struct session_dir *dir = make_dir();
	int ready[2], go[2];
	char byte;
	pid_t maker;

	ck_assert_int_eq(sweep(0), 0);
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	session_dir_free(dir);

	ck_assert(pipe(ready) == 0 && pipe(go) == 0);
	maker = fork();
	if (maker == 0) {
		close(go[1]);
		dir = make_dir();
		if (fork() == 0) { /* the keeper */
			close(ready[0]);
			(void)!write(ready[1], "x", 1);
			(void)!read(go[0], &byte, 1);
			_exit(0);
		}
		_exit(0);
	}
	close(ready[1]);
	waitpid(maker, NULL, 0);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(sweep(0), 0);
	close(go[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0); /* it is dead */
	wait_until(sweep(0) == 1);
}
END_TEST

/* A name alone is not enough. */
START_TEST(test_sweep_spares_others)
{
	char name[64];

	mkdir(in_scratch("proton"), 0700);
	mkdir(in_scratch("proton/other"), 0700);
	snprintf(name, sizeof(name), "proton/proton-%u-1-abcdef", (unsigned)geteuid());
	mkdir(in_scratch(name), 0755);
	chmod(in_scratch(name), 0755);
	ck_assert_int_eq(sweep(0), 0);
	chmod(in_scratch(name), 0700);
	ck_assert_int_eq(sweep(DAY), 0); /* its maker is just about to write "owner" */
	ck_assert_int_eq(sweep(0), 1);
	ck_assert_int_eq(rmdir(in_scratch("proton/other")), 0);
}
END_TEST

/* ---- the ring ---- */

static char pattern(uint64_t offset)
{
	return (char)('!' + (offset * 7 + offset / 93) % 90);
}

static void append(struct log_ring *ring, size_t len)
{
	uint64_t at = log_ring_end(ring);
	_cleanup_(freep) char *data = malloc(len);

	for (size_t i = 0; i < len; i++)
		data[i] = pattern(at + i);
	log_ring_append(ring, data, len);
}

/* All that is there is what was written. */
static void check_ring(struct log_ring *ring)
{
	uint64_t at = log_ring_start(ring);
	char data[100];
	ssize_t n;

	while ((n = log_ring_read(ring, at, data, sizeof(data))) > 0)
		for (ssize_t i = 0; i < n; i++, at++)
			ck_assert_int_eq(data[i], pattern(at));
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(at, log_ring_end(ring));
}

START_TEST(test_ring)
{
	static const size_t lengths[] = {1, 999, 1, 1000, 1500, 1, 0, 333, 4000, 700};
	struct log_ring *writer = NULL, *reader = NULL;
	uint64_t total = 0;
	char byte;

	ck_assert_int_eq(log_ring_create(in_scratch("log"), 1000, &writer), 0);
	ck_assert_int_eq(log_ring_open(in_scratch("log"), &reader), 0);
	check_ring(reader);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		append(writer, lengths[i]);
		total += lengths[i];
		ck_assert_uint_eq(log_ring_end(reader), total);
		ck_assert_uint_eq(log_ring_start(reader), total > 1000 ? total - 1000 : 0);
		check_ring(reader);
	}
	ck_assert_int_eq(log_ring_read(reader, 0, &byte, 1), -ESTALE);
	ck_assert_uint_eq(log_ring_lost(reader), 0);
	log_ring_free(writer);
	log_ring_free(reader);
}
END_TEST

START_TEST(test_ring_wakes_once)
{
	struct log_ring *ring = NULL;

	ck_assert_int_eq(log_ring_create(in_scratch("log"), 1000, &ring), 0);
	ck_assert_int_eq(log_ring_wanted(ring), 0);
	log_ring_want(ring);
	ck_assert_int_eq(log_ring_wanted(ring), 1);
	ck_assert_int_eq(log_ring_wanted(ring), 0);
	log_ring_free(ring);
	write_file(in_scratch("log"), "not a ring", 10, 0600);
	ck_assert_int_eq(log_ring_open(in_scratch("log"), &ring), -EINVAL);
	ck_assert_int_eq(truncate(in_scratch("log"), 8192), 0);
	ck_assert_int_eq(log_ring_open(in_scratch("log"), &ring), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launch_dir");
	TCase *t = tcase_create("dir");

	tcase_add_checked_fixture(t, scratch_make, scratch_remove);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, test_new);
	tcase_add_test(t, test_stranger_umask);
	tcase_add_test(t, test_where);
	tcase_add_test(t, test_remove_all);
	tcase_add_test(t, test_start_time);
	tcase_add_test(t, test_sweep_by_target);
	tcase_add_test(t, test_sweep_by_age);
	tcase_add_test(t, test_sweep_without_target);
	tcase_add_test(t, test_sweep_spares_the_living);
	tcase_add_test(t, test_sweep_spares_others);
	tcase_add_test(t, test_ring);
	tcase_add_test(t, test_ring_wakes_once);
	suite_add_tcase(suite, t);
	return check_run(suite);
}
