/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_RAN_WITHIN_H
#define PROTON_CORE_RAN_WITHIN_H
/* What ran in the places that have hardware metrics, in two runs: below each, down to the next such places, each kernel and
 * each copy as often.
 *
 *   outer  measured        ──  outer: add 2, copy 1
 *   ├ add 2                ──  inner: mul 1
 *   ├ copy 1
 *   └ inner  measured
 *     └ mul 1
 *
 *   thread  one */
#include "core/run_sides.h"

struct ran_otherwise {
	uint32_t place, process; /* the node in the tree of both; of the first run */
	uint32_t what;           /* a node that ran another number of times, the first of them */
	double n[RUN_N_SIDES];
};

/* The places in which something ran more often in one of them, in order; free() them. 0 or -ENOMEM. */
int ran_within_compare(const struct run_sides *sides, struct ran_otherwise **ret, size_t *ret_n);
/* The one of this place; NULL: the same ran there. */
const struct ran_otherwise *ran_within_find(const struct ran_otherwise *list, size_t n,
					    uint32_t place, uint32_t process);

#endif
