/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_CUPTI_PLACES_H
#define PROTON_CORE_CUPTI_PLACES_H
/* Where a libcupti may be, from the nearest to the farthest. Both halves know it: the collector
 * tries to use what is there, `proton doctor` says what that is. Names only; nothing is opened.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>

/* A name to try, for dlopen(): a path, or without '/' a name that ld.so knows. is_asked: the user
 * named this very file, so that it is worth a word when it is not there. Returns true when no
 * further place is of interest. */
typedef bool cupti_place_fn(void *ctx, const char *name, bool is_asked);

/* Each walks its places, and returns true when it was told to stop. */

/* Explicit paths, ':' between them: a file or a folder each (PROTON_CUPTI_PATH). */
bool cupti_places_listed(const char *list, cupti_place_fn *fn, void *ctx);
/* Around a folder that a CUDA library of the program was loaded from. */
bool cupti_places_near(const char *folder, cupti_place_fn *fn, void *ctx);
/* Toolkits, and then what ld.so finds. */
bool cupti_places_installed(cupti_place_fn *fn, void *ctx);

/* Libraries that were tried, by their handles: one file has many names. */
struct cupti_tried {
	void *libraries[16];
	size_t n;
};
/* Was it tried before? From now on it was. One too many to remember is tried again. */
bool cupti_was_tried(struct cupti_tried *tried, void *library);

#endif
