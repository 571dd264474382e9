/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_RECORD_COST_H
#define PROTON_INTRA_RECORD_COST_H
/* What it takes to record, on the clock that times are taken on: cycles that scopes have, and the program without records has not.
 *
 *     clock ── rest of the record ── clock        a scope with nothing in it, and its cost
 *
 *   threads  any */
#include <stdbool.h>
#include <stdint.h>
#include "intra/warp_slices.h"

struct record_cost {
	uint32_t read;   /* of a whole scope's entering, which is not stored by then */
	uint32_t record; /* of what is stored */
};

/* Of a multiprocessor of this compute capability (90: 9.0). False: nobody measured it. */
bool record_cost_of(uint32_t capability, struct record_cost *ret);
/* Each time is earlier by what was recorded before it; a scope that would end before it begins lasts 0 cycles. 0 or
 * -ENOMEM: nothing was changed. */
int record_cost_take(const struct record_cost *cost, struct warp_contents *warp);

#endif
