/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NAMING_H
#define PROTON_CORE_NAMING_H
#include <stdbool.h>
#include <stddef.h>
#include "core/frame.h"

/* How names are made readable. Core knows no demangler: the program gives it one
 * (naming/readable.h).
 *   thread  any */
#define NAMING_LEVELS 6
struct naming {
	/* malloc'd. NULL: the raw one is, or memory is out. level: from the shortest to the whole
	 * signature. */
	char *(*name)(const char *raw, enum frame_kind kind, unsigned level);
	/* Names for several whose shortest ones are alike: those, with as much more as tells them
	 * apart. malloc'd, or NULL. ret_of[i]: i, or the first that is the same function in another
	 * form (a symbol, and the signature that it stands for): then it has no name of its own.
	 * 0; -ENOMEM; -E2BIG: they are too long to be compared, and ret_of is as it was. */
	int (*apart)(const char *const raw[], size_t n, char *ret[], size_t ret_of[]);
	/* Is a text a name that this one could have from apart(), among whichever others? NULL: none is. */
	bool (*could_be)(const char *raw, const char *text);
};

#endif
