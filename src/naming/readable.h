/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_READABLE_H
#define PROTON_NAMING_READABLE_H
/* Readable names of kernels and functions: of a mangled symbol of C++ or Rust, or of a signature as
 * traces have it, in the levels of naming/brief.h, and above them the whole. Without libiberty, symbols
 * stay raw.
 *   thread  any */
#include "core/naming.h"

extern const struct naming readable_naming;

/* As naming->name, naming->apart, naming->could_be. */
char *readable_name(const char *raw, enum frame_kind kind, unsigned level);
int readable_apart(const char *const raw[], size_t n, char *ret[], size_t ret_of[]);
bool readable_could_be(const char *raw, const char *text);

#endif
