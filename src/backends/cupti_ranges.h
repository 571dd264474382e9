/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_RANGES_H
#define PROTON_BACKENDS_CUPTI_RANGES_H
/* Hardware metrics (record --metrics), of each kernel: a range around each launch, on the launching thread, and what it
 * counted joined to the kernel's record by its correlation id.
 *
 *   launch ENTER: push     EXIT: pop     image full, end: drain ── values ──┐
 *                                             record of the kernel ── slot ─┴─> sink->ops->measured()
 *
 * With replay there is nothing to push: CUPTI has a range for each kernel, which carries only its number, in the order in
 * which they are launched within a context. If there are not as many as were launched nothing of them is told.
 *
 * Of scopes (--range scope, nvtx): a range goes from the first launch of a place on, until that thread enters or leaves a
 * scope, or another place is launched from in this context. So ranges do not nest, and no work is in two of them: a scope
 * has what its pieces and those of scopes within it add up to.
 *
 *   outer   [ a b           c ]        push a b pop  push x pop  push c pop
 *   inner          [ x ]
 *
 * Launches of a context wait for each other: from ENTER to EXIT one thread has its lock. Nothing is measured while a
 * stream is captured, which whatever waits for a device would end. */
#include <stdbool.h>
#include <stdint.h>
#include "backends/backend.h"

struct abi_call;
struct cupti;

enum ranged_work { RANGED_KERNEL, RANGED_GRAPH, RANGED_COPY, RANGED_N_WORK };

/* The program launches something in a context; launch: its launch context. */
void cupti_ranges_enter(struct cupti *c, const struct abi_call *call, enum ranged_work what,
			uint32_t launch);
/* … has launched it, or failed to. is_launch: it has a record, and is no node of a graph; not asked of copies. */
void cupti_ranges_leave(struct cupti *c, const struct abi_call *call, bool failed, bool is_launch);
/* The scopes of a thread (struct range_place) are others from here on. */
void cupti_ranges_moved(struct cupti *c, uint32_t thread);
/* A stream begins to be captured. */
void cupti_ranges_capture(struct cupti *c);
/* All that was counted up to now is told, as far as this stage of a flush needs it. true: records are to be asked for by force.
 * CUPTI hands those of kernels that it ran again over in no other way; nothing is launched then until cupti_ranges_resume(),
 * and nothing runs. Periods with little to do are as short as the others, and those that would cost much are left out. */
bool cupti_ranges_settle(struct cupti *c, enum flush how);
void cupti_ranges_resume(void);
/* After the last records: what is missing. */
void cupti_ranges_last(struct cupti *c);
/* A context is about to go. */
void cupti_ranges_end(struct cupti *c, void *context);

/* Do the callbacks above matter? */
bool cupti_ranges_begin(struct cupti *c);

#endif
