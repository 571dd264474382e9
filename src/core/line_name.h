/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LINE_NAME_H
#define PROTON_CORE_LINE_NAME_H
/* How a line of source is named with the function that it is in, as Triton's Proton names it: "dir/file.py:12@function".
 *
 * Folders may have such signs, and versions of symbols stand behind an '@' of their own ("a@b/k.c:12@memcpy@@GLIBC_2.14"): the
 * line is the last number between ':' and '@'. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places are bytes from the name's beginning. */
struct line_name {
	size_t file_len; /* 0: it names no file */
	size_t function; /* where it begins; the name's end: it names none */
	uint32_t line;
};

/* False: it is no such name. */
bool line_name_parse(const char *name, size_t len, struct line_name *ret);

#endif
