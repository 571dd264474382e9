/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_MEMORY_COLUMNS_H
#define PROTON_CORE_MEMORY_COLUMNS_H
/* Columns of the tables of memory, as the report and the screen have them: what they are called, what they mean, and
 * which are left out first where there is no room (the highest rank). */
#include "base/human.h"
#include "core/held.h"
#include "core/metric.h"

/* Of all memory of a kind (struct held *h).
 *    id         title        value            human    width rank  meaning */
/* clang-format off */
#define HELD_COLUMNS(_)                                                                            \
	_(live,      "HELD",      h->live,         bytes,   6, 0, "bytes that are not released")   \
	_(peak,      "PEAK",      h->peak,         bytes,   6, 1, "the most that there was at a time") \
	_(peak_at,   "WHEN",      h->peak_at_ns,   time_ns, 7, 2,                                  \
	  "when there was most, since the process was first seen")                                       \
	_(allocs,    "ALLOCS",    h->allocs,       count,   6, 3, "times that memory was allocated") \
	_(allocated, "ALLOCATED", h->allocated,    bytes,   9, 5, "bytes that were allocated")     \
	_(frees,     "FREES",     h->frees,        count,   6, 4, "times that it was released")    \
	_(left,      "GONE",      h->left,         bytes,   6, 6,                                  \
	  "bytes not released before their context ended")
/* Of what the code of a file allocates (struct held_by *h). */
#define HELD_BY_COLUMNS(_)                                                                         \
	_(by_live,   "HELD",      h->live,         bytes,   6, 0, "bytes that are not released")   \
	_(by_peak,   "OF PEAK",   h->at_peak,      bytes,   7, 1, "held when there was most of the kind") \
	_(by_allocs, "ALLOCS",    h->allocs,       count,   6, 3, "times that memory was allocated") \
	_(by_sum,    "ALLOCATED", h->allocated,    bytes,   9, 2, "bytes that were allocated")     \
	_(by_frees,  "FREES",     h->frees,        count,   6, 4, "times that it was released")    \
	_(by_left,   "GONE",      h->left,         bytes,   6, 5,                                  \
	  "bytes not released before their context ended")
#define POOL_COLUMNS(_)                                                                            \
	_(reserved,  "RESERVED",  h->reserved,     bytes,   8, 0, "bytes that the pool has of the device") \
	_(used,      "USED",      h->used,         bytes,   6, 1, "bytes of these that are allocated") \
	_(share,     "USED%",     held_used(h),    percent, 5, 2, "share of these")                \
	_(most,      "PEAK",      h->reserved_peak, bytes,  6, 3, "the most that it had reserved")  \
	_(most_used, "USED PEAK", h->used_peak,    bytes,   9, 7, "the most of it that was allocated at a time") \
	_(unused,    "UNUSED",    h->unused,       bytes,   6, 5, "bytes that were free in it when it had reserved the most") \
	_(fragmented, "FRAGMENTED", h->fragmented, bytes,  10, 4,                                  \
	  "bytes by which it grew for what was no larger than what was free in it")                \
	_(frag_times, "TIMES",    h->fragmented_times, count, 6, 6, "times that it grew so")

/* Of a calling context.
 *    metric      title         form   human   width rank  meaning */
#define HOLDER_COLUMNS(_)                                                                          \
	_(MEM_LIVE,   "HELD",       BYTES, bytes,   6, 0, "bytes that are not released")           \
	_(AT_PEAK,    "OF PEAK",    BYTES, bytes,   7, 1, "held when there was most of the kind")  \
	_(ALLOCS,     "ALLOCS",     COUNT, count,   6, 3, "times that memory was allocated")       \
	_(ALLOCATED,  "ALLOCATED",  BYTES, bytes,   9, 5, "bytes that were allocated")             \
	_(FREES,      "FREES",      COUNT, count,   6, 4, "times that it was released")            \
	_(NOT_FREED,  "GONE",       BYTES, bytes,   6, 6, "bytes not released before their context ended")
/* Of what scopes leave behind. */
#define LEFT_COLUMNS(_)                                                                            \
	_(LEFT_HELD,  "NOT FREED",  BYTES, bytes,   9, 0, "bytes left behind that nobody has released since") \
	_(LEFT_MOST,  "AT MOST",    BYTES, bytes,   7, 1, "the most of these that there was at a time") \
	_(LEFT_BYTES, "LEFT BEHIND", BYTES, bytes, 11, 2,                                          \
	  "bytes allocated in the scope that were there when it ended, of all times") \
	_(LEFT_TIMES, "TIMES",      COUNT, count,   6, 3, "times that it ended and left something") \
	_(LEFT_BLOCKS, "BLOCKS",    COUNT, count,   6, 4, "allocations that were left behind")
/* Of what makes pools grow. */
#define GROWTH_COLUMNS(_)                                                                          \
	_(FRAGMENTED, "FRAGMENTED", BYTES, bytes,  10, 0,                                          \
	  "bytes by which a pool grew for what was no larger than what was free in it")            \
	_(FRAGMENTED_TIMES, "TIMES", COUNT, count,  6, 1, "times that it grew so")                 \
	_(POOL_GROWN, "GROWN",      BYTES, bytes,   6, 2, "bytes by which it grew, for whatever reason")
#define UNIFIED_COLUMNS(_)                                                                         \
	_(TO_DEVICE,  "TO GPU",     BYTES, bytes,   6, 0, "bytes that moved from the host to a device") \
	_(TO_HOST,    "TO HOST",    BYTES, bytes,   7, 1, "bytes that moved back")                 \
	_(MIGRATING,  "MOVING",     TIME,  time_ns, 6, 2, "how long that took, all moves added up") \
	_(MIGRATIONS, "MOVES",      COUNT, count,   6, 6, "how often pages moved")                 \
	_(GPU_FAULTS, "GPU FAULTS", COUNT, count,  10, 3, "groups of pages that devices missed")   \
	_(CPU_FAULTS, "CPU FAULTS", COUNT, count,  10, 4, "times that processors of the host missed a page") \
	_(THRASHES,   "THRASH",     COUNT, count,   6, 5, "times that pages were seen to go to and fro") \
	_(EVICTED,    "EVICTED",    BYTES, bytes,   7, 7, "bytes that had to leave a device for lack of room") \
	_(REMOTE,     "REMOTE",     COUNT, count,   6, 8, "times that pages were mapped where they are, over the link") \
	_(TO_PEER,    "TO PEER",    BYTES, bytes,   7, 9, "bytes that moved between devices")
/* clang-format on */

static inline double held_used(const struct held *h)
{
	return h->reserved > 0 ? h->used / h->reserved : NAN;
}

#endif
