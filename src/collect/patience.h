/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PATIENCE_H
#define PROTON_COLLECT_PATIENCE_H
/* How much longer to wait. Time in which the process did not run does not count: one that is
 * stopped (Ctrl-Z, a debugger, a machine that pauses) loses nothing when it goes on. To notice
 * that, whoever waits looks at the clock every PATIENCE_GAP_MS.
 *   thread  its owner's */
#include <stdbool.h>
#include <stdint.h>
#include "base/clock.h"
#include "base/util.h"

enum { PATIENCE_GAP_MS = 100 }; /* what counts of the time between two looks at the clock */

struct patience {
	uint64_t left_ns, seen_ns;
	bool is_answer; /* sender.c: delays of our threads do not count, either */
};

static inline struct patience patience(uint32_t ms)
{
	return (struct patience){ms * NSEC_PER_MSEC, clock_monotonic_ns(), false};
}

/* How long until the next look; 0: it is at its end. */
static inline uint32_t patience_ms(struct patience *p)
{
	const uint64_t gap_ns = PATIENCE_GAP_MS * NSEC_PER_MSEC;
	uint64_t now = clock_monotonic_ns(), passed_ns = MIN(now - p->seen_ns, gap_ns);

	p->seen_ns = now;
	p->left_ns -= MIN(passed_ns, p->left_ns);
	return p->left_ns ? (uint32_t)(MIN(p->left_ns, gap_ns - 1) / NSEC_PER_MSEC + 1) : 0;
}

#endif
