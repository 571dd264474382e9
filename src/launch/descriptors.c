/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/descriptors.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/util.h"

/* The descriptor that an entry of /proc/self/fd names; -1: another entry. */
static int parse_fd(const char *name)
{
	char *end;
	long fd = strtol(name, &end, 10);

	return *end ? -1 : (int)fd;
}

/* A standard descriptor stays open: the next file would take its number. */
static void let_go(int fd, int null_fd)
{
	if (fd <= STDERR_FILENO)
		(void)dup3(null_fd, fd, O_CLOEXEC);
	else
		close(fd);
}

/* ---- all but a few ---- */

static bool is_in(int fd, const int *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == fd)
			return true;
	return false;
}

void descriptors_keep(const int *kept, size_t n)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = parse_fd(e->d_name);

		if (fd >= 0 && fd != dirfd(d) && fd != null_fd && !is_in(fd, kept, n))
			let_go(fd, null_fd);
	}
	if (d)
		closedir(d);
	if (null_fd > STDERR_FILENO)
		close(null_fd);
}

/* ---- what we were started with ---- */

struct inherited {
	int fd;
	bool keep, locked;
	struct stat st;
};

/* Has this process a record lock by this descriptor? */
static bool holds_lock(int fd)
{
	char path[64], line[256];
	bool held = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && !held && fgets(line, sizeof(line), f))
		held = !strncmp(line, "lock:", 5) && strstr(line, " POSIX ");
	if (f)
		fclose(f);
	return held;
}

/* Those of ours are closed by an exec, those of the user are not. */
static bool look_at(int fd, struct inherited *ret)
{
	int flags = fcntl(fd, F_GETFD);

	*ret = (struct inherited){.fd = fd};
	if (flags < 0 || (flags & FD_CLOEXEC) || fstat(fd, &ret->st) < 0)
		return false;
	ret->locked = S_ISREG(ret->st.st_mode) && holds_lock(fd);
	return true;
}

static struct inherited *list_inherited(size_t *ret_n)
{
	struct inherited *list = NULL, one;
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0, cap = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = parse_fd(e->d_name);

		if (fd < 0 || fd == dirfd(d) || !look_at(fd, &one))
			continue;
		if (ARRAY_ROOM(list, cap, n + 1) < 0)
			break;
		list[n++] = one;
	}
	if (d)
		closedir(d);
	*ret_n = n;
	return list;
}

/* A record lock goes with any descriptor of its file that is closed. */
static bool is_locked(const struct inherited *list, size_t n, const struct stat *st)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].locked && list[i].st.st_dev == st->st_dev &&
		    list[i].st.st_ino == st->st_ino)
			return true;
	return false;
}

void descriptors_release(bool (*keep)(int fd, const void *ctx), const void *ctx)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t n = 0;
	_cleanup_(freep) struct inherited *list = list_inherited(&n);

	for (size_t i = 0; i < n; i++)
		list[i].keep = keep(list[i].fd, ctx) || is_locked(list, n, &list[i].st);
	for (size_t i = 0; i < n; i++)
		if (!list[i].keep)
			let_go(list[i].fd, null_fd);
	if (null_fd > STDERR_FILENO)
		close(null_fd);
}
