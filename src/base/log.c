/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

int log_level;
static const char *log_path; /* borrowed from the environment; NULL: stderr */

void log_init(const char *spec)
{
	if (!spec || *spec < '1' || *spec > '9')
		return;
	log_level = *spec - '0';
	if (spec[1] == ':' && spec[2])
		log_path = spec + 2;
}

void log_line(int level, const char *domain, const char *format, ...)
{
	int saved = errno, fd = STDERR_FILENO, n, m;
	char line[512];
	va_list ap;

	n = snprintf(line, sizeof(line), "proton[%d] %s%d: ", (int)getpid(), domain, level);
	va_start(ap, format);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, ap);
	va_end(ap);
	n = MIN(n + MAX(m, 0), (int)sizeof(line) - 2);
	line[n++] = '\n';
	/* Opened for each line: a target may close or reuse any descriptor that we would keep. */
	if (log_path)
		fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, line, (size_t)n) < 0)
		n = 0; /* nothing can be done about it */
	if (log_path && fd >= 0)
		close(fd);
	errno = saved;
}
