/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_CLOCK_H
#define PROTON_BASE_CLOCK_H
/* Time. All values are nanoseconds. A test may replace both clocks by a fake one. */
#include <stdint.h>

uint64_t clock_monotonic_ns(void);
uint64_t clock_realtime_ns(void);
uint64_t clock_thread_cpu_ns(void);
/* The same moment on a steady clock, which it returns, and on CLOCK_REALTIME, as near as a few tries get. */
uint64_t clock_with_realtime_ns(uint64_t (*steady_ns)(void), uint64_t *ret_realtime_ns);
/* What to add to CLOCK_REALTIME to have CLOCK_MONOTONIC; it wraps, and changes when the former is set. Not two reads
 * one behind the other: between them the thread may not be let run. */
uint64_t clock_to_monotonic_ns(void);
/* From now on both clocks stand at this value; 0 = real time again. Tests only. */
void clock_fake(uint64_t now_ns);

#endif
