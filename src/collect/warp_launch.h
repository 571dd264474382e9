/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_WARP_LAUNCH_H
#define PROTON_COLLECT_WARP_LAUNCH_H
/* The warps of one launch as a trace of single scopes (intra/warp_trace.h), with what the collector's tables know of it: the
 * kernel, its calling context, the names of its scopes.
 *   thread  any; an object: one */
#include <stddef.h>
#include <stdint.h>
#include "collect/scope_slots.h"
#include "intra/block_choice.h"
#include "intra/warp_slices.h"
#include "intra/warp_trace.h"

enum { WARP_NAMES_AT_HAND = 64 }; /* a power of two */

struct warp_launch {
	struct block_choice sample; /* its trace has one launch */
	struct {
		uint32_t frame, name;
	} names[WARP_NAMES_AT_HAND];
};

/* bytes_most: of a file with it; UINT64_MAX: all are taken. 0 or -ENOMEM. */
int warp_launch_init(struct warp_launch *l, uint64_t bytes_most);
void warp_launch_done(struct warp_launch *l);
/* A warp of it, with what it recorded. 0 or -ENOMEM. */
int warp_launch_add(struct warp_launch *l, const struct warp_trace_warp *warp,
		    const struct warp_contents *contents, scope_frame_fn *frame, const void *ctx);

struct kept_launch {
	uint32_t node; /* the kernel's */
	uint32_t
		symbol; /* string: what it is called itself, if its node may have another name; 0: no */
	uint32_t
		without; /* kinds of frames that its calling context has not (session_kinds_without()) */
	int32_t device;
	uint64_t launch;           /* the context's number of it; 0: not known */
	uint64_t start_ns, end_ns; /* of its record; 0: not known */
	uint64_t n_blocks;
	uint32_t n_block_warps;
	uint32_t epoch, use; /* whose it is, as epoch_told_late() has it */
};
/* What it is of, and where: once all of its warps are there. 0 or -ENOMEM. */
int warp_launch_describe(struct warp_launch *l, const struct kept_launch *from);

#endif
