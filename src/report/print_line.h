/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_PRINT_LINE_H
#define PROTON_REPORT_PRINT_LINE_H
/* A line for people, of which parts came from a file or a program: see base/shown.h. The end of the
 * line is not in the format. */
#include <stdarg.h>
#include <stdio.h>
#include "base/util.h"

void print_line(FILE *out, const char *format, ...) _printf_(2, 3);
/* Between two texts that are our own. */
void print_line_within(FILE *out, const char *before, const char *format, va_list ap,
		       const char *after) _printf_(3, 0);

/* "proton: …" on standard error. */
void complain(const char *format, ...) _printf_(1, 2);

#endif
