/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_POOL_H
#define PROTON_BACKENDS_CUPTI_POOL_H
/* Memory of activity buffers: one reservation, carved into buffers of 1 KiB … 256 KiB.
 *
 *   |1K|1K|4K  |16K      |1K| … carved ->              reserved |
 *
 * A buffer keeps its size for ever and returns, zeroed, to the free list of its class. Taking and
 * returning are lock-free: a launching thread takes, CUPTI's worker returns. Nothing is unmapped
 * while the process lives, because CUPTI owns what it was given until it hands it back.
 *
 * How large a buffer a thread gets follows its launch rate: CUPTI delivers the buffer of a thread
 * that launches ahead of the GPU only when it is full, so a buffer holds about 100 ms of records.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_SHIFT_MIN 10 /* 1 KiB */
#define POOL_N_CLASSES 9  /* … 256 KiB */
#define POOL_BYTES_MIN ((size_t)1 << POOL_SHIFT_MIN)
#define POOL_BYTES_MAX (POOL_BYTES_MIN << (POOL_N_CLASSES - 1))
#define POOL_FILL_NS   UINT64_C(100000000) /* a buffer should fill in this time */

struct cupti_pool_cell; /* one a KiB */

struct cupti_pool {
	uint8_t *base;
	size_t size; /* reserved */
	struct cupti_pool_cell *cells;
	_Atomic size_t carved;
	_Atomic size_t faulted;                /* pages below this are in memory */
	_Atomic uint64_t free[POOL_N_CLASSES]; /* tag << 32 | index + 1 */
	_Atomic uint32_t n_out;                /* buffers that CUPTI holds */
};

/* A thread's last buffer: from it follows how large the next should be. */
struct cupti_lease {
	uint32_t cell, turn;
	uint64_t taken_ns; /* 0: none yet */
};

/* Reserves; keeps what is there when it was called before. 0 or -ENOMEM. */
int cupti_pool_init(struct cupti_pool *pool, size_t bytes_max);
/* The next buffer of the thread that owns this lease, or NULL: all is in use. */
uint8_t *cupti_pool_take(struct cupti_pool *pool, struct cupti_lease *lease, uint64_t now_ns,
			 size_t *ret_size);
bool cupti_pool_owns(const struct cupti_pool *pool, const uint8_t *buffer);
/* Zeroes and takes back; used: bytes of records in it. False: not a buffer of this pool. */
bool cupti_pool_return(struct cupti_pool *pool, uint8_t *buffer, size_t used);
/* When the oldest of the buffers was taken that CUPTI holds; UINT64_MAX: it holds none. */
uint64_t cupti_pool_oldest_ns(const struct cupti_pool *pool);
/* Bring the pages of the next few buffers into memory, so that launching threads need not. */
void cupti_pool_fault_in(struct cupti_pool *pool);
/* Bytes that have ever been handed out. */
size_t cupti_pool_bytes(const struct cupti_pool *pool);

#endif
