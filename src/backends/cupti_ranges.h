/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_RANGES_H
#define PROTON_BACKENDS_CUPTI_RANGES_H
/* Hardware metrics of each kernel (record --metrics): a range around each launch, on the launching thread, and what it
 * counted joined to the kernel's record by its correlation id.
 *
 *   launch ENTER: push     EXIT: pop     image full, end: drain ── values ──┐
 *                                             record of the kernel ── slot ─┴─> sink->ops->measured()
 *
 * With replay there is nothing to push: CUPTI has a range for each kernel, which carries only its number, in the order in
 * which they are launched within a context. If there are not as many as were launched nothing of them is told.
 *
 * Launches of a context wait for each other: from ENTER to EXIT one thread has its lock. Nothing is measured while a
 * stream is captured, which whatever waits for a device would end. */
#include <stdbool.h>
#include <stdint.h>

struct abi_call;
struct cupti;

/* The program launches a kernel, or something else that runs in a context (is_kernel: false). */
void cupti_ranges_enter(struct cupti *c, const struct abi_call *call, bool is_kernel);
/* … has launched it. ran: it will run, and is no node of a graph. */
void cupti_ranges_leave(struct cupti *c, bool ran);
/* A stream begins to be captured, or no longer is. */
void cupti_ranges_capture(struct cupti *c, bool on);
/* All that was counted is told; last: and what is missing. */
void cupti_ranges_flush(struct cupti *c, bool last);
/* A context is about to go. */
void cupti_ranges_end(struct cupti *c, void *context);

/* Do the callbacks above matter? */
bool cupti_ranges_begin(struct cupti *c);

#endif
