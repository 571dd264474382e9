/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include "tui/finder.h"
#include "tui/flame_box.h"
#include "tui/names.h"
#include "tui/panel_flame.h"
#include "tui/tui_impl.h"

#define NAME_COLUMNS 3   /* a narrower box has no room for a name */
#define NEARLY_ALL   0.9 /* of the root: of such a box there is little to say */

/* ---- what makes a box wide ---- */

/* A metric of a node of the tree that is shown. */
static double value(struct panel *p, uint32_t node, const struct row_ask *ask)
{
	struct panel_flame *pf = as_flame(p);
	struct numbers *n = pf->flame.numbers;

	if (pf->flame.callers)
		return bottom_up_value(pf->callers, node, &ask->of);
	n = ask->of.before ? numbers_before(n) : n;
	return n ? derive_at(numbers_derive(n), ask->of.metric, ask->terms, node, 0) : NAN;
}

/* From the top each box has all that lies below it, even where the tree shows a metric without
 * that; by callers each has what its contexts hold themselves. */
static void choose_metric(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	const struct row_column *c = p->columns.v[p->sort].of;

	pf->flame.metric = c->spec.derived;
	pf->flame.metric.is_said = false;
	pf->flame.metric.inclusive = true;
	pf->flame.terms = pf->flame.terms_before = (struct derived_terms){0};
}

static int init(struct panel *p)
{
	static const enum usual_column usual[] = {USUAL_TOTAL, USUAL_NOW,   USUAL_CALLS,
						  USUAL_BYTES, USUAL_FLOPS, USUAL_CPU};
	struct panel_flame *pf = as_flame(p);

	buf_init(&pf->name, 256);
	pf->lines = 1;
	pf->columns.only_sums = true;
	return row_columns_init(&pf->columns, p, usual, ARRAY_SIZE(usual));
}

static void done(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);

	row_columns_done(&pf->columns);
	flame_done(&pf->flame);
	bottom_up_free(pf->callers);
	free(pf->path);
	buf_done(&pf->name);
}

/* ---- the root of the view ---- */

static uint32_t depth_of(struct panel *p, uint32_t node)
{
	uint32_t depth = 0;

	while ((node = flame_parent(&as_flame(p)->flame, node)) != SNAP_NONE)
		depth++;
	return depth;
}

/* The keys of the path to the root of the view, from below. */
static void remember_root(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);

	pf->n_path = 0;
	for (uint32_t node = pf->view.root; node != 0 && node != SNAP_NONE;
	     node = flame_parent(&pf->flame, node))
		if (ARRAY_ROOM(pf->path, pf->cap_path, pf->n_path + 1) == 0)
			pf->path[pf->n_path++] = bottom_up_node(pf->callers, node)->key;
}

/* The child of this key, or BOTTOM_UP_NONE. */
static uint32_t find_child(struct bottom_up *b, uint32_t parent, uint64_t key)
{
	uint32_t child = bottom_up_next_child(b, parent, BOTTOM_UP_NONE);

	while (child != BOTTOM_UP_NONE && bottom_up_node(b, child)->key != key)
		child = bottom_up_next_child(b, parent, child);
	return child;
}

/* The nodes of callers have other numbers now. Where the root is gone, the nearest of its path that
 * is left becomes the root. */
static void restore_root(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t child;

	pf->view.root = 0;
	while (pf->n_path > 0) {
		child = find_child(pf->callers, pf->view.root, pf->path[--pf->n_path]);
		if (child == BOTTOM_UP_NONE) {
			pf->view.rest = false;
			break;
		}
		pf->view.root = child;
	}
	while (pf->n_zoom && pf->zoom[pf->n_zoom - 1].depth > depth_of(p, pf->view.root))
		pf->n_zoom--;
}

/* The tree of callers follows the numbers. False: no memory. */
static bool make_callers(struct panel *p, struct numbers *n)
{
	struct panel_flame *pf = as_flame(p);

	if (!pf->callers && !(pf->callers = bottom_up_new(p->tui->snap, n)))
		return false;
	pf->flame.callers = pf->callers;
	if (pf->generation == numbers_generation(n))
		return true;
	if (pf->generation)
		remember_root(p);
	if (bottom_up_update(pf->callers) < 0)
		return false;
	pf->generation = numbers_generation(n);
	restore_root(p);
	return true;
}

