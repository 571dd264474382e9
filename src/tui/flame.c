/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/flame.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/hash.h"
#include "base/util.h"

/* A child that is wide enough. */
struct flame_child {
	double value;
	uint32_t node;
};

/* Those that are not. */
struct rest {
	double value;
	uint32_t n;
};

void flame_done(struct flame *f)
{
	free(f->boxes);
	free(f->levels);
	free(f->children);
}

double flame_value(struct flame *f, uint32_t node)
{
	const double *v;

	if (f->callers)
		return bottom_up_number(f->callers, node, f->which);
	v = numbers_column(f->numbers, f->which, true);
	return v ? v[node] : NAN;
}

uint32_t flame_parent(const struct flame *f, uint32_t node)
{
	if (f->callers)
		return node ? bottom_up_node(f->callers, node)->parent : SNAP_NONE;
	return snapshot_node(f->snap, node)->parent;
}

uint64_t flame_key(const struct flame *f, uint32_t node, bool merged)
{
	uint64_t key = f->callers ? bottom_up_node(f->callers, node)->key : node;

	return merged ? hash_u64(key + 1) : key;
}

uint32_t flame_level(const struct flame *f, uint32_t box)
{
	uint32_t level = 0;

	while (f->levels[level + 1] <= box)
		level++;
	return level;
}

/* ---- children ---- */

static int add_child(struct flame *f, struct rest *rest, uint32_t node, double least)
{
	double v = flame_value(f, node);

	if (!(v > 0))
		return 0;
	if (v < least) {
		rest->value += v;
		rest->n++;
		return 0;
	}
	if (array_reserve((void **)&f->children, &f->cap_children, f->n_children + 1,
			  sizeof(*f->children)) < 0)
		return -ENOMEM;
	f->children[f->n_children++] = (struct flame_child){v, node};
	return 0;
}

/* Children of at least so much, as f->children in any order, and the others. */
static int collect(struct flame *f, uint32_t node, double least, struct rest *rest)
{
	int r = 0;

	f->n_children = 0;
	*rest = (struct rest){0, 0};
	if (f->callers) {
		const struct bottom_up_node *n;
		uint32_t first;

		r = bottom_up_open(f->callers, node);
		n = bottom_up_node(f->callers, node);
		first = n->first_child;
		for (uint32_t k = 0; r == 0 && k < n->n_children; k++)
			r = add_child(f, rest, first + k, least);
		return r;
	}
	for (uint32_t child = snapshot_node(f->snap, node)->first_child;
	     r == 0 && child != SNAP_NONE; child = snapshot_node(f->snap, child)->next_sibling)
		r = add_child(f, rest, child, least);
	return r;
}

double flame_own(struct flame *f, uint32_t node)
{
	double own = flame_value(f, node);
	struct rest rest;

	if (collect(f, node, 0, &rest) < 0)
		return NAN;
	for (size_t i = 0; i < f->n_children; i++)
		own -= f->children[i].value;
	return own > flame_value(f, node) * 1e-9 ? own : 0; /* not what rounding leaves */
}

static int child_compare(const void *a, const void *b)
{
	const struct flame_child *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* ---- boxes ---- */

static int add_box(struct flame *f, const struct flame_box *box)
{
	if (array_reserve((void **)&f->boxes, &f->cap, f->n + 1, sizeof(*f->boxes)) < 0)
		return -ENOMEM;
	f->boxes[f->n++] = *box;
	return 0;
}

/* One box for those too narrow: a column where there is one left, else one of the last sibling. */
static int add_rest(struct flame *f, uint32_t parent, double start, double scale,
		    const struct rest *rest)
{
	struct flame_box box = {f->boxes[parent].node, parent, rest->n, 0, 0, start, rest->value};
	int end = f->boxes[parent].x + f->boxes[parent].width;
	struct flame_box *last = f->n_children ? &f->boxes[f->n - 1] : NULL;

	box.x = (int)lround(start);
	box.width = MAX((int)lround(start + rest->value * scale) - box.x, 1);
	if (box.x + box.width > end) {
		box.x = end - box.width;
		if (last && last->x + last->width > box.x) {
			if (last->width < 2)
				return 0; /* too many even for that: the parent's foot tells */
			last->width--;
		}
	}
	return add_box(f, &box);
}

static int lay_out_children(struct flame *f, uint32_t parent, double scale)
{
	uint32_t node = f->boxes[parent].node;
	double at = f->boxes[parent].start;
	struct rest rest;
	int r = collect(f, node, 1 / scale, &rest);

	if (r < 0)
		return r;
	if (f->n_children > 1)
		qsort(f->children, f->n_children, sizeof(*f->children), child_compare);
	for (size_t i = 0; i < f->n_children && r == 0; i++) {
		struct flame_box box = {f->children[i].node, parent, 0, (int)lround(at), 0, at,
					f->children[i].value};

		at += box.value * scale;
		box.width = (int)lround(at) - box.x;
		r = add_box(f, &box);
	}
	return r < 0 || rest.n == 0 ? r : add_rest(f, parent, at, scale, &rest);
}

/* Level n_levels begins here. */
static int begin_level(struct flame *f)
{
	if (array_reserve((void **)&f->levels, &f->cap_levels, f->n_levels + 2,
			  sizeof(*f->levels)) < 0)
		return -ENOMEM;
	f->levels[f->n_levels] = (uint32_t)f->n;
	return 0;
}

int flame_layout(struct flame *f, uint32_t root, int width)
{
	double value = flame_value(f, root);
	int r;

	f->n = f->n_levels = 0;
	if (!(value > 0))
		return 0;
	r = begin_level(f);
	if (r == 0)
		r = add_box(f, &(struct flame_box){root, 0, 0, 0, width, 0, value});
	while (r == 0 && f->n > f->levels[f->n_levels]) {
		uint32_t from = f->levels[f->n_levels++];

		r = begin_level(f);
		for (uint32_t i = from; r == 0 && i < f->levels[f->n_levels]; i++)
			if (!f->boxes[i].n_merged)
				r = lay_out_children(f, i, width / value);
	}
	return r;
}
