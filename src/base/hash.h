/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_HASH_H
#define PROTON_BASE_HASH_H
/* Hashes for tables in memory. Never stored, never on the wire: free to change. */
#include <stddef.h>
#include <stdint.h>

/* Finaliser of a 64-bit key: every input bit reaches every output bit. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return x;
}

static inline uint64_t hash_pair(uint32_t a, uint32_t b)
{
	return hash_u64((uint64_t)a << 32 | b);
}

uint64_t hash_bytes(const void *data, size_t len);

#endif
