/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/idle.h"
#include <stdlib.h>
#include <string.h>
#include "backends/pages.h"
#include "collect/internal.h"
#include "collect/slots.h"
#include "collect/unrecorded.h"

enum {
	/* That wait, a device: half a second of 500,000 launches a second. Memory is used as they come. */
	PIECES_MAX = 1 << 18,
	WAITS_MAX = 1 << 13,
	RUN_MAX = 512,
	CACHE_SIZE = 1024,
};
#define CLOCK_STEP_NS (10 * NSEC_PER_MSEC) /* a clock that moved this far was set */

/* owner: who takes intervals, but for what is atomic */
static struct {
	struct gaps of[MAX_DEVICES]; /* without room before the first work of a device */
	struct gaps_waits waits;
	uint64_t until_ns[N_SOURCES]; /* as it was at the last look */
	int64_t clock_ns; /* from CLOCK_REALTIME to CLOCK_MONOTONIC, at the last look; 0: none */
	struct gaps_work run[RUN_MAX];
	struct span in_graphs[RUN_MAX]; /* gaps of one device, for steps … */
	uint32_t n_in_graphs;           /* … to be told */
	struct {
		uint64_t key; /* who, + 1 */
		uint32_t slots[2];
	} cache[CACHE_SIZE];
	_Atomic uint64_t settled_ns[N_SOURCES];
	_Atomic bool is_missed;
} idle;

bool idle_is_wanted(void)
{
	return !collector->control->wanted.backends.no_idle;
}

bool idle_is_told(unsigned source)
{
	return idle.until_ns[source] != 0;
}

/* ---- values ---- */

/* The slot of what is charged (0), or of how long launches take (1). WIRE_NONE is counted. */
static uint32_t slot_of(uint64_t who, unsigned which)
{
	static const uint32_t sets[] = {SET_ID_IDLE, SET_ID_LATENCY};
	unsigned at = hash_u64(who) % CACHE_SIZE;
	uint32_t *slot = &idle.cache[at].slots[which];

	if (idle.cache[at].key != who + 1) {
		idle.cache[at].key = who + 1;
		idle.cache[at].slots[0] = idle.cache[at].slots[1] = WIRE_NONE;
	}
	if (*slot == WIRE_NONE)
		*slot = slot_intern((uint32_t)(who >> 32), (uint32_t)who, sets[which], 0);
	return *slot;
}

/* As slot_touch(): who takes intervals is the sender, or a thread that has just touched a slot. */
static void touch(uint32_t slot)
{
	bitmap_set(collector->dirty, slot);
}

static void tell_in_graphs(idle_in_graphs_fn *tell)
{
	tell(idle.in_graphs, idle.n_in_graphs);
	idle.n_in_graphs = 0;
}

static void add_in_graph(const struct gap *gap, idle_in_graphs_fn *tell)
{
	if (idle.n_in_graphs == RUN_MAX)
		tell_in_graphs(tell);
	idle.in_graphs[idle.n_in_graphs++] = (struct span){gap->start, gap->end};
}

static void charge(void *user, const struct gap *gap)
{
	uint64_t whole = gap->end - gap->start - gap->parts[GAP_GRAPH];
	uint32_t slot;

	if (gap->parts[GAP_GRAPH])
		add_in_graph(gap, *(idle_in_graphs_fn **)user);
	if (unrecorded_hides(gap->start, gap->end))
		return;
	slot = slot_of(gap->who, 0);
	if (slot == WIRE_NONE)
		return;
	if (whole) {
		slot_add_u64(slot, IDLE_GAPS, 1);
		slot_add_u64(slot, IDLE_NS, whole);
	}
	for (unsigned i = 0; i < GAP_N_PARTS; i++)
		if (gap->parts[i])
			slot_add_u64(slot, IDLE_PARTS + i, gap->parts[i]);
	touch(slot);
}

/* From the call to the work, of what is launched by itself: nodes of a graph follow each other. */
static void add_latency(const struct gaps_work *w)
{
	uint32_t slot;

	if (!w->launched || w->graph)
		return;
	slot = slot_of(w->who, 1);
	if (slot == WIRE_NONE)
		return;
	slot_add_u64(slot, LATENCY_NS, w->start > w->launched ? w->start - w->launched : 0);
	slot_add_u64(slot, LATENCY_N, 1);
	if (w->start > w->launched)
		value_raise(&collector->value[collector->slot[slot].values + LATENCY_MAX],
			    w->start - w->launched);
	touch(slot);
}

