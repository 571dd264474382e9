/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/bottom_up.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "base/util.h"

struct bottom_up {
	struct snapshot *snap;
	struct numbers *numbers;
	struct bottom_up_node *nodes;
	size_t n, cap_nodes;
	uint32_t *holders; /* of all pairs; a node's pairs are a slice */
	uint32_t *
		callers; /* of the pairs from first_caller on; before, a holder is its own caller */
	size_t first_caller;
	size_t n_pairs, cap_holders, cap_callers;
	uint32_t *contexts; /* scratch: of the node that is being opened */
	size_t cap_contexts;
	struct number_cache cache; /* by node */
	const uint32_t *frame;     /* by snapshot node: what it is called */
	uint32_t *slot;            /* by frame: the child that is being made, + 1 */
	size_t cap_slot;
	bool nested_known; /* the following two were made since the last update */
	uint32_t *holder;  /* by snapshot node: the nearest holder at or above it, or SNAP_NONE */
	uint32_t *turns;   /* by holder: value of `turn` for the last set that it was in */
	size_t cap_holder, cap_turns;
	uint32_t turn;
};

struct bottom_up *bottom_up_new(struct snapshot *snap, struct numbers *numbers)
{
	struct bottom_up *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->snap = snap;
	b->numbers = numbers;
	return b;
}

struct bottom_up *bottom_up_free(struct bottom_up *b)
{
	if (!b)
		return NULL;
	number_cache_done(&b->cache);
	free(b->nodes);
	free(b->holders);
	free(b->callers);
	free(b->contexts);
	free(b->slot);
	free(b->holder);
	free(b->turns);
	free(b);
	return NULL;
}

/* Make an empty slot for each frame, and room for as many roots. */
static int make_slots(struct bottom_up *b)
{
	size_t cap = b->cap_slot;
	uint32_t n;

	b->frame = numbers_functions(b->numbers, &n);
	if (!b->frame || ARRAY_ROOM(b->slot, b->cap_slot, n) < 0 ||
	    ARRAY_ROOM(b->nodes, b->cap_nodes, (size_t)n + 1) < 0)
		return -ENOMEM;
	memset(b->slot + cap, 0, (b->cap_slot - cap) * sizeof(*b->slot));
	return 0;
}

/* ---- children ---- */

/* Room for another n pairs; the first is *ret_first. */
static int pairs_add(struct bottom_up *b, size_t n, size_t *ret_first)
{
	size_t end = b->n_pairs + n;

	if (end >= UINT32_MAX || ARRAY_ROOM(b->holders, b->cap_holders, end) < 0 ||
	    (end > b->first_caller &&
	     ARRAY_ROOM(b->callers, b->cap_callers, end - b->first_caller) < 0))
		return -ENOMEM;
	*ret_first = b->n_pairs;
	b->n_pairs = end;
	return 0;
}

/* Who called this one; SNAP_NONE: nobody (the root is no caller). */
static uint32_t caller_of(const struct bottom_up *b, uint32_t id)
{
	uint32_t parent = snapshot_parents(b->snap)[id];

	return parent == 0 ? SNAP_NONE : parent;
}

static uint32_t caller_at(const struct bottom_up *b, const struct bottom_up_node *node, size_t at)
{
	return node->depth <= 1 ? b->holders[at] : b->callers[at - b->first_caller];
}

/* For each pair of a node, the context that a child will be made for: the caller, for node 0 the
 * holder. SNAP_NONE: the pair has no caller. If other pairs of the node have one, the root stands
 * in for it. NULL: out of memory. */
static const uint32_t *next_contexts(struct bottom_up *b, uint32_t i)
{
	const struct bottom_up_node *node = &b->nodes[i];

	if (i == 0)
		return b->holders;
	if (ARRAY_ROOM(b->contexts, b->cap_contexts, MAX(node->n, 1u)) < 0)
		return NULL;
	for (uint32_t k = 0; k < node->n; k++) {
		uint32_t caller = caller_of(b, caller_at(b, node, (size_t)node->first + k));

		b->contexts[k] = caller == SNAP_NONE && node->has_callers ? 0 : caller;
	}
	return b->contexts;
}

/* The child of node i for a frame, made when it is the first; its pairs are only counted. */
static int count_pair(struct bottom_up *b, uint32_t i, uint32_t frame)
{
	struct bottom_up_node *child;

	if (!b->slot[frame]) {
		if (b->n >= BOTTOM_UP_NONE || ARRAY_ROOM(b->nodes, b->cap_nodes, b->n + 1) < 0)
			return -ENOMEM;
		child = &b->nodes[b->n++];
		*child = (struct bottom_up_node){
			.key = hash_u64(b->nodes[i].key + hash_u64(frame + 1)),
			.parent = i,
			.frame = frame,
			.depth = b->nodes[i].depth + 1,
		};
		b->slot[frame] = (uint32_t)b->n;
	}
	b->nodes[b->slot[frame] - 1].n++;
	return 0;
}

