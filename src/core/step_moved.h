/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEP_MOVED_H
#define PROTON_CORE_STEP_MOVED_H
/* What a process held of its devices' memory at the end of each step of a loop, and how much was copied in it, by
 * direction.
 *
 * As with the time of devices (step_busy.h) what counts is when: a copy is of the step in which it began to run.
 *   thread  one
 *   errors  none: no memory is asked for */
#include <stdbool.h>
#include <stdint.h>
#include "core/step_busy.h"
#include "core/step_marks.h"
#include "core/step_trend.h"

struct step_moved {
	struct step_trend of[STEP_N_TOTALS];
	bool has_memory; /* has any been allocated, ever? */
	struct {
		uint64_t start_ns, before[STEP_N_TOTALS];
	} open; /* what there was when the one that is open began; start 0: not known */
};

struct step_moved_told {
	uint64_t n;      /* of how many it is known */
	bool has_memory; /* else it has none, and nothing is known of its end */
	bool has_copies;
	struct step_moved_number {
		uint64_t sum, max, growth;
	} of[STEP_N_TOTALS];
};

void step_moved_clear(struct step_moved *m);
/* A step began at start_ns and is not over; all before until_ns is in marks. */
void step_moved_go_on(struct step_moved *m, const struct step_marks *marks, uint64_t start_ns,
		      uint64_t until_ns);
/* … one is over, and all before its end is in marks. */
void step_moved_add(struct step_moved *m, const struct step_marks *marks,
		    const struct step_ended *step);
void step_moved_tell(const struct step_moved *m, struct step_moved_told *ret);

#endif
