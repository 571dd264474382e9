/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_MEMORY_LOG_H
#define PROTON_COLLECT_MEMORY_LOG_H
/* The latest operations on memory one by one, for programs that ask for them (python/proton/gmp.py). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/activity.h"

enum { MEMORY_LOG_MAX = 1 << 17 }; /* that are kept */

/* As the program reads it (python/proton/_native.py). */
struct memory_record {
	uint64_t at_ns, address, bytes; /* CLOCK_REALTIME */
	uint32_t operation;             /* 1: allocated, 2: released */
	uint32_t kind;                  /* CUPTI's number of a kind of memory */
	uint32_t correlation, device, context, stream, async, unused;
};

/* collect_memory_log(): those from now on are kept, for good. False: there is no room, or they are not recorded.
 * collect_memory_read(): those from number *from on, at most n of them; *from is then that of the first one, which is
 * later where some are not kept any more. Returns how many. Both: any thread. */

/* The thread that holds the order of operations (allocations.c). */
void memory_log_put(const struct memory_event *e);
void memory_log_forked(void);

#endif