/* How many pairs the children of i have together: -ENOMEM, or 0 with their number. */
static int count_pairs(struct bottom_up *b, uint32_t i, const uint32_t *contexts, size_t *ret_n)
{
	uint32_t n = b->nodes[i].n;
	int r = 0;

	*ret_n = 0;
	for (uint32_t k = 0; k < n && r == 0; k++) {
		tick_at(snapshot_tick(b->snap), k, n);
		if (contexts[k] == SNAP_NONE)
			continue;
		r = count_pair(b, i, b->frame[contexts[k]]);
		++*ret_n;
	}
	return r;
}

/* Give each child its slice of the pairs from `first` on; the slices are filled later. */
static void lay_out(struct bottom_up *b, size_t first_child, size_t first)
{
	for (size_t i = first_child; i < b->n; i++) {
		b->nodes[i].first = (uint32_t)first;
		first += b->nodes[i].n;
		b->nodes[i].n = 0;
	}
}

static void put_pairs(struct bottom_up *b, uint32_t i, const uint32_t *contexts)
{
	const struct bottom_up_node *node = &b->nodes[i];

	for (uint32_t k = 0; k < node->n; k++) {
		struct bottom_up_node *child;
		size_t at;

		tick_at(snapshot_tick(b->snap), k, node->n);
		if (contexts[k] == SNAP_NONE)
			continue;
		child = &b->nodes[b->slot[b->frame[contexts[k]]] - 1];
		at = (size_t)child->first + child->n++;
		b->holders[at] = b->holders[node->first + k];
		if (i != 0)
			b->callers[at - b->first_caller] = contexts[k];
		if (!child->has_callers)
			child->has_callers = caller_of(b, contexts[k]) != SNAP_NONE;
	}
}

/* Take the slots back; the children of i are complete. */
static void finish(struct bottom_up *b, uint32_t i, size_t first_child)
{
	struct bottom_up_node *node = &b->nodes[i];

	for (size_t child = first_child; child < b->n; child++)
		b->slot[b->nodes[child].frame] = 0;
	node->first_child = (uint32_t)first_child;
	node->n_children = (uint32_t)(b->n - first_child);
	node->is_made = true;
}

int bottom_up_open(struct bottom_up *b, uint32_t i)
{
	size_t first_child = b->n, first, n_pairs;
	const uint32_t *contexts;
	int r;

	if (b->nodes[i].is_made)
		return 0;
	contexts = next_contexts(b, i);
	r = contexts ? count_pairs(b, i, contexts, &n_pairs) : -ENOMEM;
	if (r == 0)
		r = pairs_add(b, n_pairs, &first);
	if (r == 0) {
		lay_out(b, first_child, first);
		put_pairs(b, i, i == 0 ? b->holders : contexts);
	}
	finish(b, i, first_child);
	if (r < 0) { /* without its children */
		b->nodes[i].n_children = 0;
		b->n = first_child;
	}
	return r;
}

uint32_t bottom_up_next_child(struct bottom_up *b, uint32_t i, uint32_t child)
{
	const struct bottom_up_node *node;

	if (bottom_up_open(b, i) < 0)
		return BOTTOM_UP_NONE;
	node = &b->nodes[i];
	child = child == BOTTOM_UP_NONE ? node->first_child : child + 1;
	return child < node->first_child + node->n_children ? child : BOTTOM_UP_NONE;
}

/* ---- the picture ---- */

/* What is allocated calls nothing and runs nowhere: who holds it is told elsewhere. */
static uint32_t leave_out_memory(struct bottom_up *b, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!frame_is_memory((enum frame_kind)snapshot_node(b->snap, b->holders[i])->kind))
			b->holders[kept++] = b->holders[i];
	return kept;
}

/* The pairs of node 0 and those of the roots are all holders, so room is made for twice that. */
int bottom_up_update(struct bottom_up *b)
{
	struct bottom_up_node *all;
	size_t first;
	int r;

	b->n = b->n_pairs = 0;
	b->first_caller = SIZE_MAX;
	number_cache_clear(&b->cache);
	b->nested_known = false;
	if (make_slots(b) < 0 || pairs_add(b, 2 * (size_t)snapshot_n(b->snap), &first) < 0)
		return -ENOMEM;
	all = &b->nodes[b->n++];
	*all = (struct bottom_up_node){.parent = BOTTOM_UP_NONE};
	all->n = leave_out_memory(b, numbers_holders(b->numbers, b->holders));
	all->has_callers = all->n > 0;
	b->n_pairs = all->n;
	r = bottom_up_open(b, 0);
	b->first_caller = b->n_pairs;
	return r;
}

uint32_t bottom_up_n(const struct bottom_up *b)
{
	return (uint32_t)b->n;
}

const struct bottom_up_node *bottom_up_node(const struct bottom_up *b, uint32_t i)
{
	return &b->nodes[i];
}

