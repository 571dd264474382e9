/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/pages.h"
#include <stdatomic.h>
#include <sys/mman.h>

void *pages_reserve(size_t size)
{
	/* A program that locks its memory (mlockall(MCL_FUTURE)) would have all of this in
	 * memory at once: made without access, unlocked, then opened. */
	void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	munlock(p, size);
	if (mprotect(p, size, PROT_READ | PROT_WRITE) == 0)
		return p;
	munmap(p, size);
	return NULL;
}

void *pages_reserve_sparse(size_t size)
{
	void *p = pages_reserve(size);

	if (p)
		madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

void *pages_once_sparse(_Atomic(void *) *where, size_t size)
{
	void *p = atomic_load_explicit(where, memory_order_acquire), *none = NULL;

	if (p)
		return p;
	p = pages_reserve_sparse(size);
	if (p && !atomic_compare_exchange_strong(where, &none, p)) {
		munmap(p, size);
		p = none;
	}
	return p;
}
