/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUDA_ARENA_H
#define PROTON_BACKENDS_CUDA_ARENA_H
/* Where warps of kernels with <proton/kernel.cuh> leave what they recorded: rings in the device's memory (intra/warp_arena.h), some for
 * each context that launches such a kernel, and where they are in a variable of each module that has one.
 *
 *     launch ── the module's variable is written, once ──> kernel ── slices ──> rings ── read by whoever flushes
 *
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backends/backend.h"
#include "core/scopes_wanted.h"

/* The program says that it has such kernels: functions of modules that are loaded by their first launch, as most are, are
 * loaded before it from now on, so that it is recorded, too. */
void cuda_arena_follow(void);
/* A module has a symbol of that family: of some modules it has more in its name. Kernels with another number are not recorded. */
void cuda_arena_symbol(const char *name);
/* May kernels have scopes? */
bool cuda_arena_is_wanted(void);
/* … and has any? */
bool cuda_arena_is_used(void);

/* Which warps record, from the next launches on, and whether any does now; at first all do. Contexts are told as they are read. */
void cuda_arena_choose(const struct scopes_wanted *wanted, bool is_on);

/* A kernel is about to be launched in the current context, by this handle. */
struct cuda_arena_launch {
	void *context;
	uint32_t context_id; /* the vendor's number of it */
	const void *function;
	uint64_t n_warps;
};
/* False: its scopes are not recorded, for the reason in *ret_why. *ret_is_due: there may be much to read, now for the first time
 * since it was read. */
bool cuda_arena_launch(const struct cuda_arena_launch *l, const char **ret_why, bool *ret_is_due);
/* Is this thread within it? What it calls has the numbers of the launch. */
bool cuda_arena_is_giving(void);
/* Is this ours? It is no memory of the program. */
bool cuda_arena_owns(uint64_t address);

/* Hands over what there is since the last time, ring by ring: whole slices, with the ring that they lie in (intra/warp_slices.h),
 * from `at` on; the function returns up to where it has read. Losses are told by themselves, with a ring of which there is nothing to read. */
struct cuda_slices {
	uint32_t context;
	int32_t device;
	uint32_t capability; /* 90: 9.0 */
	const void *ring;
	size_t ring_size;
	uint64_t at, end;
	uint64_t n_dropped; /* warps for whom there was no room, since the last time */
	uint64_t n_beyond;  /* … that were more than their block records */
};
typedef uint64_t cuda_slices_fn(void *ctx, const struct cuda_slices *slices);
void cuda_arena_read(cuda_slices_fn *fn, void *ctx);

/* There is so much on a device that it should not wait for the next period. */
bool cuda_arena_is_due(void);

/* Handles of functions may be others' from now on. */
void cuda_arena_unload(void);
/* Contexts may be destroyed from now on, until they are not: none is read meanwhile. */
void cuda_arena_hold(bool begins);
/* This one is gone, with what it has not handed over. */
void cuda_arena_gone(const void *context);
void cuda_arena_forked(void);

#endif
