/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_TRIAL_H
#define PROTON_COUNTERS_TRIAL_H
/* Does a device count when it is asked to? Each way to count is begun with what a run would take unless it is told
 * otherwise, and given back: by a child each (launch/probe.h), for a driver may crash or hang in it. ctx: a const uint32_t,
 * the device's place among those that programs see. Its lines:
 *
 *   stage TEXT, broken TEXT, no-gpu TEXT  as of other children that ask CUPTI (counters/asker.h)
 *   device NAME                           as the driver calls it
 *   untried TEXT                          why it is not
 *   refused RESULT TEXT                   of CUPTI, 0: it is no result that says so; the end of a sentence
 *   worked BEGAN_US BACK_US TEXT          how long it took to begin, and to give back; what was begun
 */
#include "launch/probe.h"

/* PM sampling makes no context; the others take the primary one of the device. */
probe_fn trial_counters, trial_ranges, trial_code;

#endif
