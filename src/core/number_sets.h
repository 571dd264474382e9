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

/* Sums of sets that a view counts from 0: of metrics as they are, from which the rest is made; and
 * values that are not made of such, by slots that the view gives its columns. */
struct number_cache {
	struct number_slots {
		struct number_slot {
			double *v; /* unset where nobody has looked (base/unset.h) */
			size_t n, cap;
		} * v;
		size_t n, cap;
	} sums, others;
};

/* The sets are others now. */
void number_cache_clear(struct number_cache *c);
void number_cache_done(struct number_cache *c);

/* The sum of a metric of the nodes of set i alone, where somebody has it already. */
void number_cache_tell(struct number_cache *c, uint32_t metric, uint32_t i, double sum);

/* A set, by the number that its view has for it. */
struct number_row {
	struct number_set set;
	uint32_t i;
};

/* What a view asks for. */
struct number_ask {
	const struct derived
		*metric; /* what is not said to be inclusive or exclusive is what the set is */
	bool before;     /* on the other side of a comparison */
	unsigned slot;   /* another one for each metric and side */
};

/* Shares are of `whole`. NaN: absent. */
double number_row_value(struct numbers *n, struct number_cache *c, const struct number_ask *ask,
			const struct number_row *row, const struct number_row *whole);

#endif
