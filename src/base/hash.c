/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/hash.h"
#include <string.h>

/* 1 to 7 bytes, in loads of fixed sizes: some of them twice. */
static uint64_t load_few(const unsigned char *p, size_t len)
{
	uint32_t first, last;

	if (len < 4)
		return p[0] | (uint64_t)p[len / 2] << 8 | (uint64_t)p[len - 1] << 16;
	memcpy(&first, p, 4);
	memcpy(&last, p + len - 4, 4);
	return first | (uint64_t)last << 32;
}

uint64_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	/* In all bits: in the lowest ones it would meet the first byte, and "12" would be as "2". */
	uint64_t h = (len + 1) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t w;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = hash_u64(h ^ w);
	}
	return len ? hash_u64(h ^ load_few(p, len)) : h;
}
