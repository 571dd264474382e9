/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_ALLOCATIONS_H
#define PROTON_COLLECT_ALLOCATIONS_H
/* Memory that is allocated and released, in the order in which that happened.
 *
 *   sink, any thread ──> ring ──> line, in the order of time ──> live memory (live_memory.h)
 *                                                                      and places (memory_places.h)
 *
 * Records come buffer by buffer, a thread's each: the release of a block may come before its allocation, which would
 * leave both for ever and make a wrong peak. So they wait until a flush is over, for then all are there that are older
 * than it. */
#include <stdint.h>
#include "core/activity.h"

/* Any thread. How many wait is collector->n_waiting. */
void allocations_add(uint8_t source, const struct memory_event *e);
/* All up to a time, CLOCK_REALTIME, of a source; any thread, nothing while another one does so. Where there are several
 * sources, they wait for each other. */
void allocations_settle(uint8_t source, uint64_t until_ns);
void allocations_forked(void);

#endif
