/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/own_fd.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FD_MIN = 500 }; /* programs count on the low numbers */

static bool is_file(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

bool own_fd_is_ours(const struct own_fd *o)
{
	return o->fd >= 0 && is_file(o->fd, o->dev, o->ino);
}

bool own_fd_open(struct own_fd *o, const char *path, int flags, mode_t type)
{
	struct stat want;
	int fd, high;

	if (own_fd_is_ours(o))
		return true;
	o->fd = -1; /* not ours any more: not closed */
	/* What must exist is looked at first: to open something else may have effects. */
	if (!(flags & O_CREAT) && (stat(path, &want) < 0 || (want.st_mode & S_IFMT) != type))
		return false;
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	if (flags & O_CREAT && (fstat(fd, &want) < 0 || (want.st_mode & S_IFMT) != type)) {
		close(fd);
		return false;
	}
	high = fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
	/* A program that closes all descriptors closes the low one too, and may have opened
	 * something else under its number by now: then that is not ours to close. */
	if (high >= 0 && is_file(fd, want.st_dev, want.st_ino))
		close(fd);
	if (high >= 0)
		fd = high;
	if (!is_file(fd, want.st_dev, want.st_ino)) {
		if (high >= 0)
			close(high);
		return false;
	}
	*o = (struct own_fd){fd, want.st_dev, want.st_ino};
	return true;
}

void own_fd_close(struct own_fd *o)
{
	if (own_fd_is_ours(o))
		close(o->fd);
	o->fd = -1;
}
