/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_LIVE_MEMORY_H
#define PROTON_COLLECT_LIVE_MEMORY_H
/* What is allocated now, by address: a hash table that grows, up to a bound.
 *   thread  one at a time */
#include <stdbool.h>
#include <stdint.h>

enum { LIVE_PLACE_BITS = 24 };
struct live_block {
	uint64_t address;                 /* 0: a free cell */
	uint64_t bytes, at_ns;            /* at_ns: of the newest record of the address */
	uint32_t place : LIVE_PLACE_BITS; /* who holds it (memory_places.h) */
	uint32_t source : 6;
	uint32_t is_held : 1; /* it is there */
	uint32_t is_owed : 1; /* a release of who held the address before is still to come */
	uint32_t context;     /* the vendor's, of which it is */
	/* A release whose allocation is not known, and may still come. */
	uint32_t orphan_place : LIVE_PLACE_BITS;
	uint32_t is_orphan : 1;
	uint32_t left; /* its number among those in scopes (scope_memory.h); 0: it is in none */
	uint64_t orphan_bytes;
};

struct live_memory {
	struct live_block *cell;
	uint32_t n, size; /* size: a power of two, or 0 */
};

enum { LIVE_MAX = 1 << 23 }; /* cells */

/* NULL: it is not there. Valid until the next put or remove. */
struct live_block *live_find(const struct live_memory *m, uint64_t address);
/* It was not there. False: there is no room. */
bool live_put(struct live_memory *m, const struct live_block *b);
void live_remove(struct live_memory *m, struct live_block *b);
void live_clear(struct live_memory *m);

#endif
