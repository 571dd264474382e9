/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include "base/shown.h"

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

/* Make a line safe to show: it may quote names of the program. */
static int make_shown(char *out, size_t cap, const char *line, int len)
{
	const char *end = line + len;
	struct shown s = {0};
	size_t n = 0;

	while (line < end) {
		line = shown_next(line, end, &s);
		if (n + s.len > cap)
			break;
		memcpy(out + n, s.text, s.len);
		n += s.len;
	}
	return (int)n;
}

void log_line(int level, const char *domain, const char *format, ...)
{
	int saved = errno, fd = STDERR_FILENO, n, m;
	char line[512], shown[1024];
	va_list ap;

	n = snprintf(line, sizeof(line), "proton[%d] %s%d: ", (int)getpid(), domain, level);
	va_start(ap, format);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, ap);
	va_end(ap);
	n = MIN(n + MAX(m, 0), (int)sizeof(line) - 2);
	n = make_shown(shown, sizeof(shown) - 1, line, n);
	shown[n++] = '\n';
	/* Opened for each line: a target may close or reuse any descriptor that we would keep. */
	if (log_path)
		fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, shown, (size_t)n) < 0)
		n = 0; /* nothing can be done about it */
	if (log_path && fd >= 0)
		close(fd);
	errno = saved;
}
