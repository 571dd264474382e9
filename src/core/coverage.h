/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_COVERAGE_H
#define PROTON_CORE_COVERAGE_H
/* How much time a set of intervals covers; where they overlap, time counts once.
 *
 *          floor         v[0]         v[1]   …    v[n - 1]
 *   ─ given up ┤   ├──────────┤     ├─────┤       ├───────┤        time ─>
 *
 * Intervals come in runs that are sorted by their start. A run may lie before what is known already
 * (records of one stream come later than those of another): it then fills gaps. Only the newest
 * `max` pieces are kept. Time before these is no longer counted, because it may have been covered.
 *   thread  one
 *   errors  none: the memory is the caller's */
#include <stdint.h>

struct span {
	uint64_t start, end; /* ns of any clock; start <= end */
};

struct coverage {
	struct span *v, *scratch; /* room for max each */
	uint32_t n, max;
	uint64_t floor;
	uint64_t covered_ns; /* of all that ever came */
};

/* room: 2 * max spans; max >= 2. */
void coverage_init(struct coverage *c, struct span *room, uint32_t max);
/* n spans, sorted by start. */
void coverage_add(struct coverage *c, const struct span *run, uint32_t n);

#endif
