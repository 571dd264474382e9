/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_IDINDEX_H
#define PROTON_BASE_IDINDEX_H
/* Open-addressing index from a hash to dense ids that live in somebody's array.
 *
 * Slots hold (upper half of the hash, id + 1), so most misses are told without a look at the array
 * and growing needs no rehash of the elements. Nothing is ever removed but all at once. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDINDEX_NONE UINT32_MAX

struct idindex {
	uint64_t *slots;
	size_t size, n;
};

void idindex_done(struct idindex *x);
/* As one that is new, in the memory that it has. */
void idindex_clear(struct idindex *x);
/* The id for which equal() holds, or IDINDEX_NONE. */
uint32_t idindex_find(const struct idindex *x, uint64_t hash,
		      bool (*equal)(const void *ctx, uint32_t id, const void *key), const void *ctx,
		      const void *key);
/* Add an id that is not there. 0 or -ENOMEM. */
int idindex_add(struct idindex *x, uint64_t hash, uint32_t id);

#endif
