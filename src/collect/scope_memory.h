/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_SCOPE_MEMORY_H
#define PROTON_COLLECT_SCOPE_MEMORY_H
/* What scopes leave behind: memory that was allocated within one, and is there when it ends (ADR 46).
 *
 *   blocks  ──>  the scope that they were allocated in  ── it ends ──>  the one around it  ── it ends ──> …
 *
 * A scope of a thread has a list of the blocks that it holds, by their times. When it ends, each of these is counted
 * there once and goes on to the list of the scope around it. So a block is looked at once for each scope that ends
 * around it, and a release knows by whom it was left: by all between where it was allocated and where it is now.
 *
 * Records come later than the ends, and a buffer in which something is unfinished later still. So an end waits
 * SCOPE_MEMORY_WAIT_NS, and a release until all that ended before it is over: so the most that there was of what a scope
 * left is of the order of time. A release that is told of late is late there: that may be too much then.
 *   thread  one at a time (allocations.c) */
#include <stdbool.h>
#include <stdint.h>
#include "core/activity.h"

#define SCOPE_MEMORY_WAIT_NS UINT64_C(2000000000)

/* A block is there: of a kind on a device as numbers of memory_places.h have them. Returns its number; 0: it is in no
 * scope, or there is no room, which is counted. */
uint32_t scope_memory_allocated(const struct memory_event *e, uint32_t total);
/* It is there no longer; where its context has taken it, it was not released. 0 is no block. */
void scope_memory_released(uint32_t block, uint64_t at_ns, bool is_gone);
/* A scope has ended (MEMORY_SCOPE). */
void scope_memory_ended(const struct memory_event *e);
/* All up to a time is known. */
void scope_memory_settle(uint64_t until_ns);
void scope_memory_forked(void);

#endif