uint32_t bottom_up_example(const struct bottom_up *b, uint32_t i)
{
	return b->nodes[i].n ? caller_at(b, &b->nodes[i], b->nodes[i].first) : 0;
}

bool bottom_up_any(const struct bottom_up *b, uint32_t i, const uint8_t *by_node, uint8_t flags)
{
	const struct bottom_up_node *node = &b->nodes[i];

	for (uint32_t k = 0; k < node->n; k++)
		if (by_node[caller_at(b, node, (size_t)node->first + k)] & flags)
			return true;
	return false;
}

uint32_t bottom_up_heaviest(struct bottom_up *b, uint32_t i)
{
	const double *time = derive_used(numbers_derive(b->numbers), METRIC_TIME, false);
	const struct bottom_up_node *node = &b->nodes[i];
	uint32_t best = node->first;

	for (uint32_t at = node->first; time && at < node->first + node->n; at++)
		if (time[b->holders[at]] > time[b->holders[best]] || isnan(time[b->holders[best]]))
			best = at;
	return node->n ? caller_at(b, node, best) : 0;
}

/* ---- numbers ---- */

/* Find by node the nearest holder at or above it, to tell which holders lie below others. */
static int find_nested(struct bottom_up *b)
{
	uint32_t n = snapshot_n(b->snap), next = 0;

	if (ARRAY_ROOM(b->holder, b->cap_holder, n) < 0 ||
	    ARRAY_ROOM(b->turns, b->cap_turns, n) < 0)
		return -ENOMEM;
	memset(b->turns, 0, n * sizeof(*b->turns));
	b->turn = 0;
	for (uint32_t id = 0; id < n; id++) {
		bool holds = next < b->nodes[0].n && b->holders[next] == id;
		uint32_t parent = snapshot_parents(b->snap)[id];

		next += holds;
		b->holder[id] = holds ? id : parent == SNAP_NONE ? SNAP_NONE : b->holder[parent];
	}
	return 0;
}

/* May holders of a set lie below others? In most trees only leaves are holders, so no. Also false
 * when there is no memory to find out. */
static bool may_nest(struct bottom_up *b, const struct bottom_up_node *node)
{
	uint32_t i = 0;

	while (i < node->n && snapshot_node(b->snap, b->holders[node->first + i])->n_children == 0)
		i++;
	if (node->n < 2 || i == node->n)
		return false;
	if (!b->nested_known)
		b->nested_known = find_nested(b) == 0;
	return b->nested_known;
}

static uint32_t holder_above(const struct bottom_up *b, uint32_t holder)
{
	uint32_t parent = snapshot_parents(b->snap)[holder];

	return parent == SNAP_NONE ? SNAP_NONE : b->holder[parent];
}

/* Does a holder lie below another holder of the set that was marked last? */
static bool is_inner(const struct bottom_up *b, uint32_t holder)
{
	do
		holder = holder_above(b, holder);
	while (holder != SNAP_NONE && b->turns[holder] != b->turn);
	return holder != SNAP_NONE;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t was = *a;

	*a = *b;
	*b = was;
}

/* Move the pairs whose holders lie below no other holder to the front of the node's pairs. */
static void part_inner(struct bottom_up *b, struct bottom_up_node *node)
{
	b->turn++;
	for (uint32_t at = node->first; at < node->first + node->n; at++)
		b->turns[b->holders[at]] = b->turn;
	for (uint32_t at = node->first; at < node->first + node->n; at++) {
		uint32_t to = node->first + node->n_outer;

		if (is_inner(b, b->holders[at]))
			continue;
		swap(&b->holders[at], &b->holders[to]);
		if (node->depth > 1)
			swap(&b->callers[at - b->first_caller], &b->callers[to - b->first_caller]);
		node->n_outer++;
	}
}

/* The outermost holders are found only when an inclusive number needs them. */
static struct number_set set_of(struct bottom_up *b, uint32_t i, bool inclusive)
{
	struct bottom_up_node *node = &b->nodes[i];

	if (inclusive && node->n_outer == 0 && may_nest(b, node))
		part_inner(b, node);
	else if (inclusive && node->n_outer == 0)
		node->n_outer = node->n;
	return (struct number_set){
		.nodes = b->holders + node->first, .n = node->n, .n_outer = node->n_outer};
}

double bottom_up_value(struct bottom_up *b, uint32_t i, const struct number_ask *ask)
{
	const struct derived *m = ask->metric;
	bool of_parent = m->op == DERIVED_OF_PARENT && b->nodes[i].parent != BOTTOM_UP_NONE;
	bool inclusive = m->is_said && m->inclusive;
	bool is_share = of_parent || m->op == DERIVED_SHARE;
	uint32_t above = of_parent ? b->nodes[i].parent : 0;
	const struct number_row row = {set_of(b, i, inclusive), i};
	/* Only shares need the outermost of all. */
	const struct number_row whole = {set_of(b, above, inclusive && is_share), above};

	return number_row_value(b->numbers, &b->cache, ask, &row, &whole);
}
