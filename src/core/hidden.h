/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_HIDDEN_H
#define PROTON_CORE_HIDDEN_H
/* Copies of one lane among the other work of their device: how long they ran, and for how much of that something else
 * ran there, too.
 *
 *     others ├────────┤     ├──────┤          hidden = what both cover
 *     lane       ├──────┤     ├──┤
 *
 * The others of a device are covered once, whatever the number of its lanes (core/coverage.h): what a lane has in common
 * with them is looked at before and after either grows, within the time where that grows. So it is exact in whatever
 * order things come, as long as both remember the time. What others forgot is no longer counted for a lane either. What
 * a lane forgot itself is: others that come so late may have hidden more of it, which is `late_ns` at the most.
 *   thread  one
 *   errors  none: the memory is the caller's */
#include "core/coverage.h"

struct hidden {
	struct coverage lane;
	uint64_t hidden_ns, late_ns;
	uint64_t forgot; /* the lane's own memory begins here */
};

/* v: room for max spans, max >= 2; scratch: the same, which all lanes may share. */
void hidden_init(struct hidden *h, struct span *v, struct span *scratch, uint32_t max);
/* Others are about to grow between these moments, and have grown; in pairs. */
void hidden_before(struct hidden *h, const struct coverage *others, uint64_t from, uint64_t to);
void hidden_after(struct hidden *h, const struct coverage *others, uint64_t from, uint64_t to);
/* n copies, sorted by start, n <= max / 2. */
void hidden_add(struct hidden *h, const struct coverage *others, const struct span *run,
		uint32_t n);
/* Nothing was, and what comes from before `since` is not. */
void hidden_reset(struct hidden *h, uint64_t since);
static inline uint64_t hidden_copies_ns(const struct hidden *h)
{
	return h->lane.covered_ns;
}

#endif
