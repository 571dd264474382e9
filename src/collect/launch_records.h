/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_LAUNCH_RECORDS_H
#define PROTON_COLLECT_LAUNCH_RECORDS_H
/* The latest records of kernels, by the vendor's number of their launch: for who has something else of a launch, and may have it
 * earlier or later. Nothing is kept until somebody wants them.
 *   thread  any */
#include <stdbool.h>
#include <stdint.h>
#include "core/activity.h"

struct launch_record {
	uint32_t correlation;
	uint64_t number; /* of the launch, in its context; 0: not known */
	uint64_t start_ns, end_ns;
};

void launch_records_want(void);
bool launch_records_are_wanted(void);
/* A kernel ran; node: its own. */
void launch_records_add(const struct activity *a, uint32_t node);
/* False: it is not there yet, or not any more. */
bool launch_records_find(uint32_t correlation, struct launch_record *ret);
/* In a fork child: they are the parent's. */
void launch_records_forked(void);

#endif
