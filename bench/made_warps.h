/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BENCH_MADE_WARPS_H
#define PROTON_BENCH_MADE_WARPS_H
/* Launches of many scopes, on 132 multiprocessors. */
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"
#include "intra/warp_trace.h"

#include "screen_times.h"

#define MULTIPROCESSORS 132
#define NAMES           8
#define CYCLES          200 /* of a scope, about */

/* A scope for the whole, and within it others, one after another. */
static inline void make_warp(struct warp_trace *t, const uint32_t *names, size_t n, uint64_t block,
			     uint32_t warp)
{
	struct warp_trace_scope *v = calloc(n, sizeof(*v));
	uint64_t begun = (block / MULTIPROCESSORS) * n * CYCLES * 11 / 10, at = begun;
	struct warp_trace_warp w = {.warp = warp,
				    .multiprocessor = (uint32_t)(block % MULTIPROCESSORS),
				    .block = block,
				    .entered_clock = begun + 1,
				    .entered_ns = 1000 + begun / 2};

	for (size_t i = 0; v && i < n; i++) {
		v[i] = (struct warp_trace_scope){.enter = at + 1,
						 .parent = i ? 0 : WARP_TRACE_NO_PARENT,
						 .name = names[i ? 1 + draw_number(NAMES - 1) : 0]};
		at += i ? CYCLES / 2 + draw_number(CYCLES) : 0;
		v[i].leave = at;
	}
	if (!v)
		exit(1);
	v[0].leave = at;
	w.left_clock = at + 1;
	w.left_ns = w.entered_ns + (at - begun) / 2;
	if (warp_trace_add_warp(t, &w, v, n) < 0)
		exit(1);
	free(v);
}

/* A launch more, of so many scopes. */
static inline void make_warps(struct warp_trace *t, size_t n, uint64_t blocks, uint32_t warps)
{
	struct warp_trace_launch launch = {.n_blocks = blocks, .n_block_warps = warps};
	uint32_t names[NAMES];
	char name[32];

	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%c scope", 'a' + (int)i);
		names[i] = strtab_adds(t->names, name);
	}
	launch.kernel = strtab_adds(t->names, "kernel");
	if (warp_trace_add_launch(t, &launch) < 0)
		exit(1);
	for (uint64_t block = 0; block < blocks; block++)
		for (uint32_t warp = 0; warp < warps; warp++)
			make_warp(t, names, MAX(n / blocks / warps, 2), block, warp);
}

#endif
