/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_KERNEL_FILES_H
#define PROTON_CMD_KERNEL_FILES_H
/* Files that were named, and those below folders that were: where code of kernels may lie.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>

struct kernel_file {
	const char *path;
	const char *
		name; /* what it is called beside the others: its last part, or what stands below the folder */
	bool is_named; /* by itself: what is wrong with it must be said */
};

/* 0: go on; else it ends, with that. */
typedef int kernel_file_fn(const struct kernel_file *file, void *arg);

/* Calls it for a file, or for each below a folder, by name, vendors' left out where is_all is not set: *ret_n_left, if not NULL,
 * counts these. 0; what the function returned; -errno of the path itself. */
int kernel_files_each(const char *path, bool is_all, kernel_file_fn *see, void *arg,
		      size_t *ret_n_left);
/* Where Triton keeps what it compiled: TRITON_CACHE_DIR, or that in the home. malloc'd; NULL: it has none. */
char *kernel_files_of_triton(void);

#endif
