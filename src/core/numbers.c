/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/numbers.h"
#include <math.h>
#include <string.h>
#include "base/util.h"

struct numbers {
	struct snapshot *snap;
	struct numbers *before; /* or NULL */
	struct derive *derive;
	const uint8_t *kept;
	uint64_t generation;
	const uint8_t *held; /* by node; NULL: to be asked for */
	uint32_t *frames;    /* by node */
	size_t cap_frames;
	uint32_t n_frames;   /* 0: to be made */
	uint32_t *functions; /* by node, where there are functions in several forms */
	size_t cap_functions;
	bool has_functions;
};

/* ---- life ---- */

struct numbers *numbers_new(struct snapshot *snap, const struct peaks *peaks)
{
	struct numbers *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->snap = snap;
	n->derive = derive_new(snap, peaks);
	if (!n->derive)
		return numbers_free(n);
	numbers_update(n, NULL);
	return n;
}

struct numbers *numbers_free(struct numbers *n)
{
	if (!n)
		return NULL;
	numbers_free(n->before);
	derive_free(n->derive);
	free(n->frames);
	free(n->functions);
	free(n);
	return NULL;
}

void numbers_update(struct numbers *n, const uint8_t *kept)
{
	n->kept = kept;
	derive_masks(n->derive, NULL, kept, TOTALS_OF_SHOWN);
	n->n_frames = 0;
	n->has_functions = false;
	n->held = NULL;
	n->generation++;
	if (n->before)
		numbers_update(n->before, kept);
}

void numbers_compare(struct numbers *n, struct numbers *before)
{
	numbers_free(n->before);
	n->before = before;
}

struct numbers *numbers_before(const struct numbers *n)
{
	return n->before;
}

uint64_t numbers_generation(const struct numbers *n)
{
	return n->generation;
}

struct snapshot *numbers_snapshot(const struct numbers *n)
{
	return n->snap;
}

struct derive *numbers_derive(struct numbers *n)
{
	return n->derive;
}

/* ---- nodes ---- */

bool numbers_counts(const struct numbers *n, uint32_t node)
{
	return !snapshot_hidden(n->snap)[node] && (!n->kept || n->kept[node]);
}

bool numbers_row_counts(const struct numbers *n, size_t row)
{
	uint32_t node = snapshot_row_node(n->snap, row);

	return node != SNAP_NONE && numbers_counts(n, node);
}

static bool holds(const struct numbers *n, uint32_t node)
{
	return (n->held && n->held[node] && (!n->kept || n->kept[node])) ||
	       (n->before && holds(n->before, node));
}

static void make_held(struct numbers *n)
{
	if (!n->held)
		n->held = snapshot_holders(n->snap);
	if (n->before)
		make_held(n->before);
}

bool numbers_is_holder(struct numbers *n, uint32_t node)
{
	make_held(n);
	return holds(n, node);
}

uint32_t numbers_holders(struct numbers *n, uint32_t *out)
{
	uint32_t nodes = snapshot_n(n->snap), found = 0;

	make_held(n);
	for (uint32_t id = 0; id < nodes; id++) {
		tick_at(snapshot_tick(n->snap), id, nodes);
		if (holds(n, id))
			out[found++] = id;
	}
	return found;
}

/* Without grouping, nodes have the ids of session nodes. With it, each group node gets a frame
 * number of its own, after the session's. */
static void find_frames(struct numbers *n)
{
	const struct session *s = snapshot_session(n->snap);
	const struct snap_node *nodes = snapshot_nodes(n->snap);
	uint32_t n_nodes = snapshot_n(n->snap);

	n->n_frames = (uint32_t)s->n_frames;
	if (snapshot_is_plain(n->snap)) {
		for (uint32_t id = 0; id < n_nodes; id++)
			n->frames[id] = s->nodes[id].frame;
		return;
	}
	for (uint32_t id = 0; id < n_nodes; id++) {
		uint32_t node = nodes[id].session_node;

		n->frames[id] = node == SESSION_NONE ? n->n_frames++ : s->nodes[node].frame;
	}
}

const uint32_t *numbers_frames(struct numbers *n, uint32_t *ret_n)
{
	if (!n->n_frames) {
		if (ARRAY_ROOM(n->frames, n->cap_frames, MAX(snapshot_n(n->snap), 1u)) < 0)
			return NULL;
		find_frames(n);
	}
	*ret_n = n->n_frames;
	return n->frames;
}

/* All forms of a function count as its first. */
static void join_forms(struct numbers *n)
{
	uint32_t n_nodes = snapshot_n(n->snap);
	uint32_t n_frames = (uint32_t)snapshot_session(n->snap)->n_frames;

	for (uint32_t id = 0; id < n_nodes; id++)
		n->functions[id] = n->frames[id] < n_frames
					   ? snapshot_function(n->snap, n->frames[id])
					   : n->frames[id];
	n->has_functions = true;
}

const uint32_t *numbers_functions(struct numbers *n, uint32_t *ret_n)
{
	const uint32_t *frames = numbers_frames(n, ret_n);

	if (!frames || !snapshot_has_forms(n->snap))
		return frames;
	if (!n->has_functions) {
		if (ARRAY_ROOM(n->functions, n->cap_functions, MAX(snapshot_n(n->snap), 1u)) < 0)
			return NULL;
		join_forms(n);
	}
	return n->functions;
}
