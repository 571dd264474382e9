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
#include <stdbool.h>
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

/* Two kinds of work on one device: how long either ran, each of them, and both at the same time.
 *
 *     either ├────────────┤  ├──────┤        both = first + second - either
 *     first  ├────────┤      ├──────┤
 *     second       ├──────┤    ├──┤
 *
 * This is exact because the three give up the same time: what comes late counts in all or in none.
 * Until the second kind is seen the first is all there is, and costs nothing. */
struct overlap {
	struct coverage either, first, second;
	bool is_told_apart;
};

#define OVERLAP_SPANS 6 /* room, in spans for each of max */

/* room: OVERLAP_SPANS * max spans; max >= 2. */
void overlap_init(struct overlap *o, struct span *room, uint32_t max);
/* n spans, sorted by start, n <= max / 2; those of the second kind are marked. `split` is room for n. */
void overlap_add(struct overlap *o, const struct span *run, const bool *is_second, uint32_t n,
		 struct span *split);
/* Forget how long it was, not when: time that was covered by then counts in none any more. */
void overlap_reset(struct overlap *o);
/* Pieces remembered. */
uint32_t overlap_spans(const struct overlap *o);
static inline uint64_t overlap_both_ns(const struct overlap *o)
{
	return o->is_told_apart ? o->first.covered_ns + o->second.covered_ns - o->either.covered_ns
				: 0;
}

#endif
