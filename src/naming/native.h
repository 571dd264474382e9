/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_NATIVE_H
#define PROTON_NAMING_NATIVE_H
/* Names of compiled code by the files that it came from:
 *
 *     (/opt/app, 0x1f) ──> debug information: "app.c:12@main", and what is inlined there (object.h)
 *                      ──> symbols:           "main"
 *                      ──> nothing:           "app+0x1f"
 *     (/tmp/perf-12.map, 0x7f…) ──> what a program says of code that it made (perf_map.h)
 *
 * An address is looked up once. A file is opened when it is first asked for.
 *   thread  one */
#include <stdint.h>
#include "core/native.h"

struct native_names;

struct native_names *native_names_new(void); /* NULL: no memory */
struct native_names *native_names_free(struct native_names *n);
/* Valid as long as the names. */
const struct native_namer *native_names_namer(const struct native_names *n);
/* From now on there is time to look up, for so long; at least for one address. 0: without end, and so it
 * is at the beginning. */
void native_names_slice(struct native_names *n, uint64_t ns);

#endif
