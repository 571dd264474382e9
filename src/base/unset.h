/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_UNSET_H
#define PROTON_BASE_UNSET_H
/* A place in a table of numbers that nobody has filled in yet: a NaN that no computation makes, so
 * that an absent value, which is a NaN as well, is told from it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UNSET_BITS UINT64_C(0x7ff8756e73657421)

static inline bool is_unset(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits == UNSET_BITS;
}

static inline void unset_all(double *v, size_t n)
{
	const uint64_t bits = UNSET_BITS;

	for (size_t i = 0; i < n; i++)
		memcpy(&v[i], &bits, sizeof(bits));
}

#endif
