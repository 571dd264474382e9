/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/flame.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/util.h"

#define COLUMNS_EACH 8  /* of the largest ones, where none would have a column by itself */
#define COLUMNS_REST 10 /* of the others then: "+1289 more" */

/* A child that is wide enough. */
struct flame_child {
	double value;
	uint32_t node;
	bool is_shown;
};

/* Those that are not. */
struct rest {
	double value, before;
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
	const struct number_ask ask = {.metric = &f->metric};

	if (f->callers)
		return bottom_up_value(f->callers, node, &ask);
	return derive_at(numbers_derive(f->numbers), &f->metric, &f->terms, node, 0);
}

double flame_before(struct flame *f, uint32_t node)
{
	const struct number_ask ask = {.metric = &f->metric, .before = true, .slot = 1};
	struct numbers *before = numbers_before(f->numbers);

	if (!before)
		return NAN;
	if (f->callers)
		return bottom_up_value(f->callers, node, &ask);
	return derive_at(numbers_derive(before), &f->metric, &f->terms_before, node, 0);
}

uint32_t flame_parent(const struct flame *f, uint32_t node)
{
	if (f->callers)
		return node ? bottom_up_node(f->callers, node)->parent : SNAP_NONE;
	return snapshot_node(f->snap, node)->parent;
}

_Static_assert(BOTTOM_UP_NONE == SNAP_NONE, "no node is no node");

static uint32_t next_child(struct flame *f, uint32_t node, uint32_t child)
{
	if (f->callers)
		return bottom_up_next_child(f->callers, node, child);
	return child == SNAP_NONE ? snapshot_node(f->snap, node)->first_child
				  : snapshot_node(f->snap, child)->next_sibling;
}

/* What has no value has no box. */
uint32_t flame_next_child(struct flame *f, uint32_t node, uint32_t child)
{
	do
		child = next_child(f, node, child);
	while (child != SNAP_NONE && !(flame_value(f, child) > 0));
	return child;
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
	bool is_shown = !f->is_shown || f->is_shown(f->ctx, node);

	if (v < least || (least > 0 && !is_shown)) {
		double before = flame_before(f, node);

		rest->value += v;
		rest->before += isnan(before) ? 0 : before;
		rest->n++;
		return 0;
	}
	if (ARRAY_ROOM(f->children, f->cap_children, f->n_children + 1) < 0)
		return -ENOMEM;
	f->children[f->n_children++] = (struct flame_child){v, node, is_shown};
	return 0;
}

/* Children of at least so much (0: all), as f->children in any order, and the others. */
static int collect(struct flame *f, uint32_t node, double least, struct rest *rest)
{
	uint32_t child = SNAP_NONE, n = f->callers ? bottom_up_n(f->callers) : snapshot_n(f->snap);
	int r = f->callers ? bottom_up_open(f->callers, node) : 0;

	f->n_children = 0;
	*rest = (struct rest){0};
	for (size_t i = 0; r == 0 && (child = flame_next_child(f, node, child)) != SNAP_NONE; i++) {
		tick_at(snapshot_tick(f->snap), i, n);
		r = add_child(f, rest, child, least);
	}
	return r;
}

