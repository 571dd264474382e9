/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/generated.h"
#include <string.h>

enum { NAME_LEN = 52, LINE_DIGITS = 9 };

/* Of hashes, as they are written there. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
}

bool generated_is_file(const char *path, size_t len)
{
	static const char end[] = ".py";
	const size_t end_len = sizeof(end) - 1, tail = NAME_LEN + end_len;
	const char *name;

	if (len < tail + 4)
		return false;
	name = path + len - tail;
	if (memcmp(name + NAME_LEN, end, end_len) != 0 || *name != 'c' || name[-1] != '/' ||
	    name[-4] != '/' || memcmp(name - 3, name + 1, 2) != 0)
		return false;
	for (size_t i = 1; i < NAME_LEN; i++)
		if (!is_letter(name[i]))
			return false;
	return true;
}

bool generated_parse(const char *name, size_t *ret_len, uint32_t *ret_line)
{
	const char *at = strrchr(name, '@'), *p = at;
	uint32_t line = 0;

	while (p && p > name && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (!p || p == at || at - p > LINE_DIGITS || p == name || p[-1] != ':' ||
	    !generated_is_file(name, (size_t)(p - 1 - name)))
		return false;
	*ret_len = (size_t)(p - 1 - name);
	for (; p < at; p++)
		line = line * 10 + (uint32_t)(*p - '0');
	*ret_line = line;
	return true;
}
