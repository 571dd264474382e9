/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/local_memory.h"
#include <stdatomic.h>
#include <string.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "core/launch_config.h"

/* An entry: the upper bits of the name's hash, and bytes + 1 in VALUE_BITS. 0: free. Two names with one hash are one
 * kernel that is not known, but for one in 2^27 pairs that have as many bytes. */
enum {
	KERNELS = 1 << 17, /* a power of two: 1 MiB, of which what is used is in memory */
	PROBES = 32,
	VALUE_BITS = 21,
};
#define VALUES   ((UINT64_C(1) << VALUE_BITS) - 1)
#define DIFFER   VALUES /* in place of a number */
#define MOST     (DIFFER - 2)
#define TAG(key) ((key) & ~VALUES)

static _Atomic(void *) pages;

static uint64_t hash_of(const char *kernel)
{
	uint64_t hash = hash_bytes(kernel, strlen(kernel));

	return TAG(hash) ? hash : ~hash;
}

void local_memory_put(const char *kernel, uint32_t bytes)
{
	_Atomic uint64_t *all = pages_once_sparse(&pages, KERNELS * sizeof(*all));
	uint64_t hash = hash_of(kernel), value = bytes <= MOST ? bytes + UINT64_C(1) : DIFFER;

	for (unsigned i = 0; all && i < PROBES; i++) {
		_Atomic uint64_t *entry = &all[(hash_u64(hash) + i) % KERNELS];
		uint64_t seen = 0;

		if (atomic_compare_exchange_strong(entry, &seen, TAG(hash) | value))
			return;
		if (TAG(seen) == TAG(hash)) {
			if ((seen & VALUES) != value)
				atomic_store(entry, TAG(hash) | DIFFER);
			return;
		}
	}
}

uint32_t local_memory_of(const char *kernel)
{
	_Atomic uint64_t *all = atomic_load(&pages);
	uint64_t hash = hash_of(kernel), seen;

	for (unsigned i = 0; all && i < PROBES; i++) {
		seen = atomic_load_explicit(&all[(hash_u64(hash) + i) % KERNELS],
					    memory_order_acquire);
		if (!seen)
			break;
		if (TAG(seen) == TAG(hash))
			return (seen & VALUES) == DIFFER ? LAUNCH_LOCAL_UNKNOWN
							 : (uint32_t)(seen & VALUES) - 1;
	}
	return LAUNCH_LOCAL_UNKNOWN;
}
