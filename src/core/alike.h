/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_ALIKE_H
#define PROTON_CORE_ALIKE_H
/* Names that differ in numbers alone, as those that count up: "iter 7" and "iter 12" are both "iter #". */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool names_alike(const char *a, const char *b);
uint64_t alike_hash(const char *name, uint32_t seed); /* the same of names that are alike */
/* "iter #", cut to fit. */
void alike_pattern(const char *name, char *out, size_t size);

#endif
