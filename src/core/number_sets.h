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
	bool inclusive;   /* a number counts what is below, unless it says otherwise */
	bool only_own;    /* nothing of it counts what is below */
};

/* Beside those of enum number, which are what the set is about: */
enum {
	NUMBER_SELF = NUMBER_N, /* time of the nodes alone */
	NUMBER_TOTAL,           /* with everything below */
	NUMBER_LIMIT,           /* derived: what the view is limited by, */
	NUMBER_LIMIT_BEFORE,    /* of the other side, */
	NUMBER_DERIVED,         /* the first that is asked for by name, */
	NUMBER_BEFORE,          /* of the other side, and so on */
	NUMBER_SETS_N = 64,
};

/* NaN: absent. */
double number_set_sum(struct numbers *n, unsigned which, const struct number_set *set);
/* Of a metric made of others, for the place that it has in a cache; a share is one of `whole`. */
double number_set_derived(struct numbers *n, unsigned which, const struct derived *m,
			  const struct number_set *set, const struct number_set *whole);

/* Sums of sets that somebody counts from 0. Each set has a bit for each number in the cache, 0 at
 * first. */
struct number_cache {
	double *v[NUMBER_SETS_N];
	size_t cap[NUMBER_SETS_N];
};

/* True: it is known. */
bool number_cache_get(const struct number_cache *c, uint64_t known, unsigned which, uint32_t i,
		      double *ret);
void number_cache_put(struct number_cache *c, uint64_t *known, unsigned which, uint32_t i,
		      double v);
void number_cache_done(struct number_cache *c);

#endif
