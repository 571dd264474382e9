/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_NAMES_H
#define PROTON_REPORT_NAMES_H
/* How the name of a frame "dir/file.py:12@function" is cut, as upstream's viewer does. */
#include <stdbool.h>
#include "base/buf.h"

/*         name                 word                 of "a/b/f.py:12@fn" */
#define NAME_FORMATS(_)                                                                            \
	_(FULL, "full")                             /* the whole */                                \
	_(FILE_FUNCTION_LINE, "file_function_line") /* f.py:12@fn */                               \
	_(FUNCTION_LINE, "function_line")           /* 12@fn */                                    \
	_(FILE_FUNCTION, "file_function")           /* f.py@fn */

enum name_format {
#define _(name, word) FORMAT_##name,
	NAME_FORMATS(_)
#undef _
		FORMAT_N
};

/* The format of a word, or -1. */
int name_format_parse(const char *word);
/* The name in this format. frames_only: leave names alone that do not look like
 * "file:line@function". The result is the name itself, or is held by scratch. */
const char *name_format(const char *name, enum name_format format, bool frames_only,
			struct buf *scratch);

#endif
