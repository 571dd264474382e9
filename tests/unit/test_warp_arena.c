/* SPDX-License-Identifier: MIT */
/* Rings of a device, and how warps take room in them (intra/warp_arena.h): several, each of which is closed and opened again, lap by lap. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "intra/warp_arena.h"
#include "mocks/warp_take.h"

enum { RINGS = 8, CHIPS = 4, BYTES = 96, LARGE = 1040 };
#define LAP (UINT64_C(1) << WARP_OFFSET_BITS)

static struct warp_arena *arena;
static char *memory;
static uint64_t at, begun[RINGS];

static void setup(void)
{
	arena = calloc(1, sizeof(*arena) + RINGS * sizeof(*arena->rooms));
	memory = calloc(RINGS, WARP_ROOM);
	ck_assert(arena && memory);
	arena->head.rings = (uintptr_t)memory;
	for (uint32_t i = 0; i < WARP_SEATS; i++)
		arena->seats[i] = warp_seat_of(i, CHIPS, RINGS);
	for (uint32_t i = 0; i < RINGS; i++)
		arena->rooms[i].cursor = begun[i] = 7 * LAP;
}

static void teardown(void)
{
	free(arena);
	free(memory);
}

static struct warp_room_state state_of(uint32_t ring)
{
	return warp_room_state(&arena->rooms[ring], begun[ring]);
}

/* As who reads does with a ring that is closed and read. */
static void open_again(uint32_t ring)
{
	ck_assert(state_of(ring).is_closed);
	begun[ring] = warp_room_next(state_of(ring).end);
	arena->rooms[ring].cursor = begun[ring];
}

static uint32_t ring_of(const char *place)
{
	return (uint32_t)((place - memory) / WARP_ROOM);
}

/* How many find room until a ring is closed, with slices of so many bytes. */
static uint32_t fill(uint32_t chip, uint32_t bytes)
{
	uint32_t ring = arena->seats[chip].ring, n = 0;

	while (ring_of(warp_take(arena, chip, bytes, &at)) == ring)
		n++;
	return n;
}

START_TEST(seats_are_apart)
{
	uint32_t used = 0, ring;

	for (uint32_t i = 0; i < 132; i++) {
		struct warp_seat seat = warp_seat_of(i, 132, 1024);

		ck_assert_uint_eq(seat.ring, i * 1024 / 132);
		ck_assert_uint_eq(seat.step & 1, 1);
		ck_assert_uint_eq(seat.ring_mask, 1023);
	}
	ck_assert_uint_lt(warp_seat_of(255, 132, 1024).ring, 1024);
	for (uint32_t chip = 0; chip < CHIPS; chip++, used = 0) { /* each comes by all of them */
		ring = arena->seats[chip].ring;
		for (uint32_t i = 0; i < RINGS; i++) {
			used |= 1u << ring;
			ring = (ring + arena->seats[chip].step) & (RINGS - 1);
		}
		ck_assert_uint_eq(used, (1u << RINGS) - 1);
	}
}
END_TEST

START_TEST(room_is_taken)
{
	ck_assert_ptr_eq(warp_take(arena, 0, BYTES, &at), memory);
	ck_assert_uint_eq(at, 7 * LAP);
	ck_assert_ptr_eq(warp_take(arena, 0, BYTES, &at), memory + BYTES);
	ck_assert_ptr_eq(warp_take(arena, 1, BYTES, &at), memory + 2 * (size_t)WARP_ROOM);
	ck_assert_uint_eq(at, 7 * LAP);
	ck_assert_uint_eq(state_of(0).end, 7 * LAP + 2 * BYTES);
	ck_assert(!state_of(0).is_closed);
	ck_assert_uint_eq(state_of(1).end, 7 * LAP); /* nothing */
}
END_TEST

/* A ring that is closed ends with its last slice, and the next one goes elsewhere. */
START_TEST(a_closed_ring_has_an_end)
{
	uint32_t n = fill(0, BYTES);

	ck_assert_uint_eq(n, WARP_ROOM / BYTES);
	ck_assert(state_of(0).is_closed);
	ck_assert_uint_eq(state_of(0).end, 7 * LAP + (uint64_t)n * BYTES);
	ck_assert_uint_eq(arena->seats[0].ring, 1);
	ck_assert_uint_eq(arena->rooms[1].cursor, 7 * LAP + BYTES);
	ck_assert_uint_eq(arena->seats[0].dropped, 0);
}
END_TEST

/* … also if it was filled to the last byte, and by slices of several sizes. */
START_TEST(a_ring_is_filled_to_its_end)
{
	const uint32_t bytes = WARP_ROOM / 64;

	ck_assert_uint_eq(fill(0, bytes), 64);
	ck_assert(state_of(0).is_closed);
	ck_assert_uint_eq(state_of(0).end, 7 * LAP + WARP_ROOM);
	while (ring_of(warp_take(arena, 1, BYTES, &at)) == 2)
		if (ring_of(warp_take(arena, 1, LARGE, &at)) != 2)
			break;
	ck_assert(state_of(2).is_closed);
	ck_assert_uint_lt(state_of(2).end & WARP_OFFSET_MASK, WARP_ROOM + 1);
}
END_TEST

