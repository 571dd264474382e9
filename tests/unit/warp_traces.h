/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_WARP_TRACES_H
#define PROTON_TESTS_WARP_TRACES_H
/* Made-up traces of warps: an attention kernel whose warps share the work, as one would record it. */
#include <stdlib.h>
#include "base/util.h"
#include "intra/warp_trace.h"

#define WARP_NS       UINT64_C(1764201600000000000) /* of the device's clock, when the launch began */
#define WARP_CYCLE_NS 0.5
#define WARP_SMS      8
#define WARP_LATE     UINT64_C(11) /* the block whose softmax takes long */

/* For programs, too, that are no tests of Check. */
static inline void warp_must(bool holds)
{
	if (!holds)
		abort();
}

/* Of one warp, while they are made. */
struct warp_making {
	struct warp_trace *t;
	struct warp_trace_scope v[256];
	size_t n;
	uint64_t at;
};

static inline uint32_t warp_add(struct warp_making *m, const char *name, enum warp_event event,
				uint64_t enter, uint64_t leave, uint32_t parent)
{
	warp_must(m->n < ARRAY_SIZE(m->v));
	m->v[m->n] = (struct warp_trace_scope){.enter = enter,
					       .leave = leave,
					       .parent = parent,
					       .name = strtab_adds(m->t->names, name),
					       .event = event};
	return (uint32_t)m->n++;
}

/* A scope right behind the one before. */
static inline void warp_spend(struct warp_making *m, const char *name, uint64_t cycles,
			      uint32_t parent)
{
	warp_add(m, name, WARP_EVENT_SCOPE, m->at, m->at + cycles, parent);
	m->at += cycles;
}

/* Warp 0 copies, warps 4 to 7 and 8 to 11 compute in turns; all in a scope for the tile. */
static inline void warp_attend(struct warp_making *m, uint32_t warp, bool is_late)
{
	uint64_t begun = m->at;
	uint32_t tile = warp_add(m, "tile", WARP_EVENT_SCOPE, m->at, m->at, WARP_TRACE_NO_PARENT);

	m->at += 200 * (1 + warp / 4);
	for (int i = 0; i < 4; i++) {
		if (warp == 0) {
			warp_spend(m, "load K", 900, tile);
			warp_spend(m, "load V", 900, tile);
			warp_add(m, "copy", WARP_EVENT_ASYNC, m->at - 1700, m->at + 100,
				 WARP_TRACE_NO_PARENT);
			warp_add(m, "bytes", WARP_EVENT_VALUE, m->at, m->at, tile);
			m->v[m->n - 1].value = 32768;
			m->at += 400;
			continue;
		}
		warp_spend(m, "QK", 1000, tile);
		warp_spend(m, "softmax", is_late ? 1500 : 600 + 10 * (warp % 4), tile);
		warp_spend(m, "PV", 400, tile);
		m->at += 150;
	}
	if (warp == 4)
		warp_add(m, "done", WARP_EVENT_MARK, m->at, m->at, tile);
	m->v[tile].leave = m->at;
	m->at = MAX(m->at, begun);
}

/* Each multiprocessor counts from another start. */
static inline uint64_t warp_clock_of(uint32_t multiprocessor, uint64_t cycle)
{
	return UINT64_C(1000000) * (multiprocessor + 1) * 7 + cycle;
}

/* The first of so many parts of its records are overwritten; 0: none are. */
static inline void warp_lose(struct warp_making *m, struct warp_trace_warp *w, size_t parts)
{
	w->n_lost = parts ? m->n / parts : 0;
	m->n -= w->n_lost;
	for (size_t i = 0; w->n_lost && i < m->n; i++) {
		m->v[i] = m->v[i + w->n_lost];
		m->v[i].parent = WARP_TRACE_NO_PARENT;
	}
}

/* Block `block` of a launch, from `cycle` on. Returns when it ends. */
static inline uint64_t warp_block(struct warp_trace *t, uint64_t block, uint32_t multiprocessor,
				  uint64_t cycle, size_t lost_parts)
{
	static const uint32_t warps[] = {0, 4, 5, 6, 7, 8, 9, 10, 11};
	uint64_t end = cycle;

	for (size_t i = 0; i < ARRAY_SIZE(warps); i++) {
		struct warp_making m = {.t = t, .at = warp_clock_of(multiprocessor, cycle)};
		struct warp_trace_warp w = {
			.warp = warps[i],
			.multiprocessor = multiprocessor,
			.block = block,
			.entered_clock = m.at,
			.entered_ns = WARP_NS + (uint64_t)((double)cycle * WARP_CYCLE_NS)};

		warp_attend(&m, warps[i], block == WARP_LATE);
		w.left_clock = m.at + 50;
		w.left_ns = w.entered_ns +
			    (uint64_t)((double)(w.left_clock - w.entered_clock) * WARP_CYCLE_NS);
		warp_lose(&m, &w, lost_parts);
		warp_must(warp_trace_add_warp(t, &w, m.v, m.n) == 0);
		end = MAX(end, cycle + w.left_clock - w.entered_clock);
	}
	return end;
}

/* A launch of so many blocks, one on a multiprocessor at a time. */
static inline void warp_launch_lost(struct warp_trace *t, uint64_t launch, uint64_t n_blocks,
				    size_t lost_parts)
{
	uint64_t free_at[WARP_SMS] = {0};
	const struct warp_trace_launch l = {.kernel = strtab_adds(t->names, "flash_fwd<128, 128>"),
					    .launch = launch,
					    .device = 0,
					    .n_blocks = n_blocks,
					    .n_block_warps = 12};

	warp_must(warp_trace_add_launch(t, &l) == 0);
	for (uint64_t block = 0; block < n_blocks; block++) {
		uint32_t first = 0;

		for (uint32_t sm = 1; sm < WARP_SMS; sm++)
			if (free_at[sm] < free_at[first])
				first = sm;
		free_at[first] =
			warp_block(t, block, first, free_at[first] + 20 * first, lost_parts);
	}
}

static inline void warp_launch(struct warp_trace *t, uint64_t launch, uint64_t n_blocks)
{
	warp_launch_lost(t, launch, n_blocks, 0);
}

#endif
