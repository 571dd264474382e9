/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/names.h"
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"

#define SLOTS_BYTES (NAMES_SLOTS * sizeof(struct name *))

/* The slots, or NULL without memory. Two threads may both map; the loser gives its mapping back. */
static const struct name **names_map(struct names *names)
{
	const struct name **slots = __atomic_load_n(&names->slots, __ATOMIC_ACQUIRE);
	char *p;

	if (slots)
		return slots;
	p = pages_reserve(SLOTS_BYTES + NAMES_ARENA_BYTES);
	if (!p)
		return NULL;
	if (__atomic_compare_exchange_n(&names->slots, &slots, (const struct name **)(void *)p,
					false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return (const struct name **)(void *)p;
	munmap(p, SLOTS_BYTES + NAMES_ARENA_BYTES);
	return slots;
}

/* A new entry, not yet published. Room that a lost race leaves behind stays unused. */
static struct name *names_build(struct names *names, const struct name **slots, uint32_t hash,
				const char *text, size_t len)
{
	size_t size = (sizeof(struct name) + len + 1 + 7) & ~(size_t)7;
	char *arena = (char *)slots + SLOTS_BYTES;
	uint64_t at;
	struct name *name;

	if (__atomic_load_n(&names->n, __ATOMIC_RELAXED) >= NAMES_MAX ||
	    __atomic_load_n(&names->arena_used, __ATOMIC_RELAXED) + size > NAMES_ARENA_BYTES)
		return NULL;
	at = __atomic_fetch_add(&names->arena_used, size, __ATOMIC_RELAXED);
	if (at + size > NAMES_ARENA_BYTES)
		return NULL;
	name = (struct name *)(void *)(arena + at);
	name->hash = hash;
	name->len = (uint32_t)len;
	memcpy(name->text, text, len); /* the NUL is there: fresh pages are zero */
	return name;
}

static bool name_is(const struct name *name, uint32_t hash, const char *text, size_t len)
{
	return name->hash == hash && name->len == len && memcmp(name->text, text, len) == 0;
}

const struct name *names_add(struct names *names, const char *text, size_t len)
{
	const struct name **slots = names_map(names), *found, *fresh = NULL;
	uint32_t hash;

	if (!slots)
		return NULL;
	len = MIN(len, NAMES_LEN_MAX);
	hash = (uint32_t)hash_bytes(text, len);
	/* Ends: at most NAMES_MAX of the slots are ever taken (give or take one a thread). */
	for (uint32_t i = hash;; i++) {
		const struct name **slot = &slots[i & (NAMES_SLOTS - 1)];

		found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (!found) {
			if (!fresh)
				fresh = names_build(names, slots, hash, text, len);
			if (!fresh)
				return NULL;
			if (__atomic_compare_exchange_n(slot, &found, fresh, false,
							__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
				__atomic_fetch_add(&names->n, 1, __ATOMIC_RELAXED);
				return fresh;
			}
		}
		if (name_is(found, hash, text, len))
			return found;
	}
}
