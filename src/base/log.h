/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_LOG_H
#define PROTON_BASE_LOG_H
/* Debug log, off unless PROTON_LOG names a level ("1".."3") or a file ("2:/tmp/log").
 * Writes whole lines with write(2), to stderr or the file; async-signal-safe except for formatting.
 * The collector uses it too, so it never touches stdio. */
#include "base/util.h"

extern int log_level; /* 0 = off; set once by log_init() */

void log_init(const char *spec);
void log_line(int level, const char *domain, const char *format, ...) _printf_(3, 4);

#define log_debug(level, domain, ...)                                                              \
	do {                                                                                       \
		if (_unlikely_(log_level >= (level)))                                              \
			log_line(level, domain, __VA_ARGS__);                                      \
	} while (0)

#endif
