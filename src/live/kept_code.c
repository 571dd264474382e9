/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/kept_code.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/named_file.h"
#include "base/util.h"
#include "core/pc_samples.h"

enum { DIGITS = 16 };

static bool is_cubin(const char *name)
{
	return strspn(name, "0123456789abcdef") == DIGITS &&
	       !strcmp(name + DIGITS, PC_CUBIN_SUFFIX);
}

static int copy_bytes(int from, int to)
{
	char piece[1 << 16];
	ssize_t n;
	int r;

	while ((n = read(from, piece, sizeof(piece))) > 0) {
		r = fd_write_all(to, piece, (size_t)n);
		if (r < 0)
			return r;
	}
	return n < 0 ? -errno : 0;
}

/* The program could put anything there: what is no file is not followed. */
static int copy(int from_folder, int to_folder, const char *name)
{
	_cleanup_(closep) int from = regular_openat(from_folder, name, O_RDONLY | O_NOFOLLOW, NULL);
	_cleanup_(closep) int to = -1;

	if (from < 0)
		return from;
	unlinkat(to_folder, name, 0);
	to = openat(to_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return to < 0 ? -errno : copy_bytes(from, to);
}

static int open_beside(const char *file)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s" KEPT_CODE_SUFFIX, file) < 0)
		return -ENOMEM;
	fd = mkdir(path, 0777) < 0 && errno != EEXIST
		     ? -1
		     : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	free(path);
	return fd;
}

int kept_code_copy(const char *session, const char *file)
{
	_cleanup_(closep) int to = -1;
	DIR *d = opendir(session);
	struct dirent *e;
	int r = 0, first = 0;

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (!is_cubin(e->d_name))
			continue;
		if (to < 0)
			to = open_beside(file);
		r = to < 0 ? to : copy(dirfd(d), to, e->d_name);
		first = first ? first : r;
		if (to < 0)
			break;
	}
	closedir(d);
	return first;
}