static void show_all(struct panel *p)
{
	as_flame(p)->view = (struct flame_view){.root = 0};
	as_flame(p)->n_zoom = 0;
	as_flame(p)->has_selected = false;
	panel_spoil(p);
}

static bool is_shown(void *ctx, uint32_t node)
{
	return row_columns_reach(&as_flame(ctx)->columns, ctx, node);
}

/* ---- rows: lines of levels ---- */

static uint64_t row_key(struct panel *p, size_t row)
{
	return level_of_row(p, row) + 1;
}

static uint64_t key_of(struct panel *p, uint32_t box)
{
	const struct flame *f = &as_flame(p)->flame;
	const struct flame_box *b = box_at(p, box);

	/* The root of a view of the rest is not the rest of that rest. */
	return flame_key(f, b->node, b->n_merged > 0) + (box == 0 && b->n_merged);
}

static void select_box(struct panel *p, uint32_t box)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t level = flame_level(&pf->flame, box);

	pf->selected = box;
	pf->selected_key = key_of(p, box);
	pf->has_selected = true;
	panel_goto(p, row_of_level(p, level));
}

/* The first child is the largest; SNAP_NONE: there is none that is drawn. */
static uint32_t first_child(struct panel *p, uint32_t box)
{
	const struct flame *f = &as_flame(p)->flame;
	uint32_t level = flame_level(f, box);

	if (level + 1 < f->n_levels)
		for (uint32_t i = f->levels[level + 1]; i < f->levels[level + 2]; i++)
			if (f->boxes[i].parent == box && !f->boxes[i].n_merged)
				return i;
	return SNAP_NONE;
}

/* Where to begin: the largest part of what is shown. Of the root and of scopes around nearly all of
 * the work the numbers would say that they are everything. */
static uint32_t first_choice(struct panel *p)
{
	uint32_t box = 0, child;

	do {
		child = first_child(p, box);
		box = child == SNAP_NONE ? box : child;
	} while (child != SNAP_NONE && box_at(p, box)->value >= NEARLY_ALL * box_at(p, 0)->value);
	return box;
}

/* The box that was selected, wherever it is now; where it is gone, one as at the beginning. As long as
 * there is but the root, nothing has been selected. */
static void reselect(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t box = 0;

	while (pf->has_selected && box < pf->flame.n && key_of(p, box) != pf->selected_key)
		box++;
	if (pf->has_selected && box < pf->flame.n) {
		select_box(p, box);
		return;
	}
	select_box(p, first_choice(p));
	pf->has_selected = pf->selected != 0;
}

static void update(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	struct numbers *n = tui_numbers(p->tui);
	size_t n_below;

	p->n_rows = 0;
	row_columns_update(&pf->columns, p);
	choose_metric(p);
	pf->flame.snap = p->tui->snap;
	pf->flame.numbers = n;
	pf->flame.callers = NULL;
	if (pf->form == FLAME_BY_CALLERS && !make_callers(p, n))
		return;
	pf->flame.is_shown = pf->columns.is_limited ? is_shown : NULL;
	pf->flame.ctx = p;
	pf->view.width = p->width;
	if (snapshot_n(p->tui->snap) == 0 || flame_layout(&pf->flame, &pf->view) < 0)
		return;
	/* Boxes are as high as the screen has room for, when all levels are seen. */
	n_below = pf->flame.n_levels - (pf->flame.n_levels > 0);
	pf->lines = CLAMP((p->height - 1) / MAX((int)n_below, 1), 1, BOX_LINES);
	p->n_rows = pf->flame.n_levels ? 1 + n_below * (size_t)pf->lines : 0;
	if (p->n_rows > 0)
		reselect(p);
}

/* A row has many names: the selected box's in the cursor's row, else the first one's. */
static const char *row_name(struct panel *p, size_t row)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t level = level_of_row(p, row);

	return flame_box_name(p, row == p->cursor ? pf->selected : pf->flame.levels[level]);
}