/* Children that have no box because they are gone. */
static void sum_gone(struct flame *f, uint32_t node)
{
	double before;

	if (!numbers_before(f->numbers))
		return;
	for (uint32_t child = next_child(f, node, SNAP_NONE); child != SNAP_NONE;
	     child = next_child(f, node, child)) {
		if (flame_value(f, child) > 0 || !((before = flame_before(f, child)) > 0))
			continue;
		f->gone.value += before;
		f->gone.n++;
	}
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

	if (x->is_shown != y->is_shown)
		return x->is_shown ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* ---- boxes ---- */

static int add_box(struct flame *f, const struct flame_box *box)
{
	if (ARRAY_ROOM(f->boxes, f->cap, f->n + 1) < 0)
		return -ENOMEM;
	f->boxes[f->n++] = *box;
	return 0;
}

/* One box for those too narrow: in a column that is left, else in one taken from the last
 * sibling. */
static int add_rest(struct flame *f, uint32_t parent, double start, double scale,
		    const struct rest *rest)
{
	struct flame_box box = {.node = f->boxes[parent].node,
				.parent = parent,
				.n_merged = rest->n,
				.start = start,
				.value = rest->value,
				.before = numbers_before(f->numbers) ? rest->before : NAN};
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

/* Level n_levels begins here. */
static int begin_level(struct flame *f)
{
	if (ARRAY_ROOM(f->levels, f->cap_levels, f->n_levels + 2) < 0)
		return -ENOMEM;
	f->levels[f->n_levels] = (uint32_t)f->n;
	return 0;
}

/* The first n of the children that were collected, from `start` on; *ret_end is behind them. */
static int add_children(struct flame *f, uint32_t parent, size_t n, double scale, double *ret_end)
{
	double at = *ret_end;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct flame_box box = {.node = f->children[i].node,
					.parent = parent,
					.x = (int)lround(at),
					.start = at,
					.value = f->children[i].value,
					.before = flame_before(f, f->children[i].node)};

		at += box.value * scale;
		box.width = (int)lround(at) - box.x;
		r = add_box(f, &box);
	}
	*ret_end = at;
	return r;
}

static void sort_children(struct flame *f)
{
	if (f->n_children > 1)
		qsort(f->children, f->n_children, sizeof(*f->children), child_compare);
}

static int lay_out_children(struct flame *f, uint32_t parent, double scale)
{
	double at = f->boxes[parent].start;
	struct rest rest;
	int r = collect(f, f->boxes[parent].node, 1 / scale, &rest);

	if (r < 0)
		return r;
	sum_gone(f, f->boxes[parent].node);
	sort_children(f);
	r = add_children(f, parent, f->n_children, scale, &at);
	return r < 0 || rest.n == 0 ? r : add_rest(f, parent, at, scale, &rest);
}

/* Children behind the first `skip`, sorted, as f->children; their sum. */
static int collect_rest(struct flame *f, const struct flame_view *view, double *ret_sum)
{
	struct rest none;
	int r = collect(f, view->root, 0, &none);
	size_t skip = MIN(view->skip, f->n_children);

	if (r < 0)
		return r;
	sort_children(f);
	f->n_children -= skip;
	memmove(f->children, f->children + skip, f->n_children * sizeof(*f->children));
	*ret_sum = 0;
	for (size_t i = 0; i < f->n_children; i++)
		*ret_sum += f->children[i].value;
	return 0;
}

/* How many of the largest have a column, and the scale; else those that are made to. */
static size_t choose_shown(struct flame *f, int width, double sum, double *ret_scale)
{
	size_t n = 0, all = f->n_children;
	double largest = 0;

	*ret_scale = width / sum;
	while (n < all && f->children[n].value * *ret_scale >= 1)
		n++;
	if (n > 0)
		return n;
	n = MIN(all, (size_t)MAX(width / COLUMNS_EACH, 1));
	f->not_to_scale = n < all;
	for (size_t i = 0; i < n; i++)
		largest += f->children[i].value;
	*ret_scale = (width - (n < all ? MIN(COLUMNS_REST, width / 2) : 0)) / largest;
	return n;
}

/* Levels 0 and 1 of a view of the rest; *ret_scale is for those below. */
static int lay_out_rest(struct flame *f, const struct flame_view *view, double *ret_scale)
{
	struct rest rest = {0};
	double sum, at = 0;
	size_t shown;
	int r = collect_rest(f, view, &sum);

	if (r < 0 || f->n_children == 0)
		return r;
	shown = choose_shown(f, view->width, sum, ret_scale);
	rest.n = (uint32_t)(f->n_children - shown);
	r = add_box(f, &(struct flame_box){.node = view->root,
					   .n_merged = (uint32_t)f->n_children,
					   .width = view->width,
					   .value = sum,
					   .before = NAN});
	f->n_levels = 1;
	r = r ? r : begin_level(f);
	r = r ? r : add_children(f, 0, shown, *ret_scale, &at);
	if (r < 0 || rest.n == 0)
		return r;
	for (size_t i = shown; i < f->n_children; i++) {
		double before = flame_before(f, f->children[i].node);

		rest.value += f->children[i].value;
		rest.before += isnan(before) ? 0 : before;
	}
	/* What is left of the width is theirs, in proportion or not. */
	return add_rest(f, 0, at, (view->width - at) / rest.value, &rest);
}

static int lay_out_root(struct flame *f, const struct flame_view *view, double *ret_scale)
{
	double value = flame_value(f, view->root);

	if (!(value > 0))
		return 0;
	*ret_scale = view->width / value;
	if (view->rest)
		return lay_out_rest(f, view, ret_scale);
	return add_box(f, &(struct flame_box){.node = view->root,
					      .width = view->width,
					      .value = value,
					      .before = flame_before(f, view->root)});
}

int flame_layout(struct flame *f, const struct flame_view *view)
{
	double scale = 1;
	int r;

	f->n = f->n_levels = 0;
	f->not_to_scale = false;
	f->gone.value = f->gone.n = 0;
	r = begin_level(f);
	r = r ? r : lay_out_root(f, view, &scale);
	while (r == 0 && f->n > f->levels[f->n_levels]) {
		uint32_t from = f->levels[f->n_levels++];

		r = begin_level(f);
		for (uint32_t i = from; r == 0 && i < f->levels[f->n_levels]; i++)
			if (!f->boxes[i].n_merged)
				r = lay_out_children(f, i, scale);
	}
	return r;
}
