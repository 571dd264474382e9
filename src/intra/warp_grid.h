/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_GRID_H
#define PROTON_INTRA_WARP_GRID_H
/* How many blocks of a launch ran when: what waves and a tail are seen by.
 *
 *     ███████▇▇████████▅▂▁      264 blocks, 132 at once
 *
 *   thread  one */
#include "intra/warp_tracks.h"

struct warp_grid {
	uint64_t *begins, *ends; /* of blocks, ascending each */
	size_t n;                /* blocks */
	size_t most;             /* that ran at once */
};

/* 0 or -ENOMEM. */
int warp_grid_init(struct warp_grid *g, const struct warp_tracks *of);
void warp_grid_done(struct warp_grid *g);
/* How many ran at this moment. */
size_t warp_grid_running(const struct warp_grid *g, uint64_t at);

#endif
