/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_grid.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "intra/warp_lanes.h"

void warp_grid_done(struct warp_grid *g)
{
	free(g->begins);
	free(g->ends);
	*g = (struct warp_grid){.begins = NULL};
}

static int compare_times(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* A block begins and ends with its warps; asynchronous scopes are further lanes of it. */
static void take_blocks(struct warp_grid *g, const struct warp_lanes *blocks)
{
	for (size_t i = 0; i < blocks->n; i++) {
		const struct warp_lane *lane = &blocks->lanes[i];

		if (lane->line)
			continue;
		g->begins[g->n] = lane->from;
		g->ends[g->n++] = lane->to;
	}
	qsort(g->begins, g->n, sizeof(*g->begins), compare_times);
	qsort(g->ends, g->n, sizeof(*g->ends), compare_times);
}

size_t warp_grid_running(const struct warp_grid *g, uint64_t at)
{
	size_t begun = 0, ended = 0;

	BISECT(begun, g->n, i, g->begins[i] <= at)
	BISECT(ended, g->n, i, g->ends[i] <= at)
	return begun - MIN(begun, ended);
}

int warp_grid_init(struct warp_grid *g, const struct warp_tracks *of)
{
	struct warp_lanes blocks = {.of = NULL};
	int r = warp_lanes_make(&blocks, of, WARP_LANES_BLOCKS);

	*g = (struct warp_grid){.begins = NULL};
	if (r == 0) {
		g->begins = malloc((blocks.n + 1) * sizeof(*g->begins));
		g->ends = malloc((blocks.n + 1) * sizeof(*g->ends));
		if (!g->begins || !g->ends)
			r = -ENOMEM;
	}
	if (r == 0)
		take_blocks(g, &blocks);
	for (size_t i = 0; r == 0 && i < g->n; i++)
		g->most = MAX(g->most, warp_grid_running(g, g->begins[i]));
	warp_lanes_done(&blocks);
	if (r < 0)
		warp_grid_done(g);
	return r;
}
