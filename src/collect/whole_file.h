/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_WHOLE_FILE_H
#define PROTON_COLLECT_WHOLE_FILE_H
/* Files of the session directory that are there whole, or not at all, whenever the process is killed.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WHOLE_FILE_NAME_MAX = 64 };

/* One of this name, which takes the place of another. 0 or -errno: -EFBIG, also where the process would be killed for it
 * (RLIMIT_FSIZE), -EEXIST: another thread writes it. */
int whole_file_write(const char *name, const void *data, size_t size);
/* Behind what one of this name has, which is made where it is not there; all of it, or nothing. -EFBIG also where it would have
 * more than `most` bytes then. One thread for each file. */
int whole_file_append(const char *name, const void *data, size_t size, uint64_t most);
bool whole_file_is_there(const char *name);
void whole_file_remove(const char *name);

#endif