static uint32_t row_node(struct panel *p, size_t row)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t node = box_at(p, pf->selected)->node;

	(void)row;
	return pf->flame.callers ? bottom_up_heaviest(pf->callers, node) : node;
}

/* ---- requests ---- */

/* The cursor has gone to another level: select the child there, the parent, or the nearest box. */
static void follow_cursor(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	const struct flame_box *from = box_at(p, pf->selected);
	uint32_t level = level_of_row(p, p->cursor), best = pf->flame.levels[level];
	int middle = from->x + from->width / 2;

	if (level == flame_level(&pf->flame, pf->selected))
		return;
	for (uint32_t i = best; i < pf->flame.levels[level + 1]; i++) {
		if (box_at(p, i)->parent == pf->selected) {
			best = i;
			break;
		}
		if (box_at(p, i)->x <= middle)
			best = i;
	}
	if (level + 1 == flame_level(&pf->flame, pf->selected))
		best = from->parent;
	select_box(p, best);
}

static void step(struct panel *p, int by)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t level = flame_level(&pf->flame, pf->selected), to = pf->selected + (uint32_t)by;

	if (to >= pf->flame.levels[level] && to < pf->flame.levels[level + 1])
		select_box(p, to);
}

static void do_hot_child(struct panel *p)
{
	uint32_t child = first_child(p, as_flame(p)->selected);

	if (child != SNAP_NONE)
		select_box(p, child);
	else
		tui_message(p->tui, "nothing is below this");
}

static void do_hot_path(struct panel *p)
{
	uint32_t box = as_flame(p)->selected, child;

	while ((child = first_child(p, box)) != SNAP_NONE)
		box = child;
	select_box(p, box);
}

static void do_parent(struct panel *p)
{
	select_box(p, box_at(p, as_flame(p)->selected)->parent);
}

static void do_right(struct panel *p)
{
	step(p, 1);
}

static void do_left(struct panel *p)
{
	step(p, -1);
}

/* How many of the siblings of a merged box come before it. */
static uint32_t n_before(struct panel *p, uint32_t box)
{
	const struct flame *f = &as_flame(p)->flame;
	const struct flame_box *b = box_at(p, box);
	uint32_t n = b->parent == 0 && as_flame(p)->view.rest ? as_flame(p)->view.skip : 0;

	for (uint32_t i = f->levels[flame_level(f, box)]; i < box; i++)
		n += f->boxes[i].parent == b->parent;
	return n;
}

/* Show another view, and remember this one to go back to it. */
static void zoom_to(struct panel *p, const struct flame_view *view)
{
	struct panel_flame *pf = as_flame(p);

	if (pf->n_zoom == MAX_ZOOM)
		pf->n_zoom--; /* the view before is skipped on the way back */
	pf->zoom[pf->n_zoom].depth = depth_of(p, pf->view.root);
	pf->zoom[pf->n_zoom].rest = pf->view.rest;
	pf->zoom[pf->n_zoom++].skip = pf->view.skip;
	pf->view = *view;
	panel_spoil(p);
}

static void do_zoom(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	const struct flame_box *b = box_at(p, pf->selected);
	uint32_t skip = b->n_merged ? n_before(p, pf->selected) : 0;

	if (pf->selected == 0) {
		tui_message(p->tui, "%s is as wide as it gets; BkSp zooms out",
			    flame_box_name(p, 0));
		return;
	}
	pf->selected_key = flame_key(&pf->flame, b->node, b->n_merged > 0) + (b->n_merged > 0);
	zoom_to(p, &(struct flame_view){.root = b->node, .rest = b->n_merged > 0, .skip = skip});
}

static void do_zoom_out(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t depth = depth_of(p, pf->view.root);

	if (pf->n_zoom == 0) {
		tui_message(p->tui, "this is everything: Enter zooms in");
		return;
	}
	pf->n_zoom--;
	for (; depth > pf->zoom[pf->n_zoom].depth; depth--)
		pf->view.root = flame_parent(&pf->flame, pf->view.root);
	pf->view.rest = pf->zoom[pf->n_zoom].rest;
	pf->view.skip = pf->zoom[pf->n_zoom].skip;
	panel_spoil(p);
}

