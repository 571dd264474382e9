/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_MEMORY_FILE_H
#define PROTON_BASE_MEMORY_FILE_H
/* Bytes for another process, or for a library that wants a file: in memory, without a name in any folder. */
#include <stddef.h>

/* A descriptor, to be read from its beginning; or -errno. -EFBIG: a process like this one may not write so large a file, not
 * even there (RLIMIT_FSIZE): who tries is killed (SIGXFSZ).
 *   thread  any */
int memory_file(const char *name, const void *data, size_t n);

#endif
