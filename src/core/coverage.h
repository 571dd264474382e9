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
/* Time before `floor` is no longer counted, as if it had been forgotten for want of room. */
void coverage_raise_floor(struct coverage *c, uint64_t floor);
/* How much of the time from start to end is covered. False: some of it was forgotten. */
bool coverage_within(const struct coverage *c, uint64_t start, uint64_t end, uint64_t *ret_ns);
/* Room for n <= max / 2 more: what coverage_add() would forget is forgotten. */
void coverage_make_room(struct coverage *c, uint32_t n);
/* Of the pieces that are remembered, the time that both cover between two moments. */
uint64_t coverage_common(const struct coverage *a, const struct coverage *b, uint64_t from,
			 uint64_t to);

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
/* Room for n more, of each kind: what overlap_add() would forget is forgotten. */
void overlap_make_room(struct overlap *o, uint32_t n);
/* What those of the first kind cover. */
static inline const struct coverage *overlap_first(const struct overlap *o)
{
	return o->is_told_apart ? &o->first : &o->either;
}
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
