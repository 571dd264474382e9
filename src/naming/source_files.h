/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_SOURCE_FILES_H
#define PROTON_NAMING_SOURCE_FILES_H
/* Lines of source files that a profile names: where they were compiled, or below other folders.
 *
 *     /build/app/k.cu   ──>  /build/app/k.cu
 *                            FOLDER/build/app/k.cu, FOLDER/app/k.cu, FOLDER/k.cu    of each folder, in this order
 *
 * What a file held when it was compiled is not known; whether it was changed after the profile was made is.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_files;

struct source_text {
	const char *text; /* any bytes, not ended; NULL: not to be had */
	size_t len;
};

struct source_files *source_files_new(void); /* NULL: no memory */
struct source_files *source_files_free(struct source_files *f);
/* Look below this folder, too. 0 or -ENOMEM. */
int source_files_add_folder(struct source_files *f, const char *folder);
/* A line, from 1 on, of a file whose name has so many bytes. Valid as long as the files. */
struct source_text source_files_line(struct source_files *f, const char *name, size_t name_len,
				     uint32_t line);
/* Was it changed after this time (CLOCK_REALTIME)? */
bool source_files_is_newer(struct source_files *f, const char *name, size_t name_len,
			   uint64_t than_ns);

#endif
