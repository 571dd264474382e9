/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/names.h"

#include <string.h>

int name_format_parse(const char *word)
{
	static const char *const words[FORMAT_N] = {
#define _(name, word) word,
		NAME_FORMATS(_)
#undef _
	};

	for (int i = 0; i < FORMAT_N; i++)
		if (!strcmp(word, words[i]))
			return i;
	return -1;
}

static const char *after_last(const char *name, char c)
{
	const char *p = strrchr(name, c);

	return p ? p + 1 : name;
}

/* "<file>:<line>@<function>" */
static bool is_source_line(const char *name)
{
	const char *at = strrchr(name, '@'), *p = at;

	while (p && p > name && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return p && p != at && p > name && p[-1] == ':';
}

const char *name_format(const char *name, enum name_format format, bool frames_only,
			struct buf *scratch)
{
	const char *file, *function;

	if (format == FORMAT_FULL || (frames_only && !is_source_line(name)))
		return name;
	if (format == FORMAT_FILE_FUNCTION_LINE)
		return after_last(name, '/');
	if (format == FORMAT_FUNCTION_LINE)
		return after_last(name, ':');
	file = after_last(name, '/');
	function = after_last(name, '@');
	buf_clear(scratch);
	buf_put(scratch, file, strcspn(file, ":"));
	buf_putc(scratch, '@');
	buf_put(scratch, function, strcspn(function, ":"));
	return buf_str(scratch);
}
