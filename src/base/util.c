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

size_t utf8_put(char out[4], uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}
