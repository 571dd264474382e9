/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "tui/finder.h"
#include "tui/flame.h"
#include "tui/names.h"
#include "tui/panel.h"
#include "tui/row_columns.h"
#include "tui/tui_impl.h"

#define MAX_ZOOM     64
#define NAME_COLUMNS 3 /* a narrower box has no room for a name */

enum form { FORM_TOP, FORM_BELOW, FORM_CALLERS, FORM_N };

static const char *const form_words[FORM_N] = {"from the top", "from below", "by callers"};

/* Boxes whose width is what they stand for, callees next to their callers. */
struct panel_flame {
	struct panel base;
	struct flame flame;
	struct bottom_up *callers;
	uint64_t generation; /* of the numbers that callers was made of */
	enum form form;
	struct flame_view view; /* its root lies below the tree's when zoomed */
	struct {
		uint32_t depth; /* of the root */
		bool rest;
		uint32_t skip;
	} zoom[MAX_ZOOM]; /* the views before it */
	unsigned n_zoom;
	uint32_t selected; /* box */
	uint64_t selected_key;
	uint64_t *path; /* scratch: keys from the top to the root of the view */
	size_t n_path, cap_path;
	struct row_columns columns; /* what may make a box wide */
	struct buf name;
};

static struct panel_flame *as_flame(struct panel *p)
{
	return (struct panel_flame *)p;
}

static const struct flame_box *box_at(struct panel *p, uint32_t box)
{
	return &as_flame(p)->flame.boxes[box];
}

/* ---- what makes a box wide ---- */

/* A metric of a node of the tree that is shown. */
static double value(struct panel *p, uint32_t node, const struct row_ask *ask)
{
	struct panel_flame *pf = as_flame(p);

	if (pf->flame.callers)
		return bottom_up_value(pf->callers, node, &ask->of);
	return derive_at(numbers_derive(pf->flame.numbers), ask->of.metric, ask->terms, node, 0);
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
	pf->flame.terms = (struct derived_terms){0};
}

static void print_value(struct panel *p, double v, char out[COLUMN_TEXT])
{
	column_print(&p->columns.v[p->sort].of->spec, panel_session(p), v, false, out);
}

static int init(struct panel *p)
{
	static const enum usual_column usual[] = {USUAL_TOTAL, USUAL_NOW,   USUAL_CALLS,
						  USUAL_BYTES, USUAL_FLOPS, USUAL_CPU};
	struct panel_flame *pf = as_flame(p);

	buf_init(&pf->name, 256);
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
	as_flame(p)->selected_key = 0;
	panel_spoil(p);
}

static bool is_shown(void *ctx, uint32_t node)
{
	return row_columns_reach(&as_flame(ctx)->columns, ctx, node);
}

/* ---- rows: levels ---- */

static uint32_t level_of_row(struct panel *p, size_t row)
{
	return (uint32_t)(as_flame(p)->form == FORM_BELOW ? p->n_rows - 1 - row : row);
}

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
	panel_goto(p, level_of_row(p, level)); /* it turns levels into rows, too */
}

/* The box that was selected, wherever it is now; else the root. */
static void reselect(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t box = 0;

	while (box < pf->flame.n && key_of(p, box) != pf->selected_key)
		box++;
	if (box == pf->flame.n)
		box = 0;
	select_box(p, box);
}

static void update(struct panel *p)
{
	struct panel_flame *pf = as_flame(p);
	struct numbers *n = tui_numbers(p->tui);

	p->n_rows = 0;
	row_columns_update(&pf->columns, p);
	choose_metric(p);
	pf->flame.snap = p->tui->snap;
	pf->flame.numbers = n;
	pf->flame.callers = NULL;
	if (pf->form == FORM_CALLERS && !make_callers(p, n))
		return;
	pf->flame.is_shown = pf->columns.is_limited ? is_shown : NULL;
	pf->flame.ctx = p;
	pf->view.width = p->width;
	if (snapshot_n(p->tui->snap) == 0 || flame_layout(&pf->flame, &pf->view) < 0)
		return;
	p->n_rows = pf->flame.n_levels;
	if (p->n_rows > 0)
		reselect(p);
}

