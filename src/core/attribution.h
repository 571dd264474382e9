/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_ATTRIBUTION_H
#define PROTON_CORE_ATTRIBUTION_H
/* Whose a sample of a device is: it says something of an operation alone if it fell wholly inside it, and
 * nothing else ran there meanwhile.
 *
 *   stream 7   ──[     gemm     ]───────[      conv      ]──
 *   stream 8   ─────────────────────────────[relu]──────────
 *   samples    │    │    │    │    │    │    │    │    │
 *                ·    gemm   ·    ·    ·   conv, beside others
 *
 * Operations that are as long as samples are kept one by one; of shorter ones, in which no sample fits, when any of
 * them ran.
 *   thread  one
 *   errors  none: the memory is the caller's */
#include "core/coverage.h"

struct attributed {
	uint64_t start, end;
	uint64_t who; /* the caller's */
};

struct attribution {
	struct coverage others; /* shorter ones */
	struct attributed *v;   /* the others, by their start: room for max */
	uint32_t n, max;
	uint64_t least_ns; /* as long as that is long */
	uint64_t floor;    /* what ran before is not known */
};

/* room: max; spans: 2 * n_spans; both at least 2. */
void attribution_init(struct attribution *a, uint64_t least_ns, struct attributed *room,
		      uint32_t max, struct span *spans, uint32_t n_spans);
/* Where there is no more room the oldest is forgotten. */
void attribution_add(struct attribution *a, const struct attributed *work);
/* Those that end by then are not asked for any more. */
void attribution_forget(struct attribution *a, uint64_t until);

enum { ATTRIBUTED_MOST = 8 };
/* Of a time: in which operations it lies wholly, no more than ATTRIBUTED_MOST; alone: nothing else ran in it. */
uint32_t attribution_of(const struct attribution *a, uint64_t start, uint64_t end,
			uint64_t who[ATTRIBUTED_MOST], bool *ret_alone);

#endif
