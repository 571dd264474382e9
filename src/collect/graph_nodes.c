/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/graph_nodes.h"
#include <sys/mman.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/slots.h"
#include "wire/wire.h"

enum {
	NODES_MAX = 1 << 17, /* a power of two; of all graphs */
	SAID_MAX = 1 << 13,  /* different things that are said of them */
	PROBES_MAX = 64,
};

/* What is said of a launch. Published by n_said. */
struct said {
	uint32_t name;
	uint32_t n;
	struct launch_value values[ARRAY_SIZE(((struct launch_info *)0)->values)];
};

/* A node; id 0: free. What is said of it is written before its id. */
struct place {
	_Atomic uint64_t id;
	_Atomic uint32_t said;
};

static struct {
	_Atomic(struct place *) places;
	_Atomic(struct said *) said;
	_Atomic uint32_t n_said;
} graphs;

/* The memory, made by whoever comes first. NULL: there is none. */
static void *reserve(_Atomic(void *) *where, size_t size)
{
	void *p = atomic_load(where), *none = NULL;

	if (p)
		return p;
	p = pages_reserve_sparse(size);
	if (p && !atomic_compare_exchange_strong(where, &none, p)) {
		munmap(p, size);
		p = none;
	}
	return p;
}

static struct place *places(void)
{
	return reserve((_Atomic(void *) *)&graphs.places, NODES_MAX * sizeof(struct place));
}

/* ---- nodes ---- */

/* The index of what is said of it, or WIRE_NONE. */
static uint32_t find(uint64_t id)
{
	struct place *p = atomic_load_explicit(&graphs.places, memory_order_acquire);
	uint64_t at = hash_u64(id), seen;

	for (unsigned i = 0; p && i < PROBES_MAX; i++, at++) {
		seen = atomic_load_explicit(&p[at % NODES_MAX].id, memory_order_acquire);
		if (seen == id)
			return atomic_load_explicit(&p[at % NODES_MAX].said, memory_order_acquire);
		if (!seen)
			break;
	}
	return WIRE_NONE;
}

static void put(uint64_t id, uint32_t said)
{
	struct place *p = places();
	uint64_t at = hash_u64(id), seen;

	for (unsigned i = 0; p && i < PROBES_MAX; i++, at++) {
		struct place *place = &p[at % NODES_MAX];

		seen = 0;
		if (!atomic_compare_exchange_strong(&place->id, &seen, id) && seen != id)
			continue;
		atomic_store_explicit(&place->said, said, memory_order_release);
		return;
	}
	lose(p ? LOSS_SLOTS_FULL : LOSS_NO_MEMORY, 1);
}

/* ---- what is said ---- */

static struct said *said_at(uint32_t i)
{
	struct said *s = atomic_load_explicit(&graphs.said, memory_order_acquire);

	return s && i && i < SAID_MAX ? &s[i] : NULL;
}

/* A place of its own; 0: all are taken. The first stays free: places that are new name it. */
static uint32_t say(const struct launch_info *l, uint32_t n)
{
	struct said *all = reserve((_Atomic(void *) *)&graphs.said, SAID_MAX * sizeof(*all));
	uint32_t i = all ? atomic_fetch_add(&graphs.n_said, 1) + 1 : SAID_MAX;

	if (i >= SAID_MAX) {
		lose(LOSS_SLOTS_FULL, 1);
		return 0;
	}
	all[i].name = l->name;
	all[i].n = n;
	memcpy(all[i].values, l->values, n * sizeof(*l->values));
	return i;
}

/* ---- for the sink ---- */

static void take_back(struct thread_state *t, uint32_t node, struct launch_value v)
{
	if (v.replace)
		return;
	v.taken_back = true;
	metric_put_at(t, node, &v);
}

void graph_node_captured(struct thread_state *t, uint64_t id)
{
	struct launch_info *l = &t->launch;
	uint32_t said;

	if (!id || !launch_is_said(t))
		return;
	for (uint32_t i = 0; i < l->n_placed; i++)
		take_back(t, l->node, l->values[i]);
	said = say(l, l->n_placed);
	l->n_placed = 0; /* once for all that is launched in between */
	if (said)
		put(id, said);
}

void graph_node_cloned(uint64_t from, uint64_t to)
{
	uint32_t said = find(from);

	if (to && said != WIRE_NONE)
		put(to, said);
}

uint32_t graph_node_name(uint64_t id)
{
	const struct said *s = said_at(find(id));

	return s ? s->name : 0;
}

void graph_node_ran(uint64_t id, uint32_t slot)
{
	const struct said *s = said_at(find(id));

	for (uint32_t i = 0; s && i < s->n; i++)
		metric_put_beside(slot, &s->values[i]);
}
