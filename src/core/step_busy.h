/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEP_BUSY_H
#define PROTON_CORE_STEP_BUSY_H
/* How much of the steps of a loop the devices of a process were busy, or had nothing to do.
 *
 *     step on the host    ├───────── 3 ─────────┤├──── 4 …
 *     device 0                ├──────┤       ├──────┤              busy in step 3: ████████ … ███
 *     device 1                   ├──────┤                          idle in it: the rest of its time
 *
 * What counts is when, not for whom: a device that works on what step 3 launched after that has ended is busy in step 4.
 * Where several devices work at once, time counts once. When none works between two nodes of one launch of a graph, that
 * is neither busy nor idle: recording them by node may have made it (core/gaps.h). A step is added when all is known that began before its end; one
 * that is longer than what is remembered goes in pieces, while it is open.
 *   thread  one
 *   errors  none: no memory is asked for */
#include <stdbool.h>
#include <stdint.h>
#include "core/coverage.h"
#include "core/step_slow.h"
#include "core/steps.h"

/* When devices of a process worked, all as one. */
struct step_covers {
	const struct coverage *ran;
	const struct coverage
		*in_graphs; /* … and when one was between nodes of a graph; NULL: none ever was */
};

/* A step that is over. */
struct step_ended {
	uint64_t start_ns, end_ns; /* by the clock of the devices' work */
	uint64_t ns;               /* what it took, as it is told */
	uint64_t number;
	uint64_t nth;  /* of the loop, also those of which nothing more is known */
	bool is_first; /* of a loop, or since it was reset: what was before counts no more */
};

struct step_busy {
	struct steps busy, idle;
	uint64_t slowest_ns, slowest, slowest_busy_ns; /* of those that are known; the time + 1 */
	struct step_slow slow;
	struct {
		uint64_t start_ns, until_ns;
		struct step_parts {
			uint64_t busy_ns, in_graphs_ns;
		} of;
	} open; /* what is known by now of one that is open; start 0: nothing */
};

struct step_busy_told {
	struct steps_told busy, idle; /* n: of how many it is known */
	uint64_t slowest, slowest_busy_ns;
	struct step_slow_told slow;
};

void step_busy_clear(struct step_busy *b);
/* A step began at start_ns and is not over; all that began before until_ns is in ran. */
void step_busy_go_on(struct step_busy *b, const struct step_covers *c, uint64_t start_ns,
		     uint64_t until_ns);
/* … one is over, and all that began before its end is in ran. */
void step_busy_add(struct step_busy *b, const struct step_covers *c, const struct step_ended *step);
/* median_ns: what half of all steps do not exceed, known or not. */
void step_busy_tell(const struct step_busy *b, uint64_t median_ns, struct step_busy_told *ret);

#endif
