/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_OBJECT_DEBUG_H
#define PROTON_NAMING_OBJECT_DEBUG_H
/* Debug information (DWARF) of one file, by libdw: lines, and functions that are inlined.
 *   thread  one */
#include <stdint.h>
#include <libelf.h>
#include "naming/object.h"

struct object_debug;

/* NULL: there is none in the file, or no memory. `elf` is borrowed. */
struct object_debug *object_debug_new(Elf *elf);
struct object_debug *object_debug_free(struct object_debug *d);
/* As object_functions(). A name may be missing. */
unsigned object_debug_functions(struct object_debug *d, uint64_t address,
				struct object_function ret[NATIVE_INLINED_MAX]);

#endif
