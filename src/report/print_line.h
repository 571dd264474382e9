/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_PRINT_LINE_H
#define PROTON_REPORT_PRINT_LINE_H
/* Print a line for people whose parts may come from a file or a program: it is made safe to show
 * (base/shown.h). The format does not end the line; these functions do. */
#include <stdarg.h>
#include <stdio.h>
#include "base/util.h"

void print_line(FILE *out, const char *format, ...) _printf_(2, 3);
/* The same between two texts of our own, which are printed as they are. */
void print_line_within(FILE *out, const char *before, const char *format, va_list ap,
		       const char *after) _printf_(3, 0);

/* How many columns a line of the terminal has that a descriptor is; 0: it is none. */
unsigned terminal_width(int fd);

/* "proton: …" on standard error. */
void complain(const char *format, ...) _printf_(1, 2);

#endif
