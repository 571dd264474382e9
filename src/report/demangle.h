/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_DEMANGLE_H
#define PROTON_REPORT_DEMANGLE_H
#include "core/snapshot.h"

/* A readable name for a mangled C++ or Rust symbol, malloc'd; NULL: keep the raw one.
 * NAME_DEMANGLED is the whole signature; NAME_SHORT leaves out parameters, return type, long
 * template arguments and "(anonymous namespace)::". Without libiberty: always NULL. */
char *demangle_name(const char *raw, enum name_mode mode);

struct buf;
/* Append a name as this mode shows it. */
void put_readable(struct buf *out, const char *raw, enum name_mode mode);
/* Append a path of names, which are given from its end to its beginning. */
void put_path(struct buf *out, const char *const *raw, size_t n, enum name_mode mode, bool ascii);

#endif
