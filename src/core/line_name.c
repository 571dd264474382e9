/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/line_name.h"
#include <string.h>

/* ":12" that ends at `end`. */
static bool take_line(const char *name, size_t end, struct line_name *ret)
{
	size_t digits = end;
	uint64_t line = 0;

	while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits == end || digits == 0 || name[digits - 1] != ':')
		return false;
	for (size_t i = digits; i < end && line <= UINT32_MAX; i++)
		line = line * 10 + (uint64_t)(name[i] - '0');
	*ret = (struct line_name){digits - 1, end + 1, (uint32_t)line};
	return line <= UINT32_MAX;
}

bool line_name_parse(const char *name, size_t len, struct line_name *ret)
{
	struct line_name found;

	for (const char *at = name + len; (at = memrchr(name, '@', (size_t)(at - name)));)
		if (take_line(name, (size_t)(at - name), &found)) {
			*ret = found;
			return true;
		}
	return false;
}
