/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_OBJECT_H
#define PROTON_NAMING_OBJECT_H
/* A file of compiled code: its symbols, its debug information or that which lies apart from it (by build id,
 * or as the file says), by elfutils. Built without it, no file is known.
 *   thread  one */
#include <stdint.h>
#include "core/native.h"

struct object;

/* One function of several at an address. */
struct object_function {
	const char *name; /* raw; NULL: not known. As long as the object */
	const char *file; /* NULL: not known */
	uint32_t line;
};

/* NULL: there is no such file, it has another build id (where one is given), or memory is out. */
struct object *object_open(const char *path, const char *build_id);
struct object *object_free(struct object *o);
/* The functions at an address, outermost first: 0 where nothing is known. */
unsigned object_functions(struct object *o, uint64_t address,
			  struct object_function ret[NATIVE_INLINED_MAX]);
/* Where the function at an address begins, by what unwinding needs of it, which is there without symbols,
 * too; the address itself where nothing is said. */
uint64_t object_begin(const struct object *o, uint64_t address);

#endif
