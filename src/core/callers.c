/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/callers.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* The function's nearest context above a node, and the child of that on the way to the node. */
struct above {
	uint32_t turn;           /* number of the update that found it */
	uint32_t context, child; /* SNAP_NONE: there is none */
};

struct callers {
	struct snapshot *snap;
	struct numbers *numbers;
	const uint32_t *frames; /* by node */
	uint32_t frame;         /* the function's */
	struct callers_row *rows;
	size_t n_rows, cap_rows;
	struct found { /* the contexts of rows as they are found */
		uint32_t row, node;
		bool is_inner; /* the row has another context above it */
	} * found;
	size_t n_found, cap_found;
	uint32_t *contexts; /* the same, sorted by row */
	size_t cap_contexts;
	uint32_t *row_of[2]; /* by frame: row + 1 as a caller, as a callee; 0: none yet */
	size_t cap_row_of[2];
	struct above *above; /* by node; most are never looked at */
	size_t cap_above;
	uint32_t turn;
	bool recursive;
	struct number_cache cache; /* by row */
};

struct callers *callers_new(struct snapshot *snap, struct numbers *numbers)
{
	struct callers *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->snap = snap;
	c->numbers = numbers;
	return c;
}

struct callers *callers_free(struct callers *c)
{
	if (!c)
		return NULL;
	free(c->rows);
	free(c->found);
	free(c->contexts);
	free(c->row_of[0]);
	free(c->row_of[1]);
	free(c->above);
	number_cache_done(&c->cache);
	free(c);
	return NULL;
}

/* ---- finding the contexts ---- */

static int add_row(struct callers *c, enum callers_side side, uint32_t example)
{
	if (ARRAY_ROOM(c->rows, c->cap_rows, c->n_rows + 1) < 0)
		return -ENOMEM;
	c->rows[c->n_rows++] = (struct callers_row){
		.frame = c->frames[example], .example = example, .side = (uint8_t)side};
	return 0;
}

static int add_context(struct callers *c, uint32_t row, uint32_t node, bool is_inner)
{
	if (ARRAY_ROOM(c->found, c->cap_found, c->n_found + 1) < 0)
		return -ENOMEM;
	c->found[c->n_found++] = (struct found){row, node, is_inner};
	c->rows[row].n++;
	return 0;
}

/* Add a context to the row of an edge. other: the caller or callee at the other end. */
static int add_edge(struct callers *c, enum callers_side side, uint32_t other, uint32_t node,
		    bool is_inner)
{
	uint32_t *row = &c->row_of[side == CALLERS_CALLEE][c->frames[other]];

	if (!*row) {
		if (add_row(c, side, other) < 0)
			return -ENOMEM;
		*row = (uint32_t)c->n_rows;
	}
	return add_context(c, *row - 1, node, is_inner);
}

/* Walk up to a node that is known, and fill in those in between: each is passed once an update. */
static const struct above *find_above(struct callers *c, uint32_t node)
{
	uint32_t at = node, up, child;

	while (c->above[at].turn != c->turn) {
		up = snapshot_node(c->snap, at)->parent;
		if (up == SNAP_NONE || c->frames[up] == c->frame) {
			c->above[at] = (struct above){c->turn, up, at};
			break;
		}
		at = up;
	}
	for (child = node; child != at; child = up) {
		up = snapshot_node(c->snap, child)->parent;
		c->above[child] = c->above[at];
		c->above[child].turn = c->turn;
	}
	return &c->above[node];
}

/* Does the same caller call the function on the path above context `id` as well? */
static bool is_inner_caller(struct callers *c, uint32_t id, uint32_t caller)
{
	while ((id = find_above(c, id)->context) != SNAP_NONE) {
		uint32_t parent = snapshot_node(c->snap, id)->parent;

		if (parent != SNAP_NONE && c->frames[parent] == c->frames[caller])
			return true;
	}
	return false;
}

static bool is_inner_callee(struct callers *c, uint32_t id, uint32_t callee)
{
	const struct above *above;

	for (; (above = find_above(c, id))->context != SNAP_NONE; id = above->context)
		if (c->frames[above->child] == c->frames[callee])
			return true;
	return false;
}

/* What is allocated is not called: who holds it is told elsewhere. */
static bool is_callee(const struct callers *c, uint32_t node)
{
	return !frame_is_memory((enum frame_kind)snapshot_node(c->snap, node)->kind) &&
	       numbers_counts(c->numbers, node);
}

/* One context of the function: who calls it there, what it calls. */
static int add_function(struct callers *c, uint32_t id)
{
	bool is_inner = find_above(c, id)->context != SNAP_NONE;
	uint32_t parent = snapshot_node(c->snap, id)->parent;
	uint32_t child = snapshot_node(c->snap, id)->first_child;
	int r = add_context(c, 0, id, is_inner);

	c->recursive |= is_inner;
	if (r == 0 && parent != SNAP_NONE)
		r = add_edge(c, CALLERS_CALLER, parent, id,
			     is_inner && is_inner_caller(c, id, parent));
	for (; r == 0 && child != SNAP_NONE; child = snapshot_node(c->snap, child)->next_sibling)
		if (is_callee(c, child))
			r = add_edge(c, CALLERS_CALLEE, child, child,
				     is_inner && is_inner_callee(c, id, child));
	return r;
}

