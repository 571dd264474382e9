/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/place.h"
#include "format/terminal.h"

/* The descriptor that a path like /dev/stdout or /proc/self/fd/3 stands for, or -1. */
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
	struct terminal terminal;
	bool shown = isatty(fd) == 1;
	int r, flushed;

	if (!o)
		return -ENOMEM;
	if (shown)
		out_to_terminal(o, &terminal, fd);
	else
		out_to_fd(o, fd);
	r = fill(o, ctx);
	flushed = out_flush(o);
	if (shown && flushed >= 0)
		flushed = terminal_end(&terminal);
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

/* One step along a symbolic link: path becomes what it points to. 1: done so, 0: it is no link. */
static int follow_link(char path[PATH_MAX])
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *slash;
	int dir;

	if (n < 0)
		return 0;
	target[n] = '\0';
	slash = strrchr(path, '/');
	dir = target[0] == '/' || !slash ? 0 : (int)(slash - path) + 1;
	n = snprintf(joined, sizeof(joined), "%.*s%s", dir, path, target);
	if (n >= PATH_MAX)
		return 0;
	memcpy(path, joined, (size_t)n + 1);
	return 1;
}

/* Links are read for nothing else, and only where the kernel follows them for us. */
int write_file_descriptor(const char *path)
{
	char real[PATH_MAX];
	size_t len = strlen(path);
	int fd = path_descriptor(path);

	if (fd >= 0 || len >= PATH_MAX || access(path, F_OK) < 0)
		return fd;
	memcpy(real, path, len + 1);
	for (int hops = 0; fd < 0 && hops < 40 && follow_link(real); hops++)
		fd = path_descriptor(real);
	return fd;
}

/* What is no file, or can only be written where it is. */
static int write_in_place(struct place *p, out_fill_fn *fill, void *ctx)
{
	int fd = p->file;

	if (S_ISREG(p->st.st_mode) && ftruncate(fd, 0) < 0)
		return -errno;
	p->file = -1;
	p->made = false;
	return fill_and_close(fd, fill, ctx);
}

/* A folder in which we may not make a file, or not take a name away (another's file in a shared
 * folder, a file that is a mount): then the file is written as it is. */
static bool is_forbidden(int r)
{
	return r == -EACCES || r == -EPERM || r == -EROFS || r == -EBUSY;
}

static int write_by_rename(struct place *p, uint64_t tag, out_fill_fn *fill, void *ctx)
{
	int fd = place_begin(p, tag), r;

	if (fd < 0)
		return p->file >= 0 && is_forbidden(fd) ? write_in_place(p, fill, ctx) : fd;
	r = fill_and_close(fd, fill, ctx);
	if (r < 0)
		return r;
	r = place_commit(p);
	return p->file >= 0 && is_forbidden(r) ? write_in_place(p, fill, ctx) : r;
}

int write_file_tagged(const char *path, uint64_t tag, out_fill_fn *fill, void *ctx)
{
	struct place p;
	int r = write_file_descriptor(path);

	if (r >= 0)
		return fill_fd(r, fill, ctx);
	r = place_open(&p, path);
	if (r == 0)
		r = p.folder < 0 ? write_in_place(&p, fill, ctx)
				 : write_by_rename(&p, tag, fill, ctx);
	place_close(&p);
	return r;
}

int write_file_check(const char *path)
{
	int fd = write_file_descriptor(path);

	if (fd >= 0)
		return fcntl(fd, F_GETFD) < 0 ? -errno : 0;
	return place_check(path);
}
