/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PAIR_H
#define PROTON_CORE_PAIR_H
/* Two profiles on one tree, so that whatever is computed of one can be compared with the other.
 *
 *   before: ROOT ─ step ─ gemm         before: 0 ROOT ─ 1 step ─ 2 gemm  12ms
 *   after:  ROOT ─ step ─ gemm                                 └ 3 relu  -
 *                       └ relu   ──>   after:  0 ROOT ─ 1 step ─ 2 gemm  15ms
 *                                                              └ 3 relu  1ms
 *
 * Node i and metric i are the same in both; each has the values, devices and histograms of its own
 * side only. Paths are matched by the names on them; siblings of one name are one.
 *   thread  one */
#include <stdint.h>
#include "core/session.h"
#include "core/snapshot.h"

enum pair_side { PAIR_BEFORE = 0, PAIR_AFTER, PAIR_N };

/* 0 or -ENOMEM; the inputs may be freed afterwards. */
int pair_make(const struct session *before, const struct session *after,
	      struct session *ret_sides[PAIR_N]);

/* The same with groups above the paths (core/regroup.h). */
int pair_make_grouped(const struct session *before, const struct session *after, enum group group,
		      struct session *ret_sides[PAIR_N]);

/* 1 for each node that this side has: one with values, or above such; malloc'd. NULL: no memory. */
uint8_t *pair_present(const struct session *side);

/* b - a, where one that is absent counts as 0; NaN: both are. */
double pair_delta(double a, double b);

#endif
