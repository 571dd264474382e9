/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_CALLERS_H
#define PROTON_CORE_CALLERS_H
/* One function with its callers and callees, over all its calling contexts.
 *
 *     caller A ┐              ┌ callee X        a row is the set of contexts of one such edge:
 *     caller B ┤── function ──┤ callee Y        inclusive numbers are over the outermost of them,
 *     function ┘              └ function        exclusive ones over all (core/number_sets.h)
 *
 * A context counts once in inclusive numbers, even if the edge is on its path more than once. So
 * the rows of a recursive function overlap, and each is right by itself.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/number_sets.h"

enum callers_side {
	CALLERS_FUNCTION, /* row 0: its outermost contexts */
	CALLERS_CALLER,
	CALLERS_CALLEE,
	CALLERS_ITSELF, /* what it holds without what it calls: exclusive; the last row, if any */
};

struct callers_row {
	uint32_t frame;    /* of numbers_functions() */
	uint32_t example;  /* a snapshot node with that name */
	uint32_t first, n; /* of its contexts */
	uint32_t n_outer;  /* of n, the first: contexts that lie below no other */
	uint8_t side;      /* enum callers_side */
};

struct callers;

/* numbers is borrowed. NULL: out of memory. */
struct callers *callers_new(struct snapshot *snap, struct numbers *numbers);
struct callers *callers_free(struct callers *c);
/* The function that a node of the snapshot is a context of. 0 or -ENOMEM (there are no rows then).
 */
int callers_update(struct callers *c, uint32_t node);
uint32_t callers_n(const struct callers *c);
const struct callers_row *callers_row(const struct callers *c, uint32_t i);
/* The value of a metric: inclusive unless "(exc)" was given or the row is CALLERS_ITSELF. Shares
 * are of the function's value. NaN: absent. */
double callers_value(struct callers *c, uint32_t i, const struct number_ask *ask);
/* The context of a row with the most time (or else the first one). */
uint32_t callers_heaviest(struct callers *c, uint32_t i);
/* Does it call itself, however indirectly? */
bool callers_is_recursive(const struct callers *c);

#endif
