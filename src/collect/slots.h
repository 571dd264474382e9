/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_SLOTS_H
#define PROTON_COLLECT_SLOTS_H
/* The values of a slot. Any thread adds to them, and touches the slot at last, so that the sender
 * sees them. */
#include <string.h>
#include "collect/internal.h"
#include "wire/wire.h"

/* The lane of what a thread does on the host; t->host is its id + 1, once it has one of its own. */
static inline uint32_t thread_lane(struct thread_state *t)
{
	uint32_t lane;

	if (_likely_(t->host))
		return t->host - 1;
	lane = lane_intern(WIRE_NONE, 0, 0, t->lane);
	if (collector->lane[lane].thread == t->lane)
		t->host = lane + 1;
	return lane;
}

static inline void slot_add_u64(uint32_t slot, unsigned i, uint64_t v)
{
	atomic_fetch_add_explicit(&collector->value[collector->slot[slot].values + i], v,
				  memory_order_relaxed);
}

/* Not beyond what it can hold; false: it would have been. */
static inline bool slot_add_u64_capped(uint32_t slot, unsigned i, uint64_t v)
{
	_Atomic uint64_t *p = &collector->value[collector->slot[slot].values + i];
	uint64_t old = atomic_load_explicit(p, memory_order_relaxed), sum;
	bool fits;

	do {
		fits = !__builtin_add_overflow(old, v, &sum);
		if (!fits)
			sum = UINT64_MAX;
	} while (!atomic_compare_exchange_weak_explicit(p, &old, sum, memory_order_relaxed,
							memory_order_relaxed));
	return fits;
}

static inline void slot_add_f64(uint32_t slot, unsigned i, double v)
{
	_Atomic uint64_t *p = &collector->value[collector->slot[slot].values + i];
	uint64_t old = atomic_load_explicit(p, memory_order_relaxed), bits;
	double sum;

	do {
		memcpy(&sum, &old, sizeof(sum));
		sum += v;
		memcpy(&bits, &sum, sizeof(bits));
	} while (!atomic_compare_exchange_weak_explicit(p, &old, bits, memory_order_relaxed,
							memory_order_relaxed));
}

static inline void slot_store(uint32_t slot, unsigned i, uint64_t bits)
{
	atomic_store_explicit(&collector->value[collector->slot[slot].values + i], bits,
			      memory_order_relaxed);
}

/* Up to v, if it is lower. Was it? */
static inline bool value_raise(_Atomic uint64_t *p, uint64_t v)
{
	uint64_t old = atomic_load_explicit(p, memory_order_relaxed);

	while (v > old)
		if (atomic_compare_exchange_weak_explicit(p, &old, v, memory_order_relaxed,
							  memory_order_relaxed))
			return true;
	return false;
}

/* Down to v, if it is higher. */
static inline void value_lower(_Atomic uint64_t *p, uint64_t v)
{
	uint64_t old = atomic_load_explicit(p, memory_order_relaxed);

	while (v < old && !atomic_compare_exchange_weak_explicit(p, &old, v, memory_order_relaxed,
								 memory_order_relaxed))
		;
}

/* A number that begins absent (metric_begins_absent()) is v, where that is lower, or (raises) higher. */
static inline void slot_extend_f64(uint32_t slot, unsigned i, double v, bool raises)
{
	_Atomic uint64_t *p = &collector->value[collector->slot[slot].values + i];
	uint64_t old = atomic_load_explicit(p, memory_order_relaxed), bits;
	double is;

	memcpy(&bits, &v, sizeof(bits));
	do {
		memcpy(&is, &old, sizeof(is));
		if (raises ? v <= is : v >= is)
			return;
	} while (!atomic_compare_exchange_weak_explicit(p, &old, bits, memory_order_relaxed,
							memory_order_relaxed));
}

/* The values of a slot become a part of another's, of the same set, or are dropped where that is WIRE_NONE; the
 * sender, of an epoch that is over (slot_move.c). */
void slot_move(uint32_t from, uint32_t into);

static inline void slot_touch(uint32_t slot)
{
	bitmap_set(collector->dirty, slot);
	/* In a fork child the sender is gone: the first value that it has starts one. After the
	 * last word the value is late. */
	if (_unlikely_(atomic_load_explicit(&collector->sender, memory_order_relaxed) != SENDER_ON))
		sender_start();
}

#endif