static void do_form(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	bool by_callers = pf->form == FLAME_BY_CALLERS;
	unsigned n = p->tui->options.before ? FLAME_N_FORMS : FLAME_BY_KIND;

	pf->form = (pf->form + 1) % n;
	if (by_callers != (pf->form == FLAME_BY_CALLERS))
		show_all(p); /* the nodes are others */
	panel_spoil(p);
	tui_message(p->tui, "flame graph %s", flame_form_word(pf->form));
}

/* Its columns are what may make boxes wide, one at a time. */
static void do_columns(struct panel *p)
{
	tui_message(p->tui, "boxes have no columns; F6 chooses what makes them wide");
}

static void step_level(struct panel *p, int by)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t level = flame_level(&pf->flame, pf->selected);

	level += (uint32_t)(pf->form == FLAME_FROM_BELOW ? -by : by);
	if (level < pf->flame.n_levels) /* above the root it is more than that, too */
		panel_goto(p, row_of_level(p, level));
	follow_cursor(p);
}

static void do_down(struct panel *p)
{
	step_level(p, 1);
}

static void do_up(struct panel *p)
{
	step_level(p, -1);
}

/* What folds elsewhere goes into a box here, and out of the one that fills the screen. */
static void do_toggle(struct panel *p)
{
	if (as_flame(p)->selected == 0 && as_flame(p)->n_zoom)
		do_zoom_out(p);
	else
		do_zoom(p);
}

static void do_first(struct panel *p)
{
	select_box(p, 0);
}

static void do_last(struct panel *p)
{
	const struct flame *f = &as_flame(p)->flame;

	select_box(p, f->levels[f->n_levels - 1]);
}

static void (*const handlers[REQ_N])(struct panel *p) = {
	[REQ_LEFT] = do_left,          [REQ_RIGHT] = do_right,
	[REQ_NEXT_SIBLING] = do_right, [REQ_PREV_SIBLING] = do_left,
	[REQ_PARENT] = do_parent,      [REQ_HOT_CHILD] = do_hot_child,
	[REQ_HOT_PATH] = do_hot_path,  [REQ_OPEN] = do_zoom,
	[REQ_ZOOM] = do_zoom,          [REQ_ZOOM_OUT] = do_zoom_out,
	[REQ_COLUMNS] = do_columns,    [REQ_FORM] = do_form,
	[REQ_FIRST] = do_first,        [REQ_LAST] = do_last,
	[REQ_DOWN] = do_down,          [REQ_UP] = do_up,
	[REQ_TOGGLE] = do_toggle,
};

static bool request(struct panel *p, enum request request)
{
	return panel_request_zoomed(p, request, handlers, as_flame(p)->n_zoom);
}

static void pick(struct panel *p, int part)
{
	if ((size_t)part < as_flame(p)->flame.n)
		select_box(p, (uint32_t)part);
}

/* ---- search ---- */

static uint32_t search_parent(void *ctx, uint32_t node)
{
	return flame_parent(&as_flame(ctx)->flame, node);
}

static uint32_t search_child(void *ctx, uint32_t node, uint32_t child)
{
	return flame_next_child(&as_flame(ctx)->flame, node, child);
}

static bool search_precedes(void *ctx, uint32_t a, uint32_t b)
{
	double x = flame_value(&as_flame(ctx)->flame, a), y = flame_value(&as_flame(ctx)->flame, b);

	return x != y ? x > y : a < b;
}

static bool search_matches(void *ctx, uint32_t node)
{
	struct panel *p = ctx;
	struct bottom_up *callers = as_flame(p)->flame.callers;

	return tui_matches(p->tui)[callers ? bottom_up_example(callers, node) : node] & MATCH_SELF;
}

static bool search_below(void *ctx, uint32_t node)
{
	struct panel *p = ctx;
	if (as_flame(p)->flame.callers)
		return tui_matches_callers(p->tui, as_flame(p)->flame.callers, node);
	return tui_matches(p->tui)[node] & MATCH_BELOW;
}

