/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/print_line.h"
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/shown.h"

void print_line_within(FILE *out, const char *before, const char *format, va_list ap,
		       const char *after)
{
	_cleanup_(buf_done) struct buf line = {0};

	shown_vprintf(&line, format, ap);
	fprintf(out, "%s%s%s\n", before, line.error ? strerror(-line.error) : buf_str(&line),
		after);
}

void print_line(FILE *out, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line_within(out, "", format, ap, "");
	va_end(ap);
}

void complain(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line_within(stderr, "proton: ", format, ap, "");
	va_end(ap);
}

unsigned terminal_width(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}
