/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PATIENCE_H
#define PROTON_COLLECT_PATIENCE_H
/* How much longer to wait. Time in which the process did not run does not count: one that is
 * stopped (Ctrl-Z, a debugger, a machine that pauses) loses nothing when it goes on. To notice
 * that, whoever waits looks at the clock every PATIENCE_GAP_MS.
 *
 * What others kept our threads from doing does not count, either, as far as it is not within a long look that did
 * not count anyway: never more is given back than has been taken, so that every wait ends. A look is long because
 * nothing ran, or because our threads were not let: their delay says which, where it is told at each look.
 *   thread  its owner's */
#include <stdbool.h>
#include <stdint.h>
#include "base/clock.h"
#include "base/util.h"

enum {
	PATIENCE_GAP_MS = 100,       /* what counts of the time between two looks at the clock */
	PATIENCE_EXCUSED_MS = 60000, /* all that is given back of a wait */
};

struct patience {
	uint64_t left_ns, seen_ns;
	bool is_answer; /* sender.c: delays of our threads do not count, either */
	/* Since it began: what counted, what did not, and how much of the first was given back. */
	uint64_t counted_ns, skipped_ns, excused_ns;
	/* … how long our threads were delayed, as was told last, of it what was in long looks, and what was skipped by then */
	uint64_t delayed_ns, delayed_in_skips_ns, skipped_by_then_ns;
};

static inline struct patience patience(uint32_t ms)
{
	return (struct patience){.left_ns = ms * NSEC_PER_MSEC, .seen_ns = clock_monotonic_ns()};
}

/* How long until the next look; 0: it is at its end. */
static inline uint32_t patience_ms(struct patience *p)
{
	const uint64_t gap_ns = PATIENCE_GAP_MS * NSEC_PER_MSEC;
	uint64_t now = clock_monotonic_ns(), passed_ns = MIN(now - p->seen_ns, gap_ns);

	p->skipped_ns += now - p->seen_ns - passed_ns;
	p->seen_ns = now;
	passed_ns = MIN(passed_ns, p->left_ns);
	p->counted_ns += passed_ns;
	p->left_ns -= passed_ns;
	return p->left_ns ? (uint32_t)(MIN(p->left_ns, gap_ns - 1) / NSEC_PER_MSEC + 1) : 0;
}

/* A thread was ready to run for so long since the wait began, and was not let. Of what it was delayed more by since it
 * was told before as much as can be is in long looks. */
static inline void patience_delayed(struct patience *p, uint64_t delayed_ns)
{
	uint64_t more_ns = delayed_ns - MIN(p->delayed_ns, delayed_ns);

	p->delayed_in_skips_ns += MIN(more_ns, p->skipped_ns - p->skipped_by_then_ns);
	p->skipped_by_then_ns = p->skipped_ns;
	p->delayed_ns += more_ns;
}

/* How much more of that is given back. */
static inline uint64_t patience_excuse(struct patience *p)
{
	uint64_t ns = MIN(p->delayed_ns - p->delayed_in_skips_ns, p->counted_ns);

	ns = MIN(ns, PATIENCE_EXCUSED_MS * NSEC_PER_MSEC);
	ns -= MIN(p->excused_ns, ns);
	p->excused_ns += ns;
	p->left_ns += ns;
	return ns;
}

#endif
