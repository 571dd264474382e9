/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_PATTERNS_H
#define PROTON_COUNTERS_PATTERNS_H
/* Which metrics somebody means.
 *
 *   dram__bytes            a whole name: that one
 *   dram                   a part of names: those
 *   'sm__*tensor*'         as files are named in a shell
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>

struct buf;

bool pattern_is_glob(const char *pattern);
/* Not of a whole name. */
bool pattern_matches(const char *pattern, const char *name);

/* Put the names that are nearest to a word, the nearest first, as "'a', 'b' or 'c'"; nothing where none is
 * like it. */
void names_near(const char *word, const char *const *names, size_t n, struct buf *out);

#endif
