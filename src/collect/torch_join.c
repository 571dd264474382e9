/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/torch_join.h"
#include "backends/pages.h"
#include "base/hash.h"
#include "collect/internal.h"

enum {
	LINKS = 1 << 17, /* forward operators that are remembered */
	PATH_MAX_ = 64,  /* modules above an operator */
};

/* By link: upper half of its hash, node. One word each, so that it is whole or not there. */
static _Atomic uint64_t *links;

void torch_join_init(void)
{
	if (!links)
		links = pages_reserve_sparse(LINKS * sizeof(*links));
	if (!links)
		lose(LOSS_NO_MEMORY, 1);
}

static uint64_t hash_of(const struct torch_link *link)
{
	return hash_u64(link->sequence ^ link->thread << 48);
}

/* Numbers that follow each other lie beside each other: they are asked for one after the other, backwards, where
 * nothing else of the table is in the caches. */
static _Atomic uint64_t *cell_of(const struct torch_link *link)
{
	return &links[(link->sequence + hash_u64(link->thread)) % LINKS];
}

void torch_join_keep(const struct torch_link *link, uint32_t node)
{
	uint64_t hash = hash_of(link);

	if (links)
		atomic_store_explicit(cell_of(link), hash >> 32 << 32 | node, memory_order_relaxed);
}

static bool is_place(uint32_t node)
{
	uint32_t kind = collector->frame[collector->node[node].frame].kind;

	return kind == FRAME_MODULE || kind == FRAME_PYTHON;
}

/* The frames that a path ends in, as far as they are places in the program, below another node. */
static uint32_t put_below(uint32_t path, uint32_t node)
{
	uint32_t frames[PATH_MAX_], n = 0;

	for (; path && is_place(path) && n < PATH_MAX_; path = collector->node[path].parent)
		frames[n++] = collector->node[path].frame;
	while (n)
		node = node_intern(node, frames[--n]);
	return node;
}

uint32_t torch_join_find(const struct torch_link *link)
{
	uint64_t hash = hash_of(link), v;

	if (!links)
		return 0;
	v = atomic_load_explicit(cell_of(link), memory_order_relaxed);
	return v >> 32 == hash >> 32 ? (uint32_t)v : 0;
}

uint32_t torch_join_below(const struct torch_link *link, uint32_t node)
{
	return put_below(torch_join_find(link), node);
}
