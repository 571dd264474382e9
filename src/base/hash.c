/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/hash.h"
#include <string.h>

uint64_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ len;
	uint64_t w;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = hash_u64(h ^ w);
	}
	if (len) {
		w = 0;
		memcpy(&w, p, len);
		h = hash_u64(h ^ w);
	}
	return h;
}
