/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_ALPHABET_H
#define PROTON_TUI_ALPHABET_H
/* Where words stand from a to z, as numbers: rows are sorted by numbers, the largest first.
 *
 *     relu, add, gemm, add   ──>   -3, 0, -2, 0
 *
 *   thread  one */
#include <stddef.h>
#include <stdint.h>

struct tui;

struct alphabet {
	uint32_t *places; /* by frame, or by string; equal words share one */
	size_t n, cap;
	uint64_t stamp; /* of what it was made; 0: of nothing */
};

void alphabet_done(struct alphabet *a);
/* The place of a calling context by its name as it is shown; NaN: out of memory. */
double tui_name_place(struct tui *t, uint32_t node);
/* The place of a string among the values of a metric of words; NaN: out of memory. */
double tui_word_place(struct tui *t, struct alphabet *a, uint32_t metric, uint32_t string);

#endif
