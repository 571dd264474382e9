/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_ALIKE_H
#define PROTON_CORE_ALIKE_H
/* Names that differ in numbers alone, as those that count up: "iter 7" and "iter 12" are both "iter #".
 * This is the one home of that rule, for files (core/fold.h) and for the collector.
 *   thread  any, also in signal handlers */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool names_alike(const char *a, const char *b);
uint64_t alike_hash(const char *name, uint32_t seed); /* the same of names that are alike */
uint64_t alike_hash_n(const char *name, size_t n, uint32_t seed); /* of a name of n bytes */
/* "iter #", cut to fit. Returns its length. */
size_t alike_pattern(const char *name, char *out, size_t size);
/* The same of a name of n bytes. */
size_t alike_pattern_n(const char *name, size_t n, char *out, size_t size);
/* A number that grows as the name counts up: its digits, and where there are several numbers, the first before the
 * others. False: the name has none. */
bool alike_number(const char *name, size_t n, uint64_t *ret);
/* … and the n that a name has of it again (none counts as one). False: it does not say them, as they are too many or too
 * large. */
enum { ALIKE_NUMBERS_MAX = 3 };
bool alike_numbers(uint64_t number, unsigned n, uint64_t ret[ALIKE_NUMBERS_MAX]);
/* A path in which a number is a component ("encoder.layers.3.self_attn"): it says which, it does not
 * count. */
bool alike_is_path(const char *name, size_t n);

#endif
