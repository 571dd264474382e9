/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/ptrmap.h"
#include "base/hash.h"

enum { EMPTY, USED, BUSY };

static uint64_t place(const void *key, unsigned probe)
{
	return (hash_u64((uint64_t)(uintptr_t)key) + probe) & (PTRMAP_SLOTS - 1);
}

bool ptrmap_add(struct ptrmap *m, const void *key, uint64_t value)
{
	for (unsigned i = 0; i < PTRMAP_PROBES; i++) {
		uint64_t p = place(key, i);
		uint64_t seen = __atomic_load_n(&m->slots[p].key, __ATOMIC_RELAXED);

		if (seen > USED)
			continue;
		if (!__atomic_compare_exchange_n(&m->slots[p].key, &seen, BUSY, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&m->slots[p].value, value, __ATOMIC_RELAXED);
		__atomic_store_n(&m->slots[p].key, (uint64_t)(uintptr_t)key, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

bool ptrmap_get(struct ptrmap *m, const void *key, uint64_t *ret_value)
{
	for (unsigned i = 0; i < PTRMAP_PROBES; i++) {
		uint64_t p = place(key, i);
		uint64_t seen = __atomic_load_n(&m->slots[p].key, __ATOMIC_ACQUIRE);
		uint64_t value;

		if (seen == EMPTY)
			return false;
		if (seen != (uint64_t)(uintptr_t)key)
			continue;
		value = __atomic_load_n(&m->slots[p].value, __ATOMIC_ACQUIRE);
		/* Taken and used again meanwhile? Then the value may be another's. */
		if (__atomic_load_n(&m->slots[p].key, __ATOMIC_RELAXED) != seen)
			continue;
		*ret_value = value;
		return true;
	}
	return false;
}

bool ptrmap_take(struct ptrmap *m, const void *key, uint64_t *ret_value)
{
	for (unsigned i = 0; i < PTRMAP_PROBES; i++) {
		uint64_t p = place(key, i);
		uint64_t seen = __atomic_load_n(&m->slots[p].key, __ATOMIC_RELAXED);

		if (seen == EMPTY)
			return false;
		if (seen != (uint64_t)(uintptr_t)key ||
		    !__atomic_compare_exchange_n(&m->slots[p].key, &seen, BUSY, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		*ret_value = __atomic_load_n(&m->slots[p].value, __ATOMIC_RELAXED);
		__atomic_store_n(&m->slots[p].key, USED, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

void ptrmap_clear(struct ptrmap *m)
{
	for (unsigned p = 0; p < PTRMAP_SLOTS; p++) {
		uint64_t seen = __atomic_load_n(&m->slots[p].key, __ATOMIC_RELAXED);

		if (seen > BUSY)
			__atomic_compare_exchange_n(&m->slots[p].key, &seen, USED, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}
