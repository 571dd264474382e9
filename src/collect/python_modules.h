/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PYTHON_MODULES_H
#define PROTON_COLLECT_PYTHON_MODULES_H
/* PyTorch's modules (nn.Module) among the frames of Python: a frame of the function that calls a module has
 * the module as its first local. Its name is the path by which its parents hold it, as named_modules()
 * says it: "encoder.layers.3"; the outermost is named by its class.
 *
 * Paths are found by the main thread between two instructions, with the interpreter's lock, once for all
 * modules within the outermost one that is being called. Until then a module is named by its class. */
#include <stdbool.h>
#include <stdint.h>
#include "collect/python_read.h"

/* Is this the code of a function that calls modules? From now on such frames have `self`. */
bool python_calls_modules(const struct python_place *place);
/* How often paths were found: what was made of modules before is outdated when it has grown. */
uint32_t python_modules_learned(void);
/* The frame (of the tree) of a module, WIRE_NONE: it is none. outermost: the one in which the others are
 * looked for. */
uint32_t python_module_frame(const char *module, const char *outermost);

#endif
