/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_RECORDER_H
#define PROTON_PTX_RECORDER_H
/* The PTX that is inserted (recorder.ptx). A warp writes what its first thread comes by into a ring, and hands it over where that
 * thread ends, as kernels with <proton/kernel.cuh> do:
 *
 *     begin ── which ring; when it began ── enter ── a clock in a register ── leave ── a record ── … ── end ── a slice
 *
 *   threads  any */
#include "base/buf.h"
#include "ptx/probe.h"

#define PTX_RECORD_BYTES 16u
#define PTX_SCOPE_BITS   18 /* of what a scope is known by */
#define PTX_SCOPES       (1u << PTX_SCOPE_BITS)
#define PTX_OURS         "proton_" /* how all that is inserted is called */

struct ptx_recorder {
	enum ptx_buffer buffer;
	struct ptx_options options; /* records and warps that are not 0 */
	uint32_t n_warps;           /* of a block, that have a ring in shared memory */
	bool is_room_known;         /* there are no more */
	bool is_aligned;            /* behind ours is what needs 1024 bytes */
	uint32_t kernel;            /* its number */
	uint32_t n_clocks;
	bool has_func;
	bool is_short; /* room may be taken as it begins */
	uint32_t func; /* its scope */
};

/* What a block needs of shared memory. */
uint32_t ptx_recorder_shared(const struct ptx_recorder *r);
/* A module's variables; has_rings: of kernels with a buffer in global memory. */
void ptx_recorder_module(struct buf *to, uint32_t records, bool has_rings);
void ptx_recorder_begin(struct buf *to, const struct ptx_recorder *r);
/* clock: the number of the register that keeps it. */
void ptx_recorder_enter(struct buf *to, const struct ptx_recorder *r, uint32_t clock);
void ptx_recorder_leave(struct buf *to, const struct ptx_recorder *r, uint32_t clock,
			uint32_t scope);
/* number: which end of the kernel this is. */
void ptx_recorder_end(struct buf *to, const struct ptx_recorder *r, uint32_t number);
/* What a scope of this name is known by, as in the header. */
uint32_t ptx_recorder_hash(const char *name);

#endif