static int add_functions(struct callers *c)
{
	uint32_t n = snapshot_n(c->snap);
	int r = 0;

	for (uint32_t id = 0; id < n && r == 0; id++) {
		tick_at(snapshot_tick(c->snap), id, n);
		if (c->frames[id] == c->frame && numbers_counts(c->numbers, id))
			r = add_function(c, id);
	}
	return r;
}

/* ---- the rows ---- */

/* A row for the time of the function itself, without what it calls: the holders among the contexts
 * of row 0. These were found first. */
static int add_itself(struct callers *c)
{
	size_t n_found = c->n_found;
	uint32_t row = (uint32_t)c->n_rows;

	for (size_t i = 0; i < n_found; i++) {
		uint32_t id = c->found[i].node;

		if (c->found[i].row != 0 || !numbers_is_holder(c->numbers, id))
			continue;
		if (row == c->n_rows && add_row(c, CALLERS_ITSELF, id) < 0)
			return -ENOMEM;
		if (add_context(c, row, id, false) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Append the inner or the other contexts to their rows. */
static void put_contexts(struct callers *c, bool is_inner)
{
	for (size_t i = 0; i < c->n_found; i++) {
		struct callers_row *row = &c->rows[c->found[i].row];

		if (c->found[i].is_inner == is_inner)
			c->contexts[row->first + row->n++] = c->found[i].node;
	}
}

/* Sort the contexts by row; in each row the outermost ones come first. */
static int sort_contexts(struct callers *c)
{
	uint32_t first = 0;

	if (ARRAY_ROOM(c->contexts, c->cap_contexts, MAX(c->n_found, 1u)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_rows; i++) {
		c->rows[i].first = first;
		first += c->rows[i].n;
		c->rows[i].n = 0;
	}
	put_contexts(c, false);
	for (size_t i = 0; i < c->n_rows; i++)
		c->rows[i].n_outer = c->rows[i].n;
	put_contexts(c, true);
	return 0;
}

static int make_room(struct callers *c, uint32_t n_frames)
{
	size_t cap = c->cap_above;

	for (unsigned i = 0; i < 2; i++) {
		if (ARRAY_ROOM(c->row_of[i], c->cap_row_of[i], n_frames) < 0)
			return -ENOMEM;
		memset(c->row_of[i], 0, n_frames * sizeof(*c->row_of[i]));
	}
	if (ARRAY_ROOM(c->above, c->cap_above, snapshot_n(c->snap)) < 0)
		return -ENOMEM;
	memset(c->above + cap, 0, (c->cap_above - cap) * sizeof(*c->above));
	c->turn++;
	return 0;
}

int callers_update(struct callers *c, uint32_t node)
{
	uint32_t n_frames;
	int r;

	c->n_rows = c->n_found = 0;
	c->recursive = false;
	number_cache_clear(&c->cache);
	c->frames = numbers_functions(c->numbers, &n_frames);
	if (!c->frames)
		return -ENOMEM;
	c->frame = c->frames[node];
	r = make_room(c, n_frames);
	if (r == 0)
		r = add_row(c, CALLERS_FUNCTION, node);
	if (r == 0)
		r = add_functions(c);
	if (r == 0)
		r = add_itself(c);
	if (r == 0)
		r = sort_contexts(c);
	if (r < 0)
		c->n_rows = 0;
	return r;
}

uint32_t callers_n(const struct callers *c)
{
	return (uint32_t)c->n_rows;
}

const struct callers_row *callers_row(const struct callers *c, uint32_t i)
{
	return &c->rows[i];
}

static struct number_set set_of(const struct callers *c, uint32_t i)
{
	const struct callers_row *row = &c->rows[i];

	return (struct number_set){.nodes = c->contexts + row->first,
				   .n = row->n,
				   .n_outer = row->n_outer,
				   .inclusive = true,
				   .only_own = row->side == CALLERS_ITSELF};
}

double callers_value(struct callers *c, uint32_t i, const struct number_ask *ask)
{
	const struct number_row row = {set_of(c, i), i}, whole = {set_of(c, 0), 0};

	return number_row_value(c->numbers, &c->cache, ask, &row, &whole);
}

uint32_t callers_heaviest(struct callers *c, uint32_t i)
{
	const struct callers_row *row = &c->rows[i];
	const double *time = derive_used(numbers_derive(c->numbers), METRIC_TIME, true);
	uint32_t best = row->n ? c->contexts[row->first] : row->example;

	for (uint32_t k = 0; time && k < row->n; k++)
		if (!(time[c->contexts[row->first + k]] <= time[best]))
			best = c->contexts[row->first + k];
	return best;
}

bool callers_is_recursive(const struct callers *c)
{
	return c->recursive;
}
