/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/callers.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* An edge between the function and another one, by that one's frame. */
struct edge {
	uint32_t row;    /* + 1; 0: not seen */
	uint32_t n_open; /* times that it is on the path that is being walked */
};

struct callers {
	struct snapshot *snap;
	struct numbers *numbers;
	const uint32_t *frames; /* by node */
	uint32_t frame;         /* the function's */
	struct callers_row *rows;
	size_t n_rows, cap_rows;
	uint32_t *rows_of, *nodes; /* the contexts as they are found: row and node */
	size_t n_found, cap_rows_of, cap_nodes;
	uint32_t *contexts; /* the same by row */
	size_t cap_contexts;
	struct edge *edges[2]; /* by frame: callers, callees */
	size_t cap_edges[2];
	uint32_t n_open; /* contexts of the function on the path */
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
	free(c->rows_of);
	free(c->nodes);
	free(c->contexts);
	free(c->edges[0]);
	free(c->edges[1]);
	number_cache_done(&c->cache);
	free(c);
	return NULL;
}

/* ---- finding the contexts ---- */

static int add_row(struct callers *c, enum callers_side side, uint32_t example)
{
	if (array_reserve((void **)&c->rows, &c->cap_rows, c->n_rows + 1, sizeof(*c->rows)) < 0)
		return -ENOMEM;
	c->rows[c->n_rows++] = (struct callers_row){
		.frame = c->frames[example], .example = example, .side = (uint8_t)side};
	return 0;
}

static int add_context(struct callers *c, uint32_t row, uint32_t node)
{
	if (array_reserve((void **)&c->rows_of, &c->cap_rows_of, c->n_found + 1,
			  sizeof(*c->rows_of)) < 0 ||
	    array_reserve((void **)&c->nodes, &c->cap_nodes, c->n_found + 1, sizeof(*c->nodes)) < 0)
		return -ENOMEM;
	c->rows_of[c->n_found] = row;
	c->nodes[c->n_found++] = node;
	c->rows[row].n++;
	return 0;
}

/* The walk goes down an edge to `node`; `other` is the end that is not the function. */
static int open_edge(struct callers *c, enum callers_side side, uint32_t other, uint32_t node)
{
	struct edge *e = &c->edges[side == CALLERS_CALLEE][c->frames[other]];

	if (!e->row) {
		if (add_row(c, side, other) < 0)
			return -ENOMEM;
		e->row = (uint32_t)c->n_rows;
	}
	return e->n_open++ ? 0 : add_context(c, e->row - 1, node);
}

static int enter(struct callers *c, uint32_t id)
{
	uint32_t parent = snapshot_node(c->snap, id)->parent;
	bool is = c->frames[id] == c->frame;
	int r = 0;

	if (is && parent != SNAP_NONE)
		r = open_edge(c, CALLERS_CALLER, parent, id);
	if (r == 0 && parent != SNAP_NONE && c->frames[parent] == c->frame)
		r = open_edge(c, CALLERS_CALLEE, id, id);
	if (r == 0 && is) {
		c->recursive |= c->n_open > 0;
		r = c->n_open++ ? 0 : add_context(c, 0, id);
	}
	return r;
}

static void leave(struct callers *c, uint32_t id)
{
	uint32_t parent = snapshot_node(c->snap, id)->parent;
	bool is = c->frames[id] == c->frame;

	if (is && parent != SNAP_NONE)
		c->edges[0][c->frames[parent]].n_open--;
	if (parent != SNAP_NONE && c->frames[parent] == c->frame)
		c->edges[1][c->frames[id]].n_open--;
	c->n_open -= is;
}

/* Through all nodes: down to the first child, else over to the next of those above. */
static int walk(struct callers *c)
{
	uint32_t id = 0;
	int r;

	for (;;) {
		r = enter(c, id);
		if (r < 0)
			return r;
		if (snapshot_node(c->snap, id)->first_child != SNAP_NONE) {
			id = snapshot_node(c->snap, id)->first_child;
			continue;
		}
		while (leave(c, id), snapshot_node(c->snap, id)->next_sibling == SNAP_NONE) {
			id = snapshot_node(c->snap, id)->parent;
			if (id == SNAP_NONE)
				return 0;
		}
		id = snapshot_node(c->snap, id)->next_sibling;
	}
}

/* ---- the rows ---- */

/* Everything that holds numbers of the function itself, recursive or not. */
static int add_itself(struct callers *c)
{
	uint32_t row = (uint32_t)c->n_rows;

	for (uint32_t id = 0; id < snapshot_n(c->snap); id++) {
		if (c->frames[id] != c->frame || !numbers_is_holder(c->numbers, id))
			continue;
		if (row == c->n_rows && add_row(c, CALLERS_ITSELF, id) < 0)
			return -ENOMEM;
		if (add_context(c, row, id) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Contexts as they were found, in slices by row. */
static int sort_contexts(struct callers *c)
{
	uint32_t first = 0;

	if (array_reserve((void **)&c->contexts, &c->cap_contexts, MAX(c->n_found, 1u),
			  sizeof(*c->contexts)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_rows; i++) {
		c->rows[i].first = first;
		first += c->rows[i].n;
		c->rows[i].n = 0;
	}
	for (size_t i = 0; i < c->n_found; i++) {
		struct callers_row *row = &c->rows[c->rows_of[i]];

		c->contexts[row->first + row->n++] = c->nodes[i];
	}
	return 0;
}

static int clear_edges(struct callers *c, uint32_t n_frames)
{
	for (unsigned i = 0; i < 2; i++) {
		if (array_reserve((void **)&c->edges[i], &c->cap_edges[i], n_frames,
				  sizeof(*c->edges[i])) < 0)
			return -ENOMEM;
		memset(c->edges[i], 0, n_frames * sizeof(*c->edges[i]));
	}
	return 0;
}

int callers_update(struct callers *c, uint32_t node)
{
	uint32_t n_frames;
	int r;

	c->n_rows = c->n_found = 0;
	c->n_open = 0;
	c->recursive = false;
	c->frames = numbers_frames(c->numbers, &n_frames);
	if (!c->frames)
		return -ENOMEM;
	c->frame = c->frames[node];
	r = clear_edges(c, n_frames);
	if (r == 0)
		r = add_row(c, CALLERS_FUNCTION, node);
	if (r == 0)
		r = walk(c);
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

double callers_number(struct callers *c, uint32_t i, unsigned which)
{
	struct callers_row *row = &c->rows[i];

	return number_cache_sum(&c->cache, c->numbers, which,
				&(struct number_set){i, row->side != CALLERS_ITSELF,
						     c->contexts + row->first, row->n,
						     &row->known});
}

uint32_t callers_heaviest(struct callers *c, uint32_t i)
{
	const struct callers_row *row = &c->rows[i];
	const double *time = numbers_column(c->numbers, NUMBER_TIME, true);
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
