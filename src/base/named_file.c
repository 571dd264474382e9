/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/named_file.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/util.h"

enum { LOOK_MS = 20 };

/* ---- what it is ---- */

static int look(int folder, const char *path, int flags, struct stat *ret)
{
	int fd = openat(folder, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)), r;

	if (fd < 0)
		return -errno;
	r = fstat(fd, ret) < 0 ? -errno : S_ISLNK(ret->st_mode) ? -ELOOP : 0;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

/* That of a thread with its own table of descriptors is not that of the process. Where there is no /proc, or it is closed
 * to us, it is the name again, and `seen` tells whether it is the same file still. */
static int reopen(int seen, int folder, const char *path, int flags, struct stat *st)
{
	char link[48];
	struct stat now;
	int fd;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", seen);
	fd = open(link, (flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0)
		return fd;
	fd = openat(folder, path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &now) == 0 && same_file(&now, st))
		return fd;
	close(fd);
	return -ESTALE;
}

/* ---- files ---- */

int regular_openat(int folder, const char *path, int flags, struct stat *ret)
{
	struct stat st;
	_cleanup_(closep) int seen = look(folder, path, flags, &st);
	int fd;

	if (seen < 0)
		return seen;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENODEV;
	fd = reopen(seen, folder, path, flags, &st);
	if (fd >= 0 && ret)
		*ret = st;
	return fd;
}

int regular_open(const char *path, int flags, struct stat *ret)
{
	return regular_openat(AT_FDCWD, path, flags, ret);
}

/* ---- pipes ---- */

/* Is there one who may write, or something that was written? Nothing is taken out of it. */
static bool has_writer(int fd, int scratch)
{
	return tee(fd, scratch, 1, SPLICE_F_NONBLOCK) != 0;
}

/* 0: there is one, or was: whoever has written and left is told by a hang-up. */
static int wait_for_writer(int fd, unsigned wait_ms)
{
	struct pollfd p = {.fd = fd};
	int scratch[2], r = 0;

	if (pipe2(scratch, O_CLOEXEC) < 0)
		return -errno;
	for (unsigned ms = 0; !has_writer(fd, scratch[1]) && !(p.revents & POLLHUP);
	     ms += LOOK_MS) {
		if (ms >= wait_ms) {
			r = -ENXIO;
			break;
		}
		(void)poll(&p, 1, LOOK_MS);
	}
	close(scratch[0]);
	close(scratch[1]);
	return r;
}

static int fifo_open(int seen, const char *path, unsigned wait_ms, struct stat *st)
{
	int fd = reopen(seen, AT_FDCWD, path, O_RDONLY | O_NONBLOCK, st), r;
	struct statfs fs;

	if (fd < 0)
		return fd;
	/* One without a name was open for writing when it was made. */
	r = fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC ? 0 : wait_for_writer(fd, wait_ms);
	if (r == 0 && fcntl(fd, F_SETFL, O_RDONLY) == 0)
		return fd;
	r = r < 0 ? r : -errno;
	close(fd);
	return r;
}

int input_open(const char *path, unsigned wait_ms)
{
	struct stat st;
	_cleanup_(closep) int seen = look(AT_FDCWD, path, 0, &st);
	bool is_null;

	if (seen < 0)
		return seen;
	if (S_ISFIFO(st.st_mode))
		return fifo_open(seen, path, wait_ms, &st);
	is_null = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
	if (!S_ISREG(st.st_mode) && !is_null)
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENODEV;
	return reopen(seen, AT_FDCWD, path, O_RDONLY, &st);
}

const char *open_error(int code)
{
	if (code == -ENXIO)
		return "a FIFO that nobody writes into";
	return code == -ENODEV ? "neither a file nor a pipe" : strerror(-code);
}

const char *regular_open_error(int code)
{
	return code == -ENODEV ? "it is no regular file" : strerror(-code);
}
