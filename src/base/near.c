/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/near.h"
#include <ctype.h>
#include <limits.h>
#include "base/util.h"

/* Longer words have no near neighbour. Names of hardware metrics have up to 100 letters. */
#define WORD_MAX 127

static bool same(char a, char b, bool any_case)
{
	return a == b || (any_case && tolower((unsigned char)a) == tolower((unsigned char)b));
}

unsigned edit_distance(const char *a, size_t n_a, const char *b, size_t n_b, bool any_case)
{
	unsigned rows[3][WORD_MAX + 2];
	unsigned *before = rows[0], *prev = rows[1], *cur = rows[2];

	if (n_a > WORD_MAX || n_b > WORD_MAX)
		return UINT_MAX;
	for (size_t j = 0; j <= n_b; j++)
		before[j] = prev[j] = (unsigned)j;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned *spare = before;

		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= n_b; j++) {
			unsigned cost = prev[j - 1] + !same(a[i - 1], b[j - 1], any_case);

			cost = MIN(cost, MIN(prev[j], cur[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2], any_case) &&
			    same(a[i - 2], b[j - 1], any_case))
				cost = MIN(cost, before[j - 2] + 1);
			cur[j] = cost;
		}
		before = prev;
		prev = cur;
		cur = spare;
	}
	return prev[n_b];
}
