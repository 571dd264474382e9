/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/warp_arena.h"

static uint64_t lap_of(uint64_t position)
{
	return position & ~WARP_OFFSET_MASK;
}

struct warp_room_state warp_room_state(const struct warp_room *room, uint64_t read)
{
	struct warp_room_state s = {.end = read};

	if (lap_of(room->cursor) != lap_of(read) || room->cursor < read)
		return s;
	s.end = room->cursor;
	if ((room->cursor & WARP_OFFSET_MASK) <= WARP_ROOM)
		return s;
	/* Who closed it may be about to say where it ends. */
	s.is_closed = lap_of(room->end) == lap_of(read) && room->end >= read &&
		      (room->end & WARP_OFFSET_MASK) <= WARP_ROOM;
	s.end = s.is_closed ? room->end : lap_of(read) | WARP_ROOM;
	return s;
}

uint64_t warp_room_next(uint64_t position)
{
	return lap_of(position) + WARP_OFFSET_MASK + 1;
}

struct warp_seat warp_seat_of(uint32_t multiprocessor, uint32_t n_multiprocessors, uint32_t n_rings)
{
	return (struct warp_seat){
		.ring = (uint32_t)((uint64_t)multiprocessor * n_rings / n_multiprocessors) &
			(n_rings - 1),
		.step = 2 * multiprocessor + 1,
		.ring_mask = n_rings - 1,
	};
}
