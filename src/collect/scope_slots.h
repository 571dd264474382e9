/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_SCOPE_SLOTS_H
#define PROTON_COLLECT_SCOPE_SLOTS_H
/* Scopes within kernels as values of the tree: below the kernel's node, each a frame FRAME_INSTRUMENT.
 *   thread  any */
#include <stdint.h>
#include "intra/scope_sums.h"

struct scope_place {
	uint32_t node; /* the kernel's */
	uint32_t lane, epoch;
};

/* The frame of one that is called so. */
uint32_t scope_frame(const char *name);
/* … that has no name. */
uint32_t scope_frame_unnamed(uint32_t scope);

/* The frame of a scope, by its id. */
typedef uint32_t scope_frame_fn(const void *ctx, uint32_t scope);
/* More of them; n_warps: of a launch, all. 0 or -ENOMEM. */
int scope_slots_put(const struct scope_place *at, const struct scope_sums *sums, double n_warps,
		    scope_frame_fn *frame, const void *ctx);

/* Scopes of so many launches are not in the profile, and why. */
void scopes_lose(uint64_t n, const char *why);

#endif
