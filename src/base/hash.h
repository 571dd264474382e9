/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_HASH_H
#define PROTON_BASE_HASH_H
/* Hashes for tables in memory: never stored, never on the wire, free to change. Those that files have are
 * stable_hash()es, which never change. */
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

/* Begins with STABLE_HASH_BEGIN, and goes on with what it has given: FNV-1a, which is the same on each machine as long as
 * the bytes are. */
#define STABLE_HASH_BEGIN UINT64_C(0xcbf29ce484222325)
static inline uint64_t stable_hash(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}
/* … of a number, its lowest byte first. */
static inline uint64_t stable_hash_u32(uint64_t h, uint32_t v)
{
	const unsigned char bytes[] = {(unsigned char)v, (unsigned char)(v >> 8),
				       (unsigned char)(v >> 16), (unsigned char)(v >> 24)};

	return stable_hash(h, bytes, sizeof(bytes));
}
/* Every bit of it reaches every other one, so that they can be added (the finaliser of SplitMix64). */
static inline uint64_t stable_hash_end(uint64_t h)
{
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}

#endif
