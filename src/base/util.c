/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/util.h"
#include <errno.h>
#include <string.h>

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : n;
		len -= n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

int array_reserve(void **array, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap ? *cap : 16;
	void *p;

	if (n <= *cap)
		return 0;
	while (want < n)
		want *= 2;
	if (want > SIZE_MAX / size)
		return -ENOMEM;
	p = realloc(*array, want * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = want;
	return 0;
}
