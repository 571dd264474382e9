/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/diff_impl.h"
#include "base/hash.h"
#include "base/util.h"

static bool node_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct diff_node *a = &((const struct diff *)ctx)->nodes[id], *b = key;

	return a->parent == b->parent && a->name == b->name;
}

static uint32_t node_append(struct diff *d, const struct diff_node *key)
{
	uint32_t id = (uint32_t)d->n;
	struct diff_node *up;

	if (ARRAY_ROOM(d->nodes, d->cap, d->n + 1) < 0)
		return DIFF_NONE;
	d->nodes[d->n++] = *key;
	if (key->parent == DIFF_NONE)
		return id;
	up = &d->nodes[key->parent];
	d->nodes[id].depth = up->depth < UINT16_MAX ? (uint16_t)(up->depth + 1) : UINT16_MAX;
	*(up->last_child == DIFF_NONE ? &up->first_child : &d->nodes[up->last_child].next_sibling) =
		id;
	up->last_child = id;
	return id;
}

/* The kind of the frame is ignored: some files do not have it, and readers may guess it differently
 * from one run to the next. */
uint32_t diff_node_intern(struct diff *d, uint32_t parent, const char *name, uint8_t kind)
{
	struct diff_node key = {parent, DIFF_NONE, DIFF_NONE, DIFF_NONE, 0, 0, kind};
	uint64_t hash;
	uint32_t id;

	key.name = strtab_adds(d->strings, name);
	if (key.name == STRTAB_NONE)
		return DIFF_NONE;
	hash = hash_pair(parent, key.name);
	id = idindex_find(&d->index, hash, node_equal, d, &key);
	if (id != IDINDEX_NONE)
		return id;
	if (idindex_add(&d->index, hash, (uint32_t)d->n) < 0)
		return DIFF_NONE;
	return node_append(d, &key);
}