static bool is_below(struct panel *p, uint32_t node, uint32_t root)
{
	while (node != root && node != SNAP_NONE)
		node = flame_parent(&as_flame(p)->flame, node);
	return node == root;
}

/* The widest view below this one in which a node has room for its name. */
static uint32_t root_for(struct panel *p, uint32_t node)
{
	struct panel_flame *pf = as_flame(p);
	double least = flame_value(&pf->flame, node) * p->width / NAME_COLUMNS;
	uint32_t root = node, up;

	while ((up = flame_parent(&pf->flame, root)) != SNAP_NONE && up != pf->view.root &&
	       flame_value(&pf->flame, up) <= least && is_shown(p, root))
		root = up;
	return root;
}

/* Select a node's box, if it has one. */
static bool select_node(struct panel *p, uint32_t node)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t box = 0;

	while (box < pf->flame.n && (box_at(p, box)->node != node || box_at(p, box)->n_merged))
		box++;
	if (box < pf->flame.n)
		select_box(p, box);
	return box < pf->flame.n;
}

/* Zoom out and in until a node has a box. */
static void show_node(struct panel *p, uint32_t node)
{
	struct panel_flame *pf = as_flame(p);

	while (pf->n_zoom && !select_node(p, node) &&
	       (pf->view.rest || !is_below(p, node, pf->view.root))) {
		do_zoom_out(p);
		panel_refresh(p);
	}
	if (select_node(p, node))
		return;
	pf->selected_key = flame_key(&pf->flame, node, false);
	pf->has_selected = true;
	zoom_to(p, &(struct flame_view){.root = root_for(p, node)});
}

/* Its box; by callers, where it has one of its own. */
static bool go_to(struct panel *p, uint32_t node)
{
	struct panel_flame *pf = as_flame(p);

	if (!pf->flame.callers)
		return select_node(p, node);
	for (uint32_t box = 0; box < pf->flame.n; box++)
		if (!box_at(p, box)->n_merged && box_at(p, box)->node != 0 &&
		    bottom_up_example(pf->callers, box_at(p, box)->node) == node) {
			select_box(p, box);
			return true;
		}
	return false;
}

static bool find(struct panel *p, bool forward, bool *ret_wrapped)
{
	const struct finder finder = {
		p, 0, search_parent, search_child, search_precedes, search_matches, search_below};
	uint32_t found;

	if (!tui_matches(p->tui))
		return false;
	found = finder_next(&finder, box_at(p, as_flame(p)->selected)->node, forward, ret_wrapped);
	if (found == FINDER_NONE)
		return false;
	show_node(p, found);
	return true;
}

static const struct panel_key keys[] = {
	{REQ_LEFT, NULL, "the box at the left"},
	{REQ_RIGHT, NULL, "the box at the right"},
	{REQ_DOWN, NULL, "a level down: the largest part of this box"},
	{REQ_UP, NULL, "a level up"},
	{REQ_OPEN, NULL, "zoom in"},
	{REQ_TOGGLE, "Zoom", "zoom in; on the root: out"},
	{REQ_ZOOM_OUT, NULL, "zoom out"},
	{REQ_HOT_PATH, NULL, NULL},
	{REQ_FORM, NULL, "callees below, above, or callers below; compared: kinds"},
	{REQ_SORT_MENU, "Width", "what makes a box wide"},
	{REQ_COLUMNS, "", ""},
	{REQ_MENU, NULL, "what can be done with this box"},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_flame_ops = {
	.title = "Flame",
	.size = sizeof(struct panel_flame),
	.columns = {NULL, 0, 45},
	.compares = true,
	.value = value,
	.numbers = panel_numbers,
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.row_node = row_node,
	.draw_head = flame_draw_head,
	.draw_row = flame_draw_row,
	.draw_foot = flame_draw_foot,
	.draw_below = flame_draw_below,
	.explain = panel_explain,
	.request = request,
	.pick = pick,
	.moved = follow_cursor,
	.forget = show_all,
	.find = find,
	.go_to = go_to,
	.keys = keys,
	.is_filtered = true,
	.is_grouped = true,
};
