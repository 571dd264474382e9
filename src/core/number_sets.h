/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NUMBER_SETS_H
#define PROTON_CORE_NUMBER_SETS_H
/* Numbers of sets of calling contexts: what a row shows that stands for several nodes.
 *
 *     a { a { k } }, b { k }      "k": both k;  "a": the outer a, and for what is its own both
 *
 * Inclusive numbers are summed over the outermost nodes of a set, exclusive ones over all of them:
 * then both are right under recursion. Minimum, maximum and means combine by their own rule; absent
 * is not zero. Sums are kept in a cache.
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

/* Values by the number of a row. sums: of raw metrics, from which most others are computed. others:
 * values that are not computed from sums, by the slot that the view gave the column. */
struct number_cache {
	struct number_slots {
		struct number_slot {
			double *v; /* unset where nobody has looked (base/unset.h) */
			size_t n, cap;
		} * v;
		size_t n, cap;
	} sums, others;
};

/* To be called when the sets of the rows have changed. */
void number_cache_clear(struct number_cache *c);
void number_cache_done(struct number_cache *c);

/* Put the exclusive sum of a metric over row i into the cache, when the caller knows it already. */
void number_cache_tell(struct number_cache *c, uint32_t metric, uint32_t i, double sum);

/* A set and the number of its row in the view. */
struct number_row {
	struct number_set set;
	uint32_t i;
};

/* What a view wants to know. */
struct number_ask {
	const struct derived *metric; /* without "(inc)" or "(exc)": as the set says */
	bool before;                  /* on the other side of a comparison */
	unsigned slot;                /* a different one for each metric and side */
};

/* How much of a row's time is estimated (core/graph_shares.h). */
extern const struct number_ask number_estimated;

/* Shares are of `whole`. NaN: absent. */
double number_row_value(struct numbers *n, struct number_cache *c, const struct number_ask *ask,
			const struct number_row *row, const struct number_row *whole);

#endif
