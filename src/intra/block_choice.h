/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_BLOCK_CHOICE_H
#define PROTON_INTRA_BLOCK_CHOICE_H
/* The warps of one launch, within a limit of bytes: where all are more, those of every second block, of every fourth, and so on.
 * Blocks stay whole, and which ones are there does not depend on when they ran.
 *   threads  one */
#include "intra/warp_trace.h"

struct block_choice {
	struct warp_trace trace;    /* of one launch; what it has of it is the caller's */
	uint64_t bytes, bytes_most; /* in a file */
	unsigned n_halved;
};

int block_choice_init(struct block_choice *s, uint64_t bytes_most); /* 0 or -ENOMEM */
void block_choice_done(struct block_choice *s);
/* Is it of a block that is left out by now? Then it need not be added. */
bool block_choice_leaves_out(const struct block_choice *s, uint64_t block);
/* As warp_trace_add_warp(). */
int block_choice_add(struct block_choice *s, const struct warp_trace_warp *warp,
		     const struct warp_trace_scope *scopes, size_t n);

#endif
