/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_POOL_GROWTH_H
#define PROTON_COLLECT_POOL_GROWTH_H
/* How full a pool of memory is, was at most, and by which allocations it grew (ADR 49).
 *   thread  one at a time, of a pool */
#include <stdbool.h>
#include <stdint.h>
#include "base/util.h"

struct pool_level {
	uint64_t reserved,
		used; /* bytes: what it has of the device, and what of these is allocated */
	bool is_known;
};

struct pool_peaks {
	uint64_t reserved, used; /* the most of each: not of one moment */
	uint64_t unused;         /* when it had reserved the most for the first time */
};

struct pool_growth {
	uint64_t bytes;  /* 0: it did not grow */
	bool was_enough; /* … although that much was free in it: fragmentation */
};

static inline void pool_peaks_add(struct pool_peaks *p, const struct pool_level *now)
{
	if (now->reserved > p->reserved)
		p->unused = now->reserved - MIN(now->used, now->reserved);
	p->reserved = MAX(p->reserved, now->reserved);
	p->used = MAX(p->used, now->used);
}

/* An allocation, of so many bytes, lies between the two; 0: it was none. Where a release before it was not told of in
 * time there was not enough: what is used after it would not have fit either. */
static inline struct pool_growth pool_growth(const struct pool_level *before,
					     const struct pool_level *after, uint64_t bytes)
{
	struct pool_growth g = {0};

	if (!bytes || !before->is_known || after->reserved <= before->reserved)
		return g;
	g.bytes = after->reserved - before->reserved;
	g.was_enough = before->used <= before->reserved &&
		       bytes <= before->reserved - before->used && after->used <= before->reserved;
	return g;
}

#endif
