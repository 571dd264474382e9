/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_PERF_MAP_H
#define PROTON_NAMING_PERF_MAP_H
/* What a program says of code that it made at run time: /tmp/perf-PID.map, lines of "START SIZE name" with
 * hexadecimal numbers, as perf reads it. The file grows while the program runs.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>

struct perf_map;

/* Is a path one of such a file? */
bool perf_map_is(const char *path);
struct perf_map *perf_map_new(const char *path); /* NULL: no memory */
struct perf_map *perf_map_free(struct perf_map *m);
/* The name of what lies at an address, said last; NULL: nothing is known. Valid until the next call. */
const char *perf_map_find(struct perf_map *m, uint64_t address);

#endif