static const char *node_name(struct panel *p, uint32_t node)
{
	struct panel_flame *pf = as_flame(p);

	if (!pf->flame.callers)
		return tui_node_name(p->tui, node);
	return node ? tui_node_name(p->tui, bottom_up_example(pf->callers, node)) : "ALL";
}

static const char *box_name(struct panel *p, uint32_t box)
{
	const struct flame_box *b = box_at(p, box);

	if (!b->n_merged)
		return node_name(p, b->node);
	buf_clear(&as_flame(p)->name);
	buf_printf(&as_flame(p)->name, "+%u more", b->n_merged);
	return buf_str(&as_flame(p)->name);
}

/* A row has many names: the selected box's in the cursor's row, else the first one's. */
static const char *row_name(struct panel *p, size_t row)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t level = level_of_row(p, row);

	return box_name(p, row == p->cursor ? pf->selected : pf->flame.levels[level]);
}

static uint32_t row_node(struct panel *p, size_t row)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t node = box_at(p, pf->selected)->node;

	(void)row;
	return pf->flame.callers ? bottom_up_heaviest(pf->callers, node) : node;
}

/* ---- drawing ---- */

static enum role box_role(struct panel *p, const struct flame_box *b)
{
	struct panel_flame *pf = as_flame(p);
	uint32_t id = pf->flame.callers ? bottom_up_example(pf->callers, b->node) : b->node;

	return b->n_merged ? ROLE_DIM : kind_role(snapshot_node(p->tui->snap, id)->kind);
}

/* Its left edge, as much of the name as there is room for, and a line to its end. */
static void draw_box(struct panel *p, struct pen *pen, uint32_t box)
{
	const struct flame_box *b = box_at(p, box);
	const struct glyphs *g = pen->canvas->look->glyphs;
	struct pen in = pen_at(pen->canvas, pen->y, b->x, b->width);
	enum role role = box_role(p, b);
	struct pen_name name = {
		.text = box_name(p, box), .needle = p->tui->search, .cut = TEXT_CUT_MIDDLE};

	in.selected = box == as_flame(p)->selected;
	if (b->n_merged && b->width < NAME_COLUMNS)
		pen_put(&in, role, "+");
	else
		pen_put(&in, ROLE_DIM,
			in.selected && pen->canvas->look->mono ? g->cursor : g->edge);
	if (b->width >= NAME_COLUMNS)
		pen_name(&in, role, &name);
	pen_repeat(&in, b->n_merged ? ROLE_NORMAL : ROLE_DIM, b->n_merged ? " " : g->rule,
		   pen_left(&in));
	pen_hit(&in, b->x, HIT_PART, (int)box);
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	const struct flame *f = &as_flame(p)->flame;
	uint32_t level = level_of_row(p, row);

	pen->selected = false;
	pen->x = 0;
	pen_fill(pen, ROLE_NORMAL);
	for (uint32_t i = f->levels[level]; i < f->levels[level + 1]; i++)
		draw_box(p, pen, i);
}

/* "6.17s  14.1%" of the selected box. */
static void draw_value(struct panel *p, struct pen *pen, enum role role)
{
	struct panel_flame *pf = as_flame(p);
	const struct flame_box *b = box_at(p, pf->selected);
	const struct column *c = &p->columns.v[p->sort];
	char value[COLUMN_TEXT], share[HUMAN_MAX];

	print_value(p, b->value, value);
	human_percent(share, b->value / box_at(p, 0)->value);
	pen_printf(pen, role, " %s %s  %s%%  ", c->title, value, share);
}

/* Where a text filters what is counted here: of how much, which the tree has for its root. */
static void draw_whole(struct panel *p, struct pen *pen)
{
	struct panel_flame *pf = as_flame(p);
	struct derived_terms terms = {0};
	char text[COLUMN_TEXT];
	double whole;

	if (!*p->tui->filter || pf->n_zoom)
		return;
	whole = derive_at(numbers_derive(tui_all(p->tui)), &pf->flame.metric, &terms, 0, 0);
	if (!(whole > box_at(p, 0)->value))
		return;
	print_value(p, whole, text);
	pen_printf(pen, ROLE_HEAD, " of %s", text);
}

