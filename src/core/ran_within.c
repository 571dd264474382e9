/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/ran_within.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"

struct comparison {
	const struct run_sides *sides;
	uint32_t *
		places; /* by node of the tree of both: the place that it is in, SESSION_NONE: none */
	struct ran_otherwise
		*list; /* a row each; then what is the same, and what differs, in place */
	size_t n, cap;
};

static int find_places(struct comparison *c)
{
	const struct session *tree = c->sides->tree;

	c->places = malloc(tree->n_nodes * sizeof(*c->places));
	if (!c->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		c->places[i] = SESSION_NONE;
	for (size_t k = 0; k < RUN_N_SIDES; k++) {
		const struct run_side *side = &c->sides->of[k];

		for (size_t i = 0; i < side->s->n_rows; i++) {
			uint32_t node = side->nodes[side->s->rows[i].node];

			if (!isnan(run_side_measured(side, &side->s->rows[i])))
				c->places[node] = node;
		}
	}
	for (uint32_t i = SESSION_ROOT + 1; i < tree->n_nodes; i++) /* parents come first */
		if (c->places[i] == SESSION_NONE)
			c->places[i] = c->places[tree->nodes[i].parent];
	return 0;
}

static int take_rows(struct comparison *c, size_t k)
{
	const struct run_side *side = &c->sides->of[k];

	for (size_t i = 0; i < side->s->n_rows; i++) {
		const struct session_row *row = &side->s->rows[i];
		uint32_t node = side->nodes[row->node], process = run_side_process(side, row);
		double n = session_row_number(side->s, row, METRIC_COUNT);

		if (isnan(n) || c->places[node] == SESSION_NONE || process == SESSION_NONE)
			continue;
		if (ARRAY_ROOM(c->list, c->cap, c->n + 1) < 0)
			return -ENOMEM;
		c->list[c->n] = (struct ran_otherwise){c->places[node], process, node, {0, 0}};
		c->list[c->n++].n[k] = n;
	}
	return 0;
}

static int order(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
	const struct ran_otherwise *x = a, *y = b;
	int r = order(x->place, y->place);

	return r ? r : order(x->process, y->process);
}

static int by_what(const void *a, const void *b)
{
	int r = by_place(a, b);

	return r ? r
		 : order(((const struct ran_otherwise *)a)->what,
			 ((const struct ran_otherwise *)b)->what);
}

/* The rows of what ran become one, and stay where that differs, the first one of its place. */
static size_t keep_differing(struct ran_otherwise *list, size_t n)
{
	size_t n_kept = 0, i = 0;

	while (i < n) {
		struct ran_otherwise sum = list[i];

		while (++i < n && !by_what(&list[i], &sum))
			for (size_t k = 0; k < RUN_N_SIDES; k++)
				sum.n[k] += list[i].n[k];
		if (sum.n[RUN_FIRST] != sum.n[RUN_OTHER] &&
		    (!n_kept || by_place(&list[n_kept - 1], &sum) != 0))
			list[n_kept++] = sum;
	}
	return n_kept;
}

int ran_within_compare(const struct run_sides *sides, struct ran_otherwise **ret, size_t *ret_n)
{
	struct comparison c = {.sides = sides};
	int r = find_places(&c);

	for (size_t k = 0; k < RUN_N_SIDES && r == 0; k++)
		r = take_rows(&c, k);
	free(c.places);
	if (r < 0) {
		free(c.list);
		return r;
	}
	if (c.n)
		qsort(c.list, c.n, sizeof(*c.list), by_what);
	*ret = c.list;
	*ret_n = keep_differing(c.list, c.n);
	return 0;
}

const struct ran_otherwise *ran_within_find(const struct ran_otherwise *list, size_t n,
					    uint32_t place, uint32_t process)
{
	const struct ran_otherwise key = {.place = place, .process = process};

	return n ? bsearch(&key, list, n, sizeof(*list), by_place) : NULL;
}
