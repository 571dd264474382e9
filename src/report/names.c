/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/names.h"

#include <string.h>
#include "core/line_name.h"

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

const char *name_format(const char *name, enum name_format format, bool frames_only,
			struct buf *scratch)
{
	const char *file, *function;
	struct line_name at;

	if (format == FORMAT_FULL || (frames_only && !line_name_parse(name, strlen(name), &at)))
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