static void draw_head(struct panel *p, struct pen *pen)
{
	struct panel_flame *pf = as_flame(p);
	char value[COLUMN_TEXT];

	if (p->height < 8) { /* there is no foot that tells what is selected */
		draw_value(p, pen, ROLE_HEAD);
		pen_put(pen, ROLE_HEAD, box_name(p, pf->selected));
		pen_fill(pen, ROLE_HEAD);
		return;
	}
	print_value(p, box_at(p, 0)->value, value);
	pen_printf(pen, ROLE_HEAD_SORT, " %s %s", p->columns.v[p->sort].title, value);
	draw_whole(p, pen);
	pen_printf(pen, ROLE_HEAD, "  %s", form_words[pf->form]);
	if (pf->view.rest)
		pen_printf(pen, ROLE_HEAD, "  zoom: +%u more below %s", box_at(p, 0)->n_merged,
			   node_name(p, pf->view.root));
	else if (pf->view.root)
		pen_printf(pen, ROLE_HEAD, "  zoom: %s", node_name(p, pf->view.root));
	if (pf->flame.not_to_scale)
		pen_put(pen, ROLE_HEAD, "  last box not to scale");
	pen_fill(pen, ROLE_HEAD);
}

static void draw_foot(struct panel *p, struct pen *pen)
{
	struct panel_flame *pf = as_flame(p);
	const struct flame_box *b = box_at(p, pf->selected);
	char own[COLUMN_TEXT];

	draw_value(p, pen, ROLE_NUMBER);
	if (b->n_merged) {
		pen_printf(pen, ROLE_NORMAL, "%u more below ", b->n_merged);
	} else if (!pf->flame.callers) {
		print_value(p, flame_own(&pf->flame, b->node), own);
		pen_printf(pen, ROLE_DIM, "itself %s  ", own);
	}
	pen_put(pen, ROLE_TITLE, node_name(p, b->node));
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

static void do_hot_child(struct panel *p)
{
	uint32_t child = first_child(p, as_flame(p)->selected);

	if (child != SNAP_NONE)
		select_box(p, child);
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
		tui_message(p->tui, "%s is as wide as it gets; BkSp zooms out", box_name(p, 0));
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
	bool by_callers = pf->form == FORM_CALLERS;

	pf->form = (pf->form + 1) % FORM_N;
	if (by_callers != (pf->form == FORM_CALLERS))
		show_all(p); /* the nodes are others */
	panel_spoil(p);
	tui_message(p->tui, "flame graph %s", form_words[pf->form]);
}

/* Its columns are what may make boxes wide, one at a time. */
static void do_columns(struct panel *p)
{
	tui_message(p->tui, "boxes have no columns; F6 chooses what makes them wide");
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
	[REQ_LEFT] = do_left,         [REQ_RIGHT] = do_right,     [REQ_NEXT_SIBLING] = do_right,
	[REQ_PREV_SIBLING] = do_left, [REQ_PARENT] = do_parent,   [REQ_HOT_CHILD] = do_hot_child,
	[REQ_HOT_PATH] = do_hot_path, [REQ_OPEN] = do_zoom,       [REQ_ZOOM] = do_zoom,
	[REQ_ZOOM_OUT] = do_zoom_out, [REQ_COLUMNS] = do_columns, [REQ_FORM] = do_form,
	[REQ_FIRST] = do_first,       [REQ_LAST] = do_last,
};

static bool request(struct panel *p, enum request request)
{
	if (p->n_rows == 0)
		return false;
	if (request == REQ_BACK) { /* Esc zooms out first; else it is not ours */
		if (as_flame(p)->n_zoom == 0)
			return false;
		request = REQ_ZOOM_OUT;
	}
	if (handlers[request])
		handlers[request](p);
	return handlers[request] != NULL;
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
	zoom_to(p, &(struct flame_view){.root = root_for(p, node)});
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

const struct panel_ops panel_flame_ops = {
	.title = "Flame",
	.size = sizeof(struct panel_flame),
	.columns = {NULL, 0, 45},
	.value = value,
	.numbers = panel_numbers,
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.row_node = row_node,
	.draw_head = draw_head,
	.draw_row = draw_row,
	.draw_foot = draw_foot,
	.explain = panel_explain,
	.request = request,
	.pick = pick,
	.moved = follow_cursor,
	.forget = show_all,
	.find = find,
};
