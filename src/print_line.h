/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PRINT_LINE_H
#define PROTON_PRINT_LINE_H
/* A line for people, of which parts came from a file or a program: see base/shown.h. */
#include <stdio.h>
#include "base/util.h"

/* One line; the end of it is not in the format. */
void print_line(FILE *out, const char *format, ...) _printf_(2, 3);

#endif
