/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/whole_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/internal.h"

enum { PATH_BYTES = sizeof(collector->dir) + WHOLE_FILE_NAME_MAX };

static void path_of(const char *name, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", collector->dir, name);
}

/* A file may not be larger here: who writes on is killed (SIGXFSZ), and this is the program's thread. */
static bool is_limited_below(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur < size;
}

/* Into a new file. */
static int write_new(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), r;

	if (fd < 0)
		return -errno;
	r = fd_write_all(fd, data, size);
	close(fd);
	if (r < 0)
		unlink(path);
	return r;
}

/* By way of a file that nobody reads yet. */
int whole_file_write(const char *name, const void *data, size_t size)
{
	char path[PATH_BYTES + 16], whole[PATH_BYTES];
	int r = is_limited_below(size) ? -EFBIG : 0;

	path_of(name, whole);
	snprintf(path, sizeof(path), "%s.%d", whole, (int)getpid());
	if (r == 0)
		r = write_new(path, data, size);
	if (r < 0)
		return r;
	if (rename(path, whole) == 0)
		return 0;
	r = -errno;
	unlink(path);
	return r;
}

/* What is at its end by half is taken back. */
static int append_to(int fd, const void *data, size_t size, uint64_t most)
{
	off_t before = lseek(fd, 0, SEEK_END);
	int r;

	if (before < 0)
		return -errno;
	if (size > most || (uint64_t)before > most - size ||
	    is_limited_below((size_t)before + size))
		return -EFBIG;
	r = fd_write_all(fd, data, size);
	if (r < 0 && ftruncate(fd, before) < 0)
		return -errno;
	return r;
}

int whole_file_append(const char *name, const void *data, size_t size, uint64_t most)
{
	char path[PATH_BYTES];
	int fd, r;

	path_of(name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = append_to(fd, data, size, most);
	close(fd);
	return r;
}

bool whole_file_is_there(const char *name)
{
	char path[PATH_BYTES];

	path_of(name, path);
	return access(path, F_OK) == 0;
}

void whole_file_remove(const char *name)
{
	char path[PATH_BYTES];

	path_of(name, path);
	unlink(path);
}
