/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_RANGE_OWN_H
#define PROTON_BACKENDS_CUPTI_RANGE_OWN_H
/* What CUPTI launches by itself to count in ranges: with one pass and metrics of DRAM a kernel `WaitNs` of 40 us in each range
 * (CUDA 13.0 on an H200). It has a record like any other, which is left out. */
#include <stdbool.h>
#include <stdint.h>

struct abi_call;
struct activity;
struct cupti;

/* Between these the range profiler is called on this thread. */
void range_own_begin(void);
void range_own_end(void);
/* … and it is now: what is launched is not the program's. */
bool range_own_is_within(void);
/* For the entry of a launch by the program (cupti_launches_put()): is its kernel one with such a name, as far as is
 * known? */
unsigned range_own_pattern(const struct abi_call *call);
/* Before anything else is done with the record of a kernel: is it one of CUPTI's? It is counted then.
 *   thread  any */
bool range_own_record(struct cupti *c, const struct activity *a, uint32_t correlation);
/* Once: how many of them were left out. */
void range_own_tell(struct cupti *c);

#endif
