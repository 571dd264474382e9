/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_NEAR_H
#define PROTON_BASE_NEAR_H
/* How similar two words are, to suggest what somebody may have meant. */
#include <stdbool.h>
#include <stddef.h>

/* How many insertions, deletions, changes and swaps of neighbours lie between two words. UINT_MAX:
 * one of them is too long to be compared. */
unsigned edit_distance(const char *a, size_t n_a, const char *b, size_t n_b, bool any_case);

#endif