/* ---- work ---- */

static struct gaps *device_gaps(uint32_t device)
{
	struct gaps *g = &idle.of[device];
	void *room;

	if (g->v)
		return g;
	room = pages_reserve(PIECES_MAX * sizeof(struct gaps_piece));
	if (!room)
		return NULL;
	gaps_init(g, room, PIECES_MAX);
	return g;
}

void idle_add(uint32_t device, const struct idle_work *v, uint32_t n)
{
	struct gaps *g = device < MAX_DEVICES ? device_gaps(device) : NULL;
	uint64_t lost = g ? g->n_lost : 0;

	if (!g)
		return;
	for (uint32_t i = 0; i < n; i++) {
		idle.run[i] = v[i].of;
		add_latency(&v[i].of);
	}
	gaps_add(g, idle.run, n);
	if (g->n_lost > lost)
		lose(LOSS_GAPS, g->n_lost - lost);
}

void idle_waited(const struct idle_work *wait)
{
	const struct gaps_wait w = {wait->of.start, wait->of.end, wait->of.thread};
	void *room;

	if (!idle.waits.v) {
		room = pages_reserve(WAITS_MAX * sizeof(w));
		if (!room)
			return;
		gaps_waits_init(&idle.waits, room, WAITS_MAX, GAPS_CLOCKS_DIFFER_NS);
	}
	gaps_waited(&idle.waits, &w);
}

void idle_break(void)
{
	for (uint32_t i = 0; i < MAX_DEVICES; i++)
		gaps_forget(&idle.of[i]);
}

/* ---- when it counts ---- */

void idle_settled(unsigned source, uint64_t until_ns)
{
	atomic_store_explicit(&idle.settled_ns[source], until_ns, memory_order_release);
}

void idle_missed(void)
{
	atomic_store(&idle.is_missed, true);
}

/* Times of before and after a clock was set are none of one clock. */
static bool clock_was_set(void)
{
	int64_t now = (int64_t)clock_to_monotonic_ns(), before = idle.clock_ns;

	idle.clock_ns = now;
	return before && llabs(now - before) > (int64_t)CLOCK_STEP_NS;
}

void idle_look(void)
{
	for (unsigned i = 0; i < N_SOURCES; i++)
		idle.until_ns[i] = atomic_load_explicit(&idle.settled_ns[i], memory_order_acquire);
}

uint64_t idle_until_ns(unsigned source)
{
	return idle.until_ns[source];
}

uint64_t idle_told_ns(unsigned source)
{
	return atomic_load_explicit(&idle.settled_ns[source], memory_order_acquire);
}

bool idle_settle(idle_in_graphs_fn *in_graphs)
{
	bool is_whole = !atomic_exchange(&idle.is_missed, false) && !clock_was_set();

	if (!is_whole)
		idle_break();
	for (uint32_t i = 0; i < MAX_DEVICES; i++) {
		if (idle.of[i].n)
			gaps_settle(&idle.of[i], idle.until_ns[collector->device[i].source],
				    idle.waits.v ? &idle.waits : NULL, charge, &in_graphs);
		tell_in_graphs(in_graphs);
	}
	return is_whole;
}

void idle_forked(void)
{
	for (uint32_t i = 0; i < MAX_DEVICES; i++)
		if (idle.of[i].v)
			gaps_init(&idle.of[i], idle.of[i].v, PIECES_MAX);
	if (idle.waits.v)
		gaps_waits_init(&idle.waits, idle.waits.v, WAITS_MAX, GAPS_CLOCKS_DIFFER_NS);
	for (unsigned i = 0; i < N_SOURCES; i++)
		atomic_store(&idle.settled_ns[i], 0);
	memset(idle.until_ns, 0, sizeof(idle.until_ns));
	memset(idle.cache, 0, sizeof(idle.cache));
	idle.clock_ns = 0;
	atomic_store(&idle.is_missed, false);
}
