/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_RANGE_JOINS_H
#define PROTON_BACKENDS_CUPTI_RANGE_JOINS_H
/* What was counted around a kernel, and the kernel's record, whoever comes first: both together are
 * told, at the place of the record.
 *
 *   thread  any */
#include <stdbool.h>
#include <stdint.h>

struct activity;
struct cupti;
struct ranges_wanted;

/* Once, before all others. False: no memory. */
bool range_joins_begin(const struct ranges_wanted *w);
/* The values of the kernel of a launch, which was at this time (CLOCK_REALTIME). */
void range_join(struct cupti *c, uint32_t correlation, uint64_t at_ns, const double *values);
/* The record of a kernel that was launched by itself, before it is delivered. true: it has no times, but will be delivered
 * when its range has told how long it ran. */
bool range_join_record(struct cupti *c, const struct activity *a, uint32_t correlation,
		       bool is_timed);
/* Halves whose other half did not come until now never will. */
void range_joins_end(struct cupti *c);
/* Values that came; … and were given up, for want of a record. */
uint64_t range_joins_n(void);
uint64_t range_joins_n_given_up(void);

#endif
