/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void out_init(struct out *o, out_write_fn *write, void *ctx)
{
	o->write = write;
	o->ctx = ctx;
	o->total = 0;
	o->len = 0;
	o->error = 0;
}

static int write_to_buf(void *ctx, const char *data, size_t len)
{
	struct buf *buf = ctx;

	buf_put(buf, data, len);
	return buf->error;
}

void out_to_buf(struct out *o, struct buf *buf)
{
	out_init(o, write_to_buf, buf);
}

static void wait_until_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	poll(&p, 1, -1);
}

static int write_to_fd(void *ctx, const char *data, size_t len)
{
	int fd = (int)(intptr_t)ctx;

	while (len) {
		ssize_t n = write(fd, data, len);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			wait_until_writable(fd);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

void out_to_fd(struct out *o, int fd)
{
	out_init(o, write_to_fd, (void *)(intptr_t)fd);
}

static void out_write(struct out *o, const char *data, size_t len)
{
	if (o->error || !len)
		return;
	o->error = o->write(o->ctx, data, len);
	o->total += len;
}

int out_flush(struct out *o)
{
	out_write(o, o->data, o->len);
	o->len = 0;
	return o->error;
}

void out_put_slow(struct out *o, const char *data, size_t len)
{
	out_flush(o);
	if (len >= sizeof(o->data)) {
		out_write(o, data, len);
		return;
	}
	memcpy(o->data, data, len);
	o->len = len;
}

void out_printf(struct out *o, const char *format, ...)
{
	char small[512], *large = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(small, sizeof(small), format, ap);
	va_end(ap);
	if (n >= (int)sizeof(small)) {
		va_start(ap, format);
		n = vasprintf(&large, format, ap);
		va_end(ap);
	}
	if (n < 0) {
		if (!o->error)
			o->error = -ENOMEM;
		return;
	}
	out_put(o, large ? large : small, (size_t)n);
	free(large);
}

void out_spaces(struct out *o, size_t n)
{
	static const char spaces[65] =
		"                                                                ";

	for (; n > 64; n -= 64)
		out_put(o, spaces, 64);
	out_put(o, spaces, n);
}

/* The descriptor that a path like /dev/stdout or /proc/self/fd/3 stands for, or -1. Opening such a
 * path anew would start at its beginning when it is a file that others append to. */
static int path_descriptor(const char *path)
{
	static const struct {
		const char *path;
		int fd;
	} names[] = {{"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}};
	char end;
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(path, names[i].path))
			return names[i].fd;
	if (sscanf(path, "/dev/fd/%d%c", &fd, &end) == 1 ||
	    sscanf(path, "/proc/self/fd/%d%c", &fd, &end) == 1)
		return fd;
	return -1;
}

static int fill_fd(int fd, out_fill_fn *fill, void *ctx)
{
	struct out *o = malloc(sizeof(*o));
	int r, flushed;

	if (!o)
		return -ENOMEM;
	out_to_fd(o, fd);
	r = fill(o, ctx);
	flushed = out_flush(o);
	free(o);
	return flushed < 0 ? flushed : r;
}

/* close() is where some file systems report that the disk was full. */
static int fill_and_close(int fd, out_fill_fn *fill, void *ctx)
{
	int r = fill_fd(fd, fill, ctx);

	if (close(fd) < 0 && errno != EINTR && r >= 0)
		r = -errno;
	return r;
}

static int write_directly(const char *path, int flags, out_fill_fn *fill, void *ctx)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);

	if (fd < 0)
		return -errno;
	return fill_and_close(fd, fill, ctx);
}

/* One step along a symbolic link: path becomes what it points to. 1: done so, 0: it is no link. */
static int follow_link(char path[PATH_MAX])
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *slash;
	int dir;

	if (n < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	target[n] = '\0';
	slash = strrchr(path, '/');
	dir = target[0] == '/' || !slash ? 0 : (int)(slash - path) + 1;
	n = snprintf(joined, sizeof(joined), "%.*s%s", dir, path, target);
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path, joined, (size_t)n + 1);
	return 1;
}

static int follow_links(const char *path, char real[PATH_MAX])
{
	size_t len = strlen(path);
	int r;

	if (len >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(real, path, len + 1);
	for (int hops = 0; hops < 40; hops++) {
		if (path_descriptor(real) >= 0)
			return 0;
		r = follow_link(real);
		if (r <= 0)
			return r;
	}
	return -ELOOP;
}

/* A new file in the directory of path. Its name does not grow with that of the file. */
static int create_beside(const char *path, char temp[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;

	for (unsigned i = 0; i < 1000; i++) {
		int fd;

		if (snprintf(temp, PATH_MAX, "%.*s.proton-%ld-%u.tmp", dir, path, (long)getpid(),
			     i) >= PATH_MAX)
			return -ENAMETOOLONG;
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* The new file looks like the old one; a different owner is kept where we may. */
static void copy_permissions(int fd, const struct stat *old)
{
	if (old->st_uid != geteuid() || old->st_gid != getegid()) {
		if (fchown(fd, old->st_uid, old->st_gid) < 0)
			return;
	}
	fchmod(fd, old->st_mode & 0777);
}

static int write_by_rename(const char *path, const struct stat *old, out_fill_fn *fill, void *ctx)
{
	char temp[PATH_MAX];
	int fd = create_beside(path, temp);
	int r;

	/* A file that we may write in a directory that we may not. */
	if ((fd == -EACCES || fd == -EPERM || fd == -EROFS) && old)
		return write_directly(path, O_TRUNC, fill, ctx);
	if (fd < 0)
		return fd;
	if (old)
		copy_permissions(fd, old);
	r = fill_and_close(fd, fill, ctx);
	if (r >= 0 && rename(temp, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temp);
	return r;
}

int write_file_atomic(const char *path, out_fill_fn *fill, void *ctx)
{
	char real[PATH_MAX];
	struct stat st;
	int r = follow_links(path, real);

	if (r < 0)
		return r;
	r = path_descriptor(real);
	if (r >= 0)
		return fill_fd(r, fill, ctx);
	if (stat(real, &st) < 0) {
		if (errno != ENOENT)
			return -errno;
		return write_by_rename(real, NULL, fill, ctx);
	}
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return write_directly(real, 0, fill, ctx);
	if (access(real, W_OK) < 0)
		return -errno;
	return write_by_rename(real, &st, fill, ctx);
}
