/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_RECORDS_H
#define PROTON_INTRA_WARP_RECORDS_H
/* What warps of a kernel recorded on their own clocks while they ran: when they entered and left scopes. A launch has one
 * buffer, in the layout of Triton's Proton: as many bytes for each thread block, little endian 32-bit words, 64-bit ones low
 * word first:
 *
 *   0xdeadbeef │ block │ multiprocessor │ bytes of segments │ entered ns │ left ns │ copied ns    (10 words; 64-bit times)
 *   words that warp 0 wrote │ … warp 1 │ …                                                        (one for each warp)
 *   segment │ segment │ …                                               (one for each warp that records, of equal size)
 *
 * A segment is a ring of records; one that is full has the latest. A record is two words, the first one
 *
 *   31 left │ 30…23 scope │ 22…20 type │ 19…16 kind of value │ … │ 10…0 clock 42…32
 *
 * and the second one the lower clock, in cycles of the multiprocessor. With a clock of 32 bits its upper ones are 0 throughout.
 * A warp's entering may be written late, right before its leaving is: the order of records is that of leaving. Types are
 *
 *   0  a scope
 *   1  an event, which begins or ends (31): those of a name end in the order in which they began, perhaps in other warps
 *   2  a mark
 *   3  a value of 32 bits in place of the clock, at the time of the record before it
 *
 * of which Triton 3.6 has scopes alone. Kinds of values are truths (1), signed whole numbers of 8, 16 and 32 bits, unsigned ones
 * of these, and floating point of 16, brain 16 and 32 bits (10).
 *   threads  any: nothing is kept */
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "intra/warp_contents.h"

#define WARP_BLOCK_MAGIC  0xdeadbeefu
#define WARP_BLOCK_WORDS  10u
#define WARP_SCOPES       256u
#define WARP_RECORD_BYTES 8u
#define WARP_MOST         1024u /* warps of a block that are believed */

/* The i-th word of such bytes, wherever they lie. */
static inline uint32_t warp_word(const void *bytes, size_t i)
{
	uint32_t v;

	memcpy(&v, (const char *)bytes + i * sizeof(v), sizeof(v));
	return le32toh(v);
}

struct warp_layout {
	uint32_t n_blocks, n_warps; /* of the launch; of a block */
	uint32_t block_bytes;       /* a block's share of the buffer, with all */
	const uint32_t *recording;  /* warps that record, ascending, each below n_warps */
	uint32_t n_recording;
	uint32_t clock_khz; /* the highest one of the multiprocessors; 0: not known */
};

struct warp_block {
	uint32_t block, multiprocessor;
	uint64_t entered_ns, left_ns,
		copied_ns; /* on the clock of the device: CLOCK_REALTIME, about */
};

/* Of what there is no scope: records, but for blocks. */
struct warp_losses {
	uint64_t overwritten; /* in rings that were too small */
	uint64_t unmatched;   /* leaving without entering, or the other way round */
	uint64_t others;      /* of a type or value that is not known */
	uint64_t blocks;      /* that did not record */
	uint64_t broken;      /* blocks that are not as the layout has it */
	uint64_t rowless; /* records of warps that add up by themselves, and had no row for them */
	uint64_t
		wraps; /* warps whose clock wrapped where nobody saw it: their times may be too short */
};

/* What one warp recorded, in the order of entering as far as records tell; borrowed, and it may be changed. 0, or a negative errno
 * that ends decoding. */
typedef int warp_fn(void *ctx, const struct warp_block *block, uint32_t warp,
		    struct warp_contents *contents);

/* Some blocks of a launch, or all. 0, -EINVAL (no such layout, or size is not that of blocks), -ENOMEM, or what `fn`
 * returned. losses are added to. */
int warp_records_decode(const void *data, size_t size, const struct warp_layout *layout,
			warp_fn *fn, void *ctx, struct warp_losses *losses);

/* Take what records cost, `cost` cycles each, out of the times of a warp, as Triton's Proton has it: each time is earlier by
 * the records up to its own. What would end before it begins lasts half a record. -ENOMEM: nothing was changed. */
int warp_contents_shift(struct warp_contents *c, uint32_t cost);
/* The same of times alone, wherever they are: these pointers are put in order. */
void warp_times_shift(uint64_t **times, size_t n, uint32_t cost);
#define WARP_SHIFT_CUDA 7u
#define WARP_SHIFT_HIP  36u

#endif
