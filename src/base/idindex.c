/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/idindex.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOT(hash, id) (((hash)&UINT64_C(0xffffffff00000000)) | ((uint64_t)(id) + 1))

void idindex_done(struct idindex *x)
{
	free(x->slots);
	*x = (struct idindex){0};
}

void idindex_clear(struct idindex *x)
{
	if (x->n)
		memset(x->slots, 0, x->size * sizeof(*x->slots));
	x->n = 0;
}

/* The upper half is stored, so the position comes from it too: growing needs nothing else. */
static size_t idindex_home(uint64_t slot, size_t size)
{
	return (size_t)((slot >> 32) * UINT64_C(0x9e3779b1)) & (size - 1);
}

uint32_t idindex_find(const struct idindex *x, uint64_t hash,
		      bool (*equal)(const void *ctx, uint32_t id, const void *key), const void *ctx,
		      const void *key)
{
	size_t i;

	if (!x->size)
		return IDINDEX_NONE;
	for (i = idindex_home(hash, x->size); x->slots[i]; i = (i + 1) & (x->size - 1)) {
		uint32_t id = (uint32_t)x->slots[i] - 1;

		if ((x->slots[i] ^ hash) >> 32 == 0 && equal(ctx, id, key))
			return id;
	}
	return IDINDEX_NONE;
}

static void idindex_place(uint64_t *slots, size_t size, uint64_t slot)
{
	size_t i = idindex_home(slot, size);

	while (slots[i])
		i = (i + 1) & (size - 1);
	slots[i] = slot;
}

int idindex_add(struct idindex *x, uint64_t hash, uint32_t id)
{
	size_t size, i;
	uint64_t *slots;

	if ((x->n + 1) * 2 > x->size) {
		size = x->size ? x->size * 2 : 64;
		slots = calloc(size, sizeof(*slots));
		if (!slots)
			return -ENOMEM;
		for (i = 0; i < x->size; i++)
			if (x->slots[i])
				idindex_place(slots, size, x->slots[i]);
		free(x->slots);
		x->slots = slots;
		x->size = size;
	}
	idindex_place(x->slots, x->size, SLOT(hash, id));
	x->n++;
	return 0;
}
