/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_STEP_RAN_H
#define PROTON_COLLECT_STEP_RAN_H
/* When the devices of this process worked, of late: what steps of loops are held against (core/step_busy.h), those with
 * names (steps.h) and those that were found by what they launch (periods.h).
 *
 *     taker of intervals ── step_ran_add(), any order ──> all devices as one ── step_ran_settle(): what is all there counts
 *
 * Only of backends that say what is all there (idle.h), and by their clock.
 *   thread  whoever holds the taker's place (intervals.c) */
#include <stdbool.h>
#include <stdint.h>
#include "core/coverage.h"

/* n of one device, in the order of their start. */
void step_ran_add(uint32_t device, const struct span *run, uint32_t n);
/* What came before the last idle_look() is there. Not is_whole: something of it is not known, and no step is that
 * began by now. */
void step_ran_settle(bool is_whole);
/* What steps that are over needed may go. */
void step_ran_forget(void);

const struct coverage *step_ran(void);
/* All that began before is in it; 0: nobody says so. */
uint64_t step_ran_until_ns(void);
/* What the clock of the work showed when steady_ns() showed that, as it is since the last step_ran_settle(). */
uint64_t step_ran_clock_ns(uint64_t steady_ns);

void step_ran_forked(void); /* in a fork child */

#endif
