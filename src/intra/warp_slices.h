/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_SLICES_H
#define PROTON_INTRA_WARP_SLICES_H
/* What warps of kernels with <proton/kernel.cuh> leave in a ring of their device's memory, one slice each, as they end:
 *
 *   position + 1 │ bytes │ units written │ launch │ block │ multiprocessor │ warp │
 *   entered ns │ entered clock │ left ns │ left clock │ sum │ how                (20 words; 64-bit: low word first)
 *   unit │ unit │ …                                                              (the latest ones, the oldest first)
 *
 * Positions count bytes from the first one on and are not reset: a place in the ring is a position modulo its size, and a slice
 * may begin before its end and go on at its start. The first word pair is written last; what is copied
 * while it is written has another sum: Σ low + 3 high of the pairs between, 3 how, Σ a + 3 b + 5 c + 7 d of the units. A unit is
 * 16 bytes, the first word of which says what it is:
 *
 *   31 left │ 30…29 form │ 28…11 scope │ 10…0 more
 *
 *   form 0  a scope is entered or left     clock │ upper clock (how: WARP_SLICE_CLOCK64) │ …
 *        3  a whole scope, as it is left   clock of entering │ clock of leaving │ …
 *        2  an event begins, or ends (31)  clock │ upper clock │ …        more: which one of its name, where there are several at a time
 *        1  a mark, or a value             clock │ value (32 or 64 bits)  more: enum warp_value
 *
 * and is written when that happens. Clocks are the lower 32 bits of the multiprocessor's, where nothing else is said: a warp's units on end are
 * less than 2^32 cycles apart, then. A whole scope that is longer is known by what bounds it: the head, where it is the kernel's (the last
 * unit, entered as the warp began); else it is told that it may be longer, unless it was left less than that before. Events need not end in the warp, or in the scope, that they began in: all warps of a block have one clock.
 *
 * A warp that added up by itself (more: WARP_SUM and a kind) has three units for each scope, mark, value or event within another one:
 *
 *   tag │ sum that it is within (its number, from 0 on; ~0: none) │ how many │ … of events: how many began
 *   sum │ least        (64 bits each: cycles, or of values a double)
 *   most │ …
 *
 * and (how: WARP_SLICE_SUMS) units that were written, but are not there, are records that had no room. Of scopes "how many began" is 1 of one that
 * is open, and 2 for each leaving without entering.
 *
 * A warp of a kernel that has no scope but itself (ptx/recorder.ptx) writes less:
 *
 *   position + 1 │ 31 set │ 22…5 scope │ 4…0 warp │ sum │ launch │ 63…48 multiprocessor │ 47…0 block │
 *   entered ns │ entered clock │ left ns │ left clock                            (16 words)
 *
 * as four parts of 16 bytes, by four threads with one instruction, or by one. Which of them a copy has is not said: the sum is that of all words
 * but itself, Σ WARP_LONE_WEIGHT a + 3 b + 5 c + 7 d of the parts, so one part that is not there yet, or that of what was there before, is
 * known by it. (Launches and blocks count up by one: with small weights a part of the launch before could have the same sum.)
 *   threads  any: nothing is kept */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "intra/warp_contents.h"
#include "intra/warp_records.h"

#define WARP_SLICE_HEAD 80u
#define WARP_SLICE_UNIT 16u
#define WARP_SCOPE_BITS 18     /* of a scope: hash of its name */
#define WARP_UNITS_MOST 65536u /* of a slice that is believed */

/* One of a kernel that has no scope but itself: how many bytes, where the others have theirs a bit, of what, the rest is warp and scope, and what the
 * sum has of a first word. */
#define WARP_SLICE_LONE     64u
#define WARP_SLICE_IS_LONE  (UINT32_C(1) << 31)
#define WARP_LONE_WARP_BITS 5
#define WARP_LONE_WEIGHT    UINT32_C(2654435761)

/* Bits of how it was written. */
enum { WARP_SLICE_CLOCK64 = 1, WARP_SLICE_SUMS = 2 };

/* What stands in `more` of a unit of form 1. */
enum warp_value { WARP_MARK, WARP_U32, WARP_I32, WARP_F32, WARP_U64, WARP_I64, WARP_F64, WARP_SUM };
enum { WARP_VALUE_MASK = 7, WARP_SUM_SHIFT = 3 };

struct warp_slice {
	uint64_t launch; /* the context's, as records of CUPTI have it */
	uint64_t block;
	uint32_t multiprocessor, warp;
	uint64_t entered_ns, left_ns; /* on the clock of the device */
	uint64_t entered_clock, left_clock;
	uint32_t written, n_units; /* units: ever, and those that are there */
	uint32_t bytes;            /* of all of it */
	uint32_t how;
	bool is_lone;   /* one scope, which is the kernel, and no units */
	uint32_t scope; /* … this one */
};

struct warp_ring {
	const void *data;
	size_t size; /* a power of two */
};

/* The slice at a position. False: it is not there, or not all of it yet. */
bool warp_slice_read(const struct warp_ring *ring, uint64_t at, struct warp_slice *ret);

/* All of it; losses are added to. 0 or -ENOMEM. Also of what is not there by the time: then it is anything, within bounds. */
int warp_slice_decode(const struct warp_ring *ring, uint64_t at, const struct warp_slice *slice,
		      struct warp_contents *ret, struct warp_losses *losses);

#endif
