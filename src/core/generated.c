/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/generated.h"
#include <string.h>
#include "core/line_name.h"

enum { NAME_LEN = 52 };

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
	struct line_name at;

	if (!line_name_parse(name, strlen(name), &at) || !generated_is_file(name, at.file_len))
		return false;
	*ret_len = at.file_len;
	*ret_line = at.line;
	return true;
}
