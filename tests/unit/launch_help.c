/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch_help.h"
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "base/util.h"
#include "launch/session_dir.h"

char scratch[64];

void scratch_make(void)
{
	snprintf(scratch, sizeof(scratch), "/tmp/test-launch-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	setenv("XDG_RUNTIME_DIR", scratch, 1);
	setenv("TMPDIR", scratch, 1);
}

int count_sessions(void)
{
	char path[128];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/proton", scratch);
	d = opendir(path);
	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

void scratch_remove(void)
{
	ck_assert_int_eq(count_sessions(), 0);
	ck_assert_int_eq(session_dir_remove(scratch), 0);
}

static char *next_path(void)
{
	static char paths[4][PATH_MAX];
	static unsigned n;

	return paths[n++ % 4];
}

const char *in_scratch(const char *name)
{
	char *path = next_path();

	snprintf(path, PATH_MAX, "%s/%s", scratch, name);
	return path;
}

const char *test_program(const char *name)
{
	char *path = next_path(), *slash;
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	slash = strrchr(path, '/');
	snprintf(slash + 1, PATH_MAX - (size_t)(slash + 1 - path), "../programs/%s", name);
	return path;
}

const char *file_text(const char *path)
{
	static char text[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[len] = '\0';
	return text;
}

void write_file(const char *path, const void *data, size_t len, unsigned mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void nap(void)
{
	poll(NULL, 0, 2);
}

void set_signal(int sig, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	(void)sigaction(sig, &action, NULL);
}

bool is_dead(pid_t pid)
{
	unsigned long long ticks;

	return process_start_time(pid, &ticks) == -ESRCH;
}
