/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/warp_set.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>

/* A number that is the whole text, but for blanks around it. */
static int read_warp(const char *text, size_t len, uint32_t *ret)
{
	uint32_t n = 0;

	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len)
		return -EINVAL;
	for (; len; text++, len--) {
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		n = n * 10 + (uint32_t)(*text - '0');
		if (n >= INTRA_WARPS_MAX)
			return -EINVAL;
	}
	*ret = n;
	return 0;
}

int warp_set_add(const char *item, size_t len, uint32_t *warps)
{
	const char *dash = memchr(item, '-', len);
	size_t first = dash ? (size_t)(dash - item) : len;
	uint32_t from, to;

	if (read_warp(item, first, &from) < 0)
		return -EINVAL;
	to = from;
	if (dash && read_warp(dash + 1, len - first - 1, &to) < 0)
		return -EINVAL;
	if (to < from)
		return -EINVAL;
	for (uint32_t i = from; i <= to; i++)
		*warps |= UINT32_C(1) << i;
	return 0;
}
