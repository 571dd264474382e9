/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_OTHER_RUN_H
#define PROTON_CORE_OTHER_RUN_H
/* Hardware metrics that another run of the same program counted, in the profile of the first (record --replay
 * application):
 *
 *   run 1   outer ─ inner  measured 2, dram__bytes.sum          outer ─ inner  measured 2, dram__bytes.sum,
 *   run 2   outer ─ inner  measured 2, lts__t_sectors.sum  ──>                 lts__t_sectors.sum
 *
 * All else is the first run's alone: nothing is counted twice. What is joined has the same calling context, epoch and device,
 * and the same process: by rank and command, or the only one that measured anything. Streams have their numbers; threads
 * have none that last, but for the main one: where there are several others, what they counted is added up, of no thread.
 *
 * It is taken only where both runs did the same: as many ranges, in which each kernel and each copy ran as often
 * (core/ran_within.h). A note names where that was not so.
 *   thread  one */
#include "core/session.h"

/* number: of the other run, from 2 on, of n_runs. 0 or -ENOMEM; first is then good for freeing only. */
int other_run_join(struct session *first, const struct session *other, unsigned number,
		   unsigned n_runs);

#endif
