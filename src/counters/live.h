/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_LIVE_H
#define PROTON_COUNTERS_LIVE_H
/* Which metric of the set "live" is which number of core/counted.h. */
#include "core/counted.h"

/* COUNTED_N: of none. */
enum counter_id live_counter(const char *metric);
/* A sample's value of it, in the number's unit: what the hardware adds up is told a second. */
double live_value(enum counter_id id, double value, uint64_t sample_ns);

#endif