/* Who closed it has not said yet where it ends: what is there is read, and no more. */
START_TEST(an_end_that_is_not_said)
{
	fill(0, BYTES);
	arena->rooms[0].end = 6 * LAP + 960; /* of the last lap */
	ck_assert(!state_of(0).is_closed);
	ck_assert_uint_eq(state_of(0).end, 7 * LAP + WARP_ROOM);
	arena->rooms[0].end = 7 * LAP + WARP_ROOM + BYTES; /* no place in it */
	ck_assert(!state_of(0).is_closed);
	arena->rooms[0].cursor = 9 * LAP + BYTES; /* anything */
	ck_assert_uint_eq(state_of(0).end, begun[0]);
	begun[0] += 2 * BYTES;
	arena->rooms[0].cursor = 7 * LAP + BYTES;
	ck_assert_uint_eq(state_of(0).end, begun[0]);
}
END_TEST

/* Three laps of one ring while the others are left alone. */
START_TEST(laps_follow_one_another)
{
	for (uint64_t lap = 7; lap < 10; lap++) {
		arena->seats[3].ring = 6;
		ck_assert_uint_eq(fill(3, LARGE), WARP_ROOM / LARGE);
		ck_assert_uint_eq(state_of(6).end,
				  lap * LAP + (uint64_t)(WARP_ROOM / LARGE) * LARGE);
		open_again(6);
		ck_assert_uint_eq(begun[6], (lap + 1) * LAP);
	}
	arena->rooms[6].cursor = begun[6] = UINT64_MAX << WARP_OFFSET_BITS; /* the last one */
	arena->seats[3].ring = 6;
	fill(3, LARGE);
	open_again(6);
	ck_assert_uint_eq(begun[6], 0);
}
END_TEST

static uint64_t n_taken(uint32_t chip, uint32_t bytes, uint64_t most)
{
	uint64_t n = 0;

	while (n < most && warp_take(arena, chip, bytes, &at))
		n++;
	return n;
}

/* One multiprocessor alone has all of them; what finds no room is counted, and does not look again until it is told. */
START_TEST(all_rings_are_full)
{
	const uint64_t all = (uint64_t)RINGS * (WARP_ROOM / BYTES);
	uint64_t cursor;

	ck_assert_uint_eq(n_taken(2, BYTES, 2 * all), all);
	ck_assert_uint_eq(arena->seats[2].dropped, 1);
	cursor = arena->rooms[arena->seats[2].ring].cursor;
	ck_assert_ptr_null(warp_take(arena, 2, BYTES, &at));
	ck_assert_uint_eq(arena->seats[2].dropped, 2);
	ck_assert_uint_eq(arena->rooms[arena->seats[2].ring].cursor, cursor);
	ck_assert_ptr_null(warp_take(arena, 0, BYTES, &at)); /* others see it, too */
	ck_assert_uint_eq(arena->seats[0].dropped, 1);
	for (uint32_t i = 0; i < RINGS; i++)
		ck_assert(state_of(i).is_closed);
	open_again(5);
	ck_assert_ptr_null(warp_take(arena, 2, BYTES, &at));
	arena->seats[2].is_full = 0;
	ck_assert_uint_eq(n_taken(2, BYTES, all), WARP_ROOM / BYTES);
	ck_assert_uint_eq(arena->seats[2].dropped, 4);
}
END_TEST

/* A slice that is larger than a ring closes none but those that are full with it. */
START_TEST(a_slice_too_large)
{
	ck_assert_ptr_null(warp_take(arena, 1, WARP_ROOM + 16, &at));
	ck_assert_uint_eq(arena->seats[1].dropped, 1);
	for (uint32_t i = 0; i < RINGS; i++)
		if (arena->rooms[i].cursor != 7 * LAP) {
			ck_assert(state_of(i).is_closed);
			ck_assert_uint_eq(state_of(i).end, 7 * LAP);
			open_again(i);
		}
	arena->seats[1].is_full = 0;
	ck_assert_ptr_nonnull(warp_take(arena, 1, BYTES, &at));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("warp_arena");
	TCase *c = tcase_create("warp_arena");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, seats_are_apart);
	tcase_add_test(c, room_is_taken);
	tcase_add_test(c, a_closed_ring_has_an_end);
	tcase_add_test(c, a_ring_is_filled_to_its_end);
	tcase_add_test(c, an_end_that_is_not_said);
	tcase_add_test(c, laps_follow_one_another);
	tcase_add_test(c, all_rings_are_full);
	tcase_add_test(c, a_slice_too_large);
	suite_add_tcase(s, c);
	return check_run(s);
}
