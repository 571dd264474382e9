/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_MEMORY_PLACES_H
#define PROTON_COLLECT_MEMORY_PLACES_H
/* Who holds memory: a calling context with a kind of memory on a lane. And of each kind on a device, and of each pool,
 * how much there is and was at most.
 *
 * Who held it at that moment is not copied when it comes: a program that only allocates has a new peak each time. A
 * place remembers which peak its `at_peak` is of. Before its first change after a newer one that is what it holds,
 * and so it is where it has not changed since.
 *   thread  one at a time */
#include <stdbool.h>
#include <stdint.h>
#include "core/activity.h"

/* The place of what is allocated, made where it is new; WIRE_NONE: no room, which is counted. */
uint32_t memory_place(uint8_t source, const struct memory_event *e);
/* … of what is released but was allocated before anybody looked. */
uint32_t memory_place_unknown(uint8_t source, const struct memory_event *e);

void memory_allocated(uint32_t place, uint64_t bytes, uint64_t at_ns);
/* Its context has taken it away where it was not released. */
void memory_released(uint32_t place, uint64_t bytes, uint64_t at_ns, bool is_gone);
/* Counts alone: it was not known to be there. */
void memory_released_unknown(uint32_t place, uint64_t bytes);
/* How full a pool is after an allocation or a release, or since it was trimmed. */
void memory_pool(uint8_t source, const struct memory_event *e);
/* An allocation made a pool grow (MEMORY_GROWN). */
void memory_pool_grown(uint8_t source, const struct memory_event *e);
/* What is known of how full pools are holds no longer. */
void memory_pools_unseen(void);

/* What PyTorch's allocator has, and what tensors use of it. */
void memory_torch(uint8_t source);

/* The node of a place, and the number of all memory of its kind on its device. */
enum { MEMORY_MAX_TOTALS = 256 };
uint32_t memory_place_node(uint32_t place);
uint32_t memory_place_total(uint32_t place);
/* Where what is said of such memory stands below a node, and on which lane. */
uint32_t memory_total_leaf(uint32_t node, uint32_t total, uint32_t *ret_lane);

/* What has changed goes into the slots. */
void memory_places_publish(void);
void memory_places_forked(void);

#endif
