/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_ARENA_H
#define PROTON_INTRA_WARP_ARENA_H
/* Where warps leave their slices (intra/warp_slices.h): rings in the device's memory, and what says who uses which. Kernels know it by one
 * address (include/proton/kernel.cuh and ptx/recorder.ptx have the same).
 *
 *     head │ seats: one for each multiprocessor │ rooms: one for each ring        rings: WARP_ROOM bytes each
 *
 * A warp takes room in the ring that its multiprocessor's seat says, by one addition to the cursor of that ring's room, and needs no look before:
 * positions only grow, so where one is behind the ring's end there is no room, for nobody who comes later either. The ring is closed then. The
 * one whose slice would go beyond the end says where it would have been, and each goes on to another ring, by a step that is the
 * multiprocessor's own; after WARP_TRIES closed ones the seat says that there is none, and warps are counted without looking for one.
 * A warp of a short kernel takes room as it begins, and says where the ring ends, or goes to another one, as it ends: so a ring may be behind its end for
 * as long as such a warp runs before it is closed, and is read up to the first slice that is not there.
 *
 * Who reads opens a ring again when it is closed and all slices of it were read: its cursor is the beginning of the next lap, then. A
 * position is lap << WARP_OFFSET_BITS | offset in the ring, so that what is left of another lap is not taken for a slice. All seats look again, then.
 *   threads  any */
#include <stdbool.h>
#include <stdint.h>

/* Of a module: 64 bits, 0: nobody profiles. The number is that of what is said here. */
#define WARP_ARENA_FAMILY "proton_kernel_arena_"
#define WARP_ARENA_SYMBOL WARP_ARENA_FAMILY "2"

#define WARP_ROOM         (UINT32_C(256) << 10)
enum { WARP_SEATS = 256, WARP_TRIES = 64, WARP_OFFSET_BITS = 40 };
#define WARP_OFFSET_MASK ((UINT64_C(1) << WARP_OFFSET_BITS) - 1)

/* Who records: nobody, those of whom the choice is true, all. */
enum warp_arena_on { WARP_ARENA_OFF, WARP_ARENA_CHOSEN, WARP_ARENA_ALL };

struct warp_choice {
	uint32_t is_on; /* enum warp_arena_on */
	uint32_t warps; /* a bit each */
	uint32_t block_modulus, block_remainder;
	uint32_t multiprocessor_modulus, multiprocessor_remainder;
};

struct warp_arena_head {
	struct warp_choice choice;
	uint64_t unused;
	uint64_t rings;  /* address of the first one */
	uint64_t beyond; /* warps beyond those of their block that can record */
	uint64_t reserved[10];
};

struct warp_seat {
	uint32_t ring, step; /* which one is used, and how far the next one is: odd */
	uint32_t is_full;    /* none was found */
	uint32_t ring_mask;  /* how many there are, a power of two, less one */
	uint64_t dropped;    /* warps for which there was none */
	uint64_t reserved[5];
};

struct warp_room {
	uint64_t cursor; /* position of the next slice, also behind the end */
	uint64_t end;    /* of a closed ring: where its last slice ends */
};

struct warp_arena {
	struct warp_arena_head head;
	struct warp_seat seats[WARP_SEATS];
	struct warp_room rooms[];
};
_Static_assert(sizeof(struct warp_arena_head) == 128 && sizeof(struct warp_seat) == 64 &&
		       sizeof(struct warp_room) == 16,
	       "as kernels have it");

/* What there is to read of a ring that was read up to a position: up to where. */
struct warp_room_state {
	uint64_t end;
	bool is_closed; /* there is nothing behind it */
};
struct warp_room_state warp_room_state(const struct warp_room *room, uint64_t read);
/* Where the next lap begins. */
uint64_t warp_room_next(uint64_t position);
/* Of n_multiprocessors, as they begin: far from one another, and on other ways. */
struct warp_seat warp_seat_of(uint32_t multiprocessor, uint32_t n_multiprocessors,
			      uint32_t n_rings);

#endif
