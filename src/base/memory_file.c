/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/memory_file.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/util.h"

static bool is_limited_below(size_t n)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur < n;
}

int memory_file(const char *name, const void *data, size_t n)
{
	int fd = is_limited_below(n) ? -EFBIG : memfd_create(name, MFD_CLOEXEC), r;

	if (fd < 0)
		return fd == -EFBIG ? fd : -errno;
	r = fd_write_all(fd, data, n);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}
