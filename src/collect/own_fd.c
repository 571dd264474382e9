/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/own_fd.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/util.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* on every architecture */
#endif
enum {
	UNSHARE = 2,  /* CLOSE_RANGE_UNSHARE, for older headers */
	FD_MIN = 500, /* programs count on the low numbers */
	FD_ROOM = 16, /* … and on those below their limit, as far as they go */
	FD_MAX = 1 << 20,
};

/* This thread has a table of its own. */
static __thread bool isolated __attribute__((tls_model("initial-exec")));

/* ---- system calls ---- */

/* In a program with ThreadSanitizer libc's functions are its own, which take descriptors of equal
 * numbers for the same ones and report races between our table and the program's. errno as ever. */
static int raw_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static int raw_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st); /* libc's struct is the kernel's, with 64 bits */
}

static void raw_close(int fd)
{
	syscall(SYS_close, fd);
}

ssize_t own_fd_read_file(const char *path, char *text, size_t size)
{
	int fd = raw_open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = syscall(SYS_read, fd, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	raw_close(fd);
	return n < 0 ? -errno : n;
}

void own_fd_wait(const struct own_fd *o, int ms)
{
	struct pollfd p = {.fd = o->fd, .events = POLLOUT};
	struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

	syscall(SYS_ppoll, &p, 1, &t, NULL, 0);
}

/* ---- the table ---- */

struct dirent64_head {
	uint64_t ino, off;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Close all that the copy of the table holds; no opendir(), which allocates. */
static void close_listed(int list)
{
	_Alignas(uint64_t) char buf[2048];
	ssize_t n, at;

	while ((n = syscall(SYS_getdents64, list, buf, sizeof(buf))) > 0) {
		for (at = 0; at < n;) {
			const struct dirent64_head *e = (const void *)(buf + at);
			int fd = atoi(e->name);

			if (*e->name != '.' && fd != list)
				raw_close(fd);
			at += e->length;
		}
	}
}

/* No /proc: every number that there can be, but for those above a lowered limit. */
static void close_all_numbers(void)
{
	struct rlimit limit = {.rlim_cur = FD_MIN};
	int fd;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (fd = 0; fd < (int)MIN(limit.rlim_cur, (rlim_t)FD_MAX); fd++)
		raw_close(fd);
}

static bool table_copy_and_empty(void)
{
	int list;

	if (unshare(CLONE_FILES) < 0)
		return false;
	raw_close(STDIN_FILENO); /* of the copy: the table may be full */
	list = raw_open("/proc/thread-self/fd", O_RDONLY | O_DIRECTORY);
	if (list >= 0) {
		close_listed(list);
		raw_close(list);
	} else {
		close_all_numbers();
	}
	return true;
}

bool own_fd_isolate(void)
{
	int i;

	/* The kernel makes the new table empty: nothing of the program's is held for a moment. */
	if (syscall(SYS_close_range, 0, ~0u, UNSHARE) < 0 && !table_copy_and_empty())
		return false;
	/* What libc says in distress goes to 2, which must not be the pipe. */
	for (i = 0; i <= STDERR_FILENO; i++)
		if (raw_open("/dev/null", O_RDWR) < 0)
			break;
	isolated = true;
	return true;
}

/* ---- a descriptor ---- */

static bool is_file(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return raw_fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static bool is_ours(const struct own_fd *o)
{
	return o->fd >= 0 && (isolated || is_file(o->fd, o->dev, o->ino));
}

/* As high a number as the limit lets us have: the program meets it last. */
static int move_up(int fd)
{
	struct rlimit limit;
	int min = FD_MIN;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FD_MIN + FD_ROOM)
		min = limit.rlim_cur > 2 * FD_ROOM ? (int)limit.rlim_cur - FD_ROOM : FD_ROOM;
	return fcntl(fd, F_DUPFD_CLOEXEC, min);
}

/* In the program's table: away from low numbers. The file, or -1. */
static int settle(int fd, const struct stat *want)
{
	int high = move_up(fd);

	/* A program that closes all descriptors closes the low one too, and may have opened
	 * something else under its number by now: then that is not ours to close. */
	if (is_file(fd, want->st_dev, want->st_ino))
		raw_close(fd);
	if (high < 0 || is_file(high, want->st_dev, want->st_ino))
		return high;
	raw_close(high);
	return -1;
}

bool own_fd_open(struct own_fd *o, const char *path, int flags, mode_t type)
{
	struct stat want;
	int fd;

	if (is_ours(o))
		return true;
	o->fd = -1; /* not ours any more: not closed */
	/* What must exist is looked at first: to open something else may have effects. */
	if (!(flags & O_CREAT) && (stat(path, &want) < 0 || (want.st_mode & S_IFMT) != type))
		return false;
	fd = raw_open(path, flags);
	if (fd < 0)
		return false;
	if (flags & O_CREAT && (raw_fstat(fd, &want) < 0 || (want.st_mode & S_IFMT) != type)) {
		raw_close(fd);
		return false;
	}
	if (!isolated)
		fd = settle(fd, &want);
	if (fd < 0 || !is_file(fd, want.st_dev, want.st_ino))
		return false;
	*o = (struct own_fd){fd, want.st_dev, want.st_ino};
	return true;
}

struct own_fd own_fd_of(int fd)
{
	struct stat st;

	return fd >= 0 && raw_fstat(fd, &st) == 0 ? (struct own_fd){fd, st.st_dev, st.st_ino}
						  : (struct own_fd){.fd = -1};
}

/* By read() or write(). It is asked for anew whether it is ours: a signal's handler may have closed it. */
static ssize_t transfer(long call, const struct own_fd *o, const void *data, size_t n)
{
	ssize_t r;

	do {
		if (!is_ours(o))
			return -EBADF;
		r = syscall(call, o->fd, data, n);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

ssize_t own_fd_read(const struct own_fd *o, void *data, size_t n)
{
	return transfer(SYS_read, o, data, n);
}

ssize_t own_fd_write(const struct own_fd *o, const void *data, size_t n)
{
	return transfer(SYS_write, o, data, n);
}

int own_fd_append(const struct own_fd *o, const void *data, size_t n, uint64_t *size)
{
	ssize_t r = own_fd_write(o, data, n);

	if (r == (ssize_t)n) {
		*size += n;
		return 0;
	}
	if (r > 0 && is_ours(o))
		syscall(SYS_ftruncate, o->fd, (long)*size);
	return r < 0 ? (int)r : -ENOSPC;
}

void own_fd_close(struct own_fd *o)
{
	if (is_ours(o))
		raw_close(o->fd);
	o->fd = -1;
}
