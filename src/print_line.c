/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "print_line.h"
#include <stdarg.h>
#include "base/buf.h"
#include "base/shown.h"

void print_line(FILE *out, const char *format, ...)
{
	struct buf line;
	va_list ap;

	buf_init(&line, 0);
	va_start(ap, format);
	shown_vprintf(&line, format, ap);
	va_end(ap);
	buf_putc(&line, '\n');
	fputs(buf_str(&line), out);
	buf_done(&line);
}
