/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_KERNEL_SCOPES_H
#define PROTON_COLLECT_KERNEL_SCOPES_H
/* Scopes within kernels, as their warps record them into a buffer that each launch has (intra/warp_records.h): read into
 * memory of the host behind the launch, and added up below the kernel in its calling context later, by whoever flushes.
 *
 *     enter(), launch, leave() ── buffer is copied (backends/cuda_copies.h) ─┐          of the launching thread
 *     flush, or a launch that finds no room ── records ── scopes ── slots <──┘          of any thread
 *
 * No stream is waited for, unless copies have filled their room. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backends/backend.h"

struct kernel_scope {
	uint32_t id;
	int32_t parent; /* the id of the scope that it is always in; -1: none */
	const char *name;
};

/* A kernel that was compiled with scopes; triton_seam.py has the same. */
struct scoped_kernel {
	const char *name;                  /* as its symbol */
	const struct kernel_scope *scopes; /* each behind its parent */
	const uint32_t *recording;         /* warps that record, ascending */
	uint32_t n_scopes, n_recording;
	uint32_t n_warps, block_bytes; /* of a thread block: all; in the buffer */
	uint32_t shift; /* cycles that a record costs, to be taken out; 0: none are */
};

/* A function is this kernel from now on; NULL: it is not there any more.
 *   errors  -EINVAL: it has no such scopes or warps; -ENOMEM, also where there are too many
 *   thread  any */
EXPORT int proton_kernel_scopes(uint64_t function, const struct scoped_kernel *kernel);
/* What was copied is read, and what is not copied yet waited for so long. 1: all is read, else 0.
 *   thread  any */
EXPORT int proton_kernel_scopes_read(uint32_t wait_ms);

/* A launch of one follows. */
void kernel_scopes_enter(void);
/* … was the last of this thread, with its records in this buffer of the device. What cannot be read is told and counted.
 * Where there is no room for a copy until others are read, make_room() is called, which reads some; false: no longer.
 *   thread  who launches, before the buffer can be another's */
struct scoped_launch {
	uint64_t stream, function, buffer, size;
};
void kernel_scopes_leave(const struct scoped_launch *l, bool (*make_room)(void *ctx), void *ctx);

/* In a fork child. */
void kernel_scopes_forked(void);

#endif
