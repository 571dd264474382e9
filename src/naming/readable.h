/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_READABLE_H
#define PROTON_NAMING_READABLE_H
/* Readable names of kernels and functions: of a mangled symbol of C++ or Rust, or of a signature as
 * traces have it, in the levels of naming/brief.h, and above them the whole. Without libiberty, symbols
 * stay raw.
 *   thread  any */
#include "core/frame_names.h"

naming_fn readable_name;

#endif
