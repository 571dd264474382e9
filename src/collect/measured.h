/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_MEASURED_H
#define PROTON_COLLECT_MEASURED_H
/* Hardware metrics that are measured of kernels (core/ranges_wanted.h): at each kernel one set of values, beside those of
 * its records.
 *
 *   measured | measured_time (ns) | as they were asked for …
 *
 * How many kernels the others are of, and how long these ran, by which means are weighed. */
#include <stdint.h>

struct ranges_wanted;
/* What the session's directory says; NULL: nothing. */
const struct ranges_wanted *measured_wanted(void);
/* The slot of what is measured beside that of a record; WIRE_NONE: none. */
uint32_t measured_slot(uint32_t beside);
/* Add a kernel. One thread at a time. */
void measured_add(uint32_t slot, uint64_t time_ns, const double *values);

#endif
