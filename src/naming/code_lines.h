/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_CODE_LINES_H
#define PROTON_NAMING_CODE_LINES_H
/* Lines of instructions of kernels, by the cubins that a collector wrote into a session's directory (cubin.h). A cubin is
 * read when it is first asked for, and stays.
 *   errors  none: a line is not known
 *   thread  one */
#include "core/native.h"

struct code_lines;

struct code_lines *code_lines_new(const char *folder); /* copied; NULL: no memory */
struct code_lines *code_lines_free(struct code_lines *lines);
/* As `lines` of struct native_namer; ctx is the struct code_lines. */
unsigned code_lines_find(void *ctx, const struct native_place *place,
			 struct native_function ret[NATIVE_INLINED_MAX]);

#endif
