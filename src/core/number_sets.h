/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NUMBER_SETS_H
#define PROTON_CORE_NUMBER_SETS_H
/* Numbers of sets of calling contexts: what a row shows that stands for several nodes.
 *
 *     a { a { k } }, b { k }      "k": both k;  "a": the outer a, and for what is its own both
 *
 * Inclusive numbers are summed over the outermost nodes of a set, exclusive ones over all of them:
 * then both are right under recursion. Minimum, maximum and means combine by their own rule; absent
 * is not zero. What was summed once is kept.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/derive.h"
#include "core/numbers.h"

struct number_set {
	const uint32_t *nodes;
	uint32_t n;
	uint32_t n_outer; /* the first ones, of which none lies below another */
	bool inclusive;   /* a number counts what is below, unless it is said to be exclusive */
	bool only_own;    /* nothing of it counts what is below */
};

/* A metric, as the set is about it: what is not said to be inclusive or exclusive is what the set is.
 * Shares are of `whole`. before: of the other side of a comparison. NaN: absent. */
double number_set_value(struct numbers *n, bool before, const struct derived *m,
			const struct number_set *set, const struct number_set *whole);

/* Values of sets that somebody counts from 0, by slots: a slot is a metric on a side, as the view
 * counts its columns. */
struct number_cache {
	struct number_slot {
		double *v; /* unset where nobody has looked (base/unset.h) */
		size_t n, cap;
	} *slots;
	size_t n, cap;
};

/* The sets are others now. */
void number_cache_clear(struct number_cache *c);
void number_cache_done(struct number_cache *c);
/* Where the value of set i is or is to be put; NULL: out of memory. Valid until the next call. */
double *number_cache_at(struct number_cache *c, unsigned slot, uint32_t i);

#endif
