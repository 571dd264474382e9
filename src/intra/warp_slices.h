/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_SLICES_H
#define PROTON_INTRA_WARP_SLICES_H
/* What warps of kernels with <proton/kernel.cuh> leave in a ring of their device's memory, one slice each, as they end:
 *
 *   position + 1 │ bytes │ units written │ launch │ block │ multiprocessor │ warp │
 *   entered ns │ entered clock │ left ns │ left clock │ sum │ 0                  (20 words; 64-bit: low word first)
 *   unit │ unit │ …                                                              (the latest ones, the oldest first)
 *
 * Positions count bytes from the first one on and are not reset: a place in the ring is a position modulo its size, and a slice
 * may begin before its end and go on at its start. The first word pair is written last; what is copied
 * while it is written has another sum: Σ low + 3 high of the pairs between, Σ a + 3 b + 5 c + 7 d of the units. A unit is 16 bytes,
 *
 *   31 left │ 30…29 form │ 28…11 scope │ …      clock      clock of leaving (a whole scope)      …
 *
 * and is written when the scope is entered or left, or whole as it is left: units are in the order of leaving, then. Their
 * clocks are the lower 32 bits of the multiprocessor's; a warp's units on end are less than 2^32 cycles apart.
 *   threads  any: nothing is kept */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "intra/warp_records.h"

#define WARP_SLICE_HEAD 80u
#define WARP_SLICE_UNIT 16u
#define WARP_SCOPE_BITS 18     /* of a scope: hash of its name */
#define WARP_UNITS_MOST 65536u /* of a slice that is believed */

struct warp_slice {
	uint64_t launch; /* the context's, as records of CUPTI have it */
	uint64_t block;
	uint32_t multiprocessor, warp;
	uint64_t entered_ns, left_ns; /* on the clock of the device */
	uint64_t entered_clock, left_clock;
	uint32_t written, n_units; /* units: ever, and those that are there */
	uint32_t bytes;            /* of all of it */
};

struct warp_ring {
	const void *data;
	size_t size; /* a power of two */
};

/* The slice at a position. False: it is not there, or not all of it yet. */
bool warp_slice_read(const struct warp_ring *ring, uint64_t at, struct warp_slice *ret);
/* Its scopes, in the order of entering, parents first. Malloc'd *ret_scopes, *ret_n of them; losses are added to. 0 or
 * -ENOMEM. */
int warp_slice_scopes(const struct warp_ring *ring, uint64_t at, const struct warp_slice *slice,
		      struct warp_scope **ret_scopes, size_t *ret_n, struct warp_losses *losses);

#endif
