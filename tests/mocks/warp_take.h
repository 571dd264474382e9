/* SPDX-License-Identifier: MIT */
#ifndef PROTON_MOCKS_WARP_TAKE_H
#define PROTON_MOCKS_WARP_TAKE_H
/* How a warp takes room for its slice, as include/proton/kernel.cuh and src/ptx/recorder.ptx do it; memory of the device is the program's own. */
#include "intra/warp_arena.h"

static inline bool warp_take_elsewhere(struct warp_arena *a, struct warp_seat *s, uint32_t *ring)
{
	for (uint32_t i = 0; i < WARP_TRIES; i++) {
		*ring = (*ring + s->step) & s->ring_mask;
		if ((__atomic_load_n(&a->rooms[*ring].cursor, __ATOMIC_RELAXED) &
		     WARP_OFFSET_MASK) <= WARP_ROOM) {
			s->ring = *ring;
			return true;
		}
	}
	s->is_full = 1;
	return false;
}

/* Where it lies, with its position; NULL: there is none. */
static inline char *warp_take(struct warp_arena *a, uint32_t multiprocessor, uint32_t bytes,
			      uint64_t *ret_at)
{
	struct warp_seat *s = &a->seats[multiprocessor % WARP_SEATS];
	uint32_t ring = s->ring;
	bool is_open = !__atomic_load_n(&s->is_full, __ATOMIC_RELAXED);

	while (is_open) {
		uint64_t at = __atomic_fetch_add(&a->rooms[ring].cursor, bytes, __ATOMIC_RELAXED),
			 offset = at & WARP_OFFSET_MASK;

		if (offset + bytes <= WARP_ROOM) {
			*ret_at = at;
			return (char *)(uintptr_t)a->head.rings + (uint64_t)ring * WARP_ROOM +
			       offset;
		}
		if (offset <= WARP_ROOM)
			__atomic_store_n(&a->rooms[ring].end, at, __ATOMIC_RELAXED);
		is_open = warp_take_elsewhere(a, s, &ring);
	}
	s->dropped++;
	return NULL;
}

#endif
