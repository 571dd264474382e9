/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_STEP_RAN_H
#define PROTON_COLLECT_STEP_RAN_H
/* When the devices of this process worked, of late: what steps of loops are held against (core/step_busy.h), those with
 * names (steps.h) and those that were found by what they launch (periods.h).
 *
 *     taker of intervals ── step_ran_add(), any order ──> all devices as one ── step_ran_settle(): what is all there counts
 *                           step_ran_copied() ─┐                                    │
 *     allocations, in order ── step_ran_held() ┴─> bytes (core/step_marks.h) ───────┘
 *
 * Only of backends that say what is all there (idle.h), and by their clock.
 *   thread  whoever holds the taker's place (intervals.c) */
#include <stdbool.h>
#include <stdint.h>
#include "collect/copy_lanes.h"
#include "core/coverage.h"
#include "core/step_busy.h"
#include "core/step_moved.h"

/* n of one device, in the order of their start. */
void step_ran_add(uint32_t device, const struct span *run, uint32_t n);
/* n gaps between nodes of one launch of a graph, of one device, in the order of time. */
void step_ran_in_graphs(const struct span *run, uint32_t n);
/* What came before the last idle_look() is there. Not is_whole: something of it is not known, and no step is that
 * began by now. */
void step_ran_settle(bool is_whole);
/* What steps that are over needed may go. */
void step_ran_forget(void);

/* … that each copied what way[] says. */
void step_ran_copied(uint32_t device, const struct span *run, const struct copy_way *way,
		     uint32_t n);

/* All that began before is there; 0: nobody says so. */
uint64_t step_ran_until_ns(void);
/* What the clock of the work showed when steady_ns() showed that, as it is since the last step_ran_settle(). */
uint64_t step_ran_clock_ns(uint64_t steady_ns);

/* What is known of the steps of a loop. */
struct step_work {
	struct step_busy busy;
	struct step_moved moved;
};
struct step_work_told {
	struct step_busy_told busy;
	struct step_moved_told moved;
};

/* A step began and is not over. */
void step_ran_open(struct step_work *w, uint64_t start_ns);
/* … one is over, and step_ran_until_ns() is not before its end. */
void step_ran_ended(struct step_work *w, const struct step_ended *step);
/* median_ns: of all steps, known or not. */
void step_ran_tell(const struct step_work *w, uint64_t median_ns, struct step_work_told *ret);

/* From that moment on so many bytes of devices are held: whoever settles memory (allocations.c), one at a time. */
void step_ran_held(uint64_t at_ns, uint64_t bytes);
/* … all up to then was said. */
void step_ran_held_until(uint64_t until_ns);

void step_ran_forked(void); /* in a fork child */

#endif
