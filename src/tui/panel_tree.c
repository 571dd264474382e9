/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "core/filter.h"
#include "core/least.h"
#include "tui/panel_tree.h"

#define MAX_LEVELS 10 /* deeper ones show their depth as a number instead of lines */

/* ---- rows ---- */

static double sort_value(void *ctx, uint32_t id)
{
	struct panel *p = ctx;

	return column_value(&p->columns.v[p->sort], p, id);
}

/* A share is one of the view's root, which is no share of what lies above it. */
static double value(struct panel *p, uint32_t id, const struct row_ask *ask)
{
	struct panel_tree *pt = as_tree(p);
	const struct derived *m = ask->of.metric;
	struct derived of_root;

	if (m->op == DERIVED_OF_PARENT && id == pt->tree.root) {
		of_root = *m;
		of_root.op = DERIVED_SHARE;
		m = &of_root;
	}
	return derive_at(pt->derives[ask->of.before], m, ask->terms, id, pt->tree.root);
}

static struct numbers *numbers(struct panel *p)
{
	return tui_all(p->tui);
}

static int init(struct panel *p)
{
	static const enum usual_column usual[] = {USUAL_OF_TREE(USUAL_TOTAL, USUAL_SELF)};
	struct panel_tree *pt = as_tree(p);

	tree_init(&pt->tree, p->tui->snap);
	pt->tree.value = sort_value;
	pt->tree.ctx = p;
	pt->derives[0] = numbers_derive(p->tui->kept.all);
	if (p->tui->options.before)
		pt->derives[1] = numbers_derive(numbers_before(p->tui->kept.all));
	return row_columns_init(&pt->columns, p, usual, ARRAY_SIZE(usual));
}

static void done(struct panel *p)
{
	tree_done(&as_tree(p)->tree);
	row_columns_done(&as_tree(p)->columns);
	free(as_tree(p)->limit);
}

static bool has_no_time(struct panel *p)
{
	return !derive_has(as_tree(p)->derives[0], &usual_columns[USUAL_TOTAL].derived);
}

/* ---- the limit ---- */

/* The nodes of a snapshot that reach it; NULL: out of memory, or it cannot be told. */
static uint8_t *reach_limit(const struct least *least, struct snapshot *snap)
{
	uint8_t *mask = filter_all(snap);

	if (mask && least_apply(least, mask, snap) < 0) {
		free(mask);
		return NULL;
	}
	return mask;
}

/* Leave out what does not reach the view's limit, on either side of a comparison. */
static void make_limit(struct panel_tree *pt)
{
	const struct tui *t = pt->base.tui;
	_cleanup_(freep) uint8_t *other = NULL;

	free(pt->limit);
	pt->limit = least_any(&t->least) ? reach_limit(&t->least, t->snap) : NULL;
	if (pt->limit && t->options.before)
		other = reach_limit(&t->least, t->options.before);
	for (uint32_t i = 0; other && i < snapshot_n(t->snap); i++)
		pt->limit[i] |= other[i];
	pt->tree.limit = pt->limit;
	pt->tree.n_limit = snapshot_n(t->snap);
}

/* ---- the picture ---- */

/* Is all that decides which nodes are shown as it was? */
static bool is_made(const struct panel_tree *pt)
{
	const struct tui *t = pt->base.tui;

	return pt->generation == snapshot_generation(t->snap) &&
	       (pt->names == t->names || !*t->filter) && !strcmp(pt->filter, t->filter) && !memcmp(&pt->least, &t->least, sizeof(pt->least));
}

/* The rows are those of the filter before. In a prompt more letters come. */
static void filter_stopped(struct panel_tree *pt)
{
	struct tui *t = pt->base.tui;

	if (prompt_is_open(&t->prompt))
		return;
	snprintf(t->filter, sizeof(t->filter), "%s", pt->filter);
	tui_message(t, "stopped: the filter is as it was");
}

static int prepare(struct panel_tree *pt)
{
	struct tui *t = pt->base.tui;
	bool is_new = strcmp(pt->filter, t->filter) != 0;
	int r;

	pt->tree.open_kept |= is_new;
	if (is_new)
		work_begin(t, "filtering");
	r = tree_prepare(&pt->tree, t->filter);
	if (is_new)
		work_end(t);
	return r;
}

static int make(struct panel_tree *pt)
{
	const struct tui *t = pt->base.tui;
	struct tree *tree = &pt->tree;
	int r;

	pt->searched = false;
	pt->generation = 0;
	r = prepare(pt);
	if (r < 0 && r != -ECANCELED)
		return r;
	row_columns_update(&pt->columns, &pt->base);
	make_limit(pt);
	if (tree_build(tree) < 0)
		return -ENOMEM;
	if (r < 0) {
		filter_stopped(pt);
		return 0;
	}
	snprintf(pt->filter, sizeof(pt->filter), "%s", t->filter);
	pt->generation = snapshot_generation(t->snap);
	pt->names = t->names;
	pt->least = t->least;
	return 0;
}

/* What the order of siblings depends on. */
static struct tree_order order_now(const struct panel_tree *pt)
{
	return (struct tree_order){pt->base.sort, pt->tree.root, pt->base.ascending,
				   pt->base.tui->percent_of_parent};
}

static bool is_ordered(const struct panel_tree *pt)
{
	struct tree_order now = order_now(pt);

	return now.sort == pt->order.sort && now.root == pt->order.root &&
	       now.ascending == pt->order.ascending && now.of_parent == pt->order.of_parent;
}

static void update(struct panel *p)
{
	struct panel_tree *pt = as_tree(p);
	struct tree *tree = &pt->tree;

	tree->names = p->tui->names;
	tree->ascending = p->ascending;
	tui_all(p->tui);
	if (!is_made(pt) && make(pt) < 0)
		return;
	row_columns_measure(&pt->columns, p, snapshot_n(p->tui->snap));
	if (!is_ordered(pt))
		tree_reorder(tree);
	pt->order = order_now(pt);
	if (tree->auto_fold && p->tui->options.depth) {
		tree_open_levels(tree, p->tui->options.depth);
		tree->auto_fold = p->tui->options.live; /* more nodes will come */
	} else if (tree->auto_fold || tree->unfold_once) {
		tree_fold_auto(tree, (size_t)MAX(p->height, 3));
	}
	tree->unfold_once = false;
	p->n_rows = tree->n_rows;
	if (tree->n_flags <= 1 && has_no_time(p))
		p->n_rows = 0; /* nothing but an empty root: say why instead */
	fit_make(&pt->layout, p, &p->columns, p->width, (int)p->sort);
}

static size_t find_row(struct panel *p, uint64_t key)
{
	return tree_find_row(&as_tree(p)->tree, (uint32_t)key);
}

static uint64_t row_key(struct panel *p, size_t row)
{
	return tree_row(&as_tree(p)->tree, row).id;
}

static uint32_t row_node(struct panel *p, size_t row)
{
	return tree_row(&as_tree(p)->tree, row).id;
}

static const char *name_of(struct panel *p, uint32_t id)
{
	return tui_node_name(p->tui, id);
}

static const char *row_name(struct panel *p, size_t row)
{
	return name_of(p, row_node(p, row));
}

/* The tree was changed by a key: take over its rows, keep the cursor on its node. */
static void rows_changed(struct panel *p, uint32_t cursor)
{
	struct tree *tree = &as_tree(p)->tree;
	size_t row;

	p->n_rows = tree->n_rows;
	while ((row = tree_find_row(tree, cursor)) == SIZE_MAX && cursor != SNAP_NONE)
		cursor = snapshot_node(p->tui->snap, cursor)->parent;
	panel_goto(p, row == SIZE_MAX ? 0 : row);
}

/* Nodes were opened or closed, with flags alone. */
static void recount(struct panel *p, uint32_t cursor)
{
	tree_count(&as_tree(p)->tree);
	rows_changed(p, cursor);
}

/* ---- drawing ---- */

static void draw_lines(struct panel *p, struct pen *pen, uint32_t id, uint32_t depth,
		       uint32_t levels)
{
	const struct tree *tree = &as_tree(p)->tree;
	bool last[MAX_LEVELS] = {false};

	for (uint32_t i = 0; i < MIN(depth, levels); i++) {
		last[i] = tree->flags[id] & TREE_LAST;
		id = snapshot_node(p->tui->snap, id)->parent;
	}
	pen_lines(pen, last, levels, depth);
}

/* As many levels as leave half of the name's columns to names. */
static uint32_t max_levels(const struct panel_tree *pt)
{
	return (uint32_t)CLAMP(pt->layout.name_width / 4, 3, MAX_LEVELS);
}

static enum role name_role(struct panel *p, uint32_t id)
{
	return kind_role(snapshot_node(p->tui->snap, id)->kind);
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_tree *pt = as_tree(p);
	const struct glyphs *g = pen->canvas->look->glyphs;
	struct tree_row r = tree_row(&pt->tree, row);
	struct pen_name name = {.text = name_of(p, r.id),
				.scroll = p->scroll,
				.needle = p->tui->search,
				.cut = TEXT_CUT_MIDDLE};
	int x;

	fit_cells(&pt->layout, pen, p, &p->columns, r.id);
	draw_lines(p, pen, r.id, r.depth, max_levels(pt));
	x = pen->x;
	if (tree_is_branch(&pt->tree, r.id)) {
		pen_put(pen, ROLE_DIM, tree_is_open(&pt->tree, r.id) ? g->open : g->closed);
		pen_hit(pen, x, HIT_FOLD, (int)row);
	} else {
		pen_put(pen, ROLE_DIM, g->leaf);
	}
	pen_name(pen, name_role(p, r.id), &name);
}

static void draw_head(struct panel *p, struct pen *pen)
{
	fit_head(&as_tree(p)->layout, pen, &p->columns, p->ops->name, (int)p->sort,
		    p->ascending);
}

static void draw_foot(struct panel *p, struct pen *pen)
{
	const struct look *look = pen->canvas->look;
	struct pen_name name = {.cut = TEXT_CUT_END};
	struct buf path;
	int columns;

	buf_init(&path, 1 << 16);
	tui_put_path(p->tui, panel_node(p), &path);
	columns = text_columns(path.data ? path.data : "", path.len, look->ascii);
	pen_put(pen, ROLE_DIM, look->glyphs->separator + 1);
	name.text = buf_str(&path);
	if (columns > pen_left(pen)) { /* the end of the path says more than its beginning */
		pen_put(pen, ROLE_DIM, look->glyphs->ellipsis);
		name.scroll = columns - pen_left(pen);
	}
	pen_name(pen, ROLE_NORMAL, &name);
	buf_done(&path);
}

static void explain(struct panel *p, struct buf *out)
{
	tui_explain_empty(p->tui, out);
}

void panel_tree_state(struct panel *p, struct buf *out)
{
	const struct tree *tree = &as_tree(p)->tree;

	if (tree->n_zoom && tree->root < snapshot_n(p->tui->snap))
		buf_printf(out, "  zoom: %s", name_of(p, tree->root));
	if (p->tui->percent_of_parent)
		buf_puts(out, "  %: of parent");
}

/* ---- requests ---- */

/* What the cursor stands on. */
struct at {
	struct tree *tree;
	size_t row;
	uint32_t id;
	bool branch, open;
};

static struct at cursor_at(struct panel *p)
{
	struct tree *tree = &as_tree(p)->tree;
	struct at at = {tree, p->cursor, tree_row(tree, p->cursor).id, false, false};

	at.branch = tree_is_branch(tree, at.id);
	at.open = tree_is_open(tree, at.id);
	return at;
}

static void set_open(struct panel *p, const struct at *at, bool open)
{
	at->tree->auto_fold = false;
	if (at->branch && at->open != open)
		tree_set_open(at->tree, at->id, open);
	rows_changed(p, at->id);
}

static void go_to(struct panel *p, uint32_t id)
{
	size_t row = id == SNAP_NONE ? SIZE_MAX : tree_find_row(&as_tree(p)->tree, id);

	if (row != SIZE_MAX)
		panel_goto(p, row);
}

static void do_toggle(struct panel *p, const struct at *at)
{
	set_open(p, at, !at->open);
}

static void do_unfold(struct panel *p, const struct at *at)
{
	set_open(p, at, true);
}

static void do_fold(struct panel *p, const struct at *at)
{
	set_open(p, at, false);
}

static void do_right(struct panel *p, const struct at *at)
{
	if (at->branch && at->open)
		panel_goto(p, at->row + 1);
	else
		set_open(p, at, true);
}

static void do_parent(struct panel *p, const struct at *at)
{
	go_to(p, snapshot_node(p->tui->snap, at->id)->parent);
}

static void do_left(struct panel *p, const struct at *at)
{
	if (at->branch && at->open && at->id != at->tree->root)
		set_open(p, at, false);
	else
		do_parent(p, at);
}

static void below(struct panel *p, uint32_t from, uint32_t cursor, bool open)
{
	struct tree *tree = &as_tree(p)->tree;

	tree->auto_fold = false;
	tree_set_below(tree, from, open);
	if (!open && from == tree->root) /* a lone root says nothing */
		tree->flags[from] |= TREE_OPEN;
	recount(p, cursor);
}

static void do_unfold_below(struct panel *p, const struct at *at)
{
	below(p, at->id, at->id, true);
}

static void do_fold_below(struct panel *p, const struct at *at)
{
	below(p, at->id, at->id, false);
}

static void do_unfold_all(struct panel *p, const struct at *at)
{
	below(p, at->tree->root, at->id, true);
}

static void do_fold_all(struct panel *p, const struct at *at)
{
	below(p, at->tree->root, at->id, false);
}

static void do_fold_auto(struct panel *p, const struct at *at)
{
	tree_set_below(at->tree, at->tree->root, false);
	at->tree->flags[at->tree->root] |= TREE_OPEN;
	at->tree->auto_fold = true;
	tree_count(at->tree);
	tree_fold_auto(at->tree, (size_t)MAX(p->height, 3));
	rows_changed(p, at->id);
}

static void do_hot_child(struct panel *p, const struct at *at)
{
	uint32_t child = tree_hottest_child(at->tree, at->id);

	if (child == SNAP_NONE)
		return;
	set_open(p, at, true);
	go_to(p, child);
}

static void do_hot_path(struct panel *p, const struct at *at)
{
	uint32_t id = at->id, child;

	at->tree->auto_fold = false;
	while ((child = tree_hottest_child(at->tree, id)) != SNAP_NONE) {
		at->tree->flags[id] |= TREE_OPEN;
		id = child;
	}
	recount(p, id);
}

static void do_next_sibling(struct panel *p, const struct at *at)
{
	go_to(p, tree_sibling(at->tree, at->id, true));
}

static void do_prev_sibling(struct panel *p, const struct at *at)
{
	go_to(p, tree_sibling(at->tree, at->id, false));
}

static void do_zoom(struct panel *p, const struct at *at)
{
	if (tree_zoom(at->tree, at->id))
		panel_spoil(p);
}

static void do_zoom_out(struct panel *p, const struct at *at)
{
	if (tree_zoom_out(at->tree))
		panel_spoil(p);
}

static void (*const handlers[REQ_N])(struct panel *p, const struct at *at) = {
	[REQ_TOGGLE] = do_toggle,
	[REQ_UNFOLD] = do_unfold,
	[REQ_FOLD] = do_fold,
	[REQ_RIGHT] = do_right,
	[REQ_LEFT] = do_left,
	[REQ_PARENT] = do_parent,
	[REQ_UNFOLD_BELOW] = do_unfold_below,
	[REQ_FOLD_BELOW] = do_fold_below,
	[REQ_UNFOLD_ALL] = do_unfold_all,
	[REQ_FOLD_ALL] = do_fold_all,
	[REQ_FOLD_AUTO] = do_fold_auto,
	[REQ_HOT_CHILD] = do_hot_child,
	[REQ_HOT_PATH] = do_hot_path,
	[REQ_NEXT_SIBLING] = do_next_sibling,
	[REQ_PREV_SIBLING] = do_prev_sibling,
	[REQ_ZOOM] = do_zoom,
	[REQ_ZOOM_OUT] = do_zoom_out,
};

static bool request(struct panel *p, enum request request)
{
	struct at at;

	panel_refresh(p);
	if (p->n_rows == 0)
		return false;
	if (request == REQ_BACK) { /* Esc zooms out first; else it is not ours */
		if (as_tree(p)->tree.n_zoom == 0)
			return false;
		request = REQ_ZOOM_OUT;
	}
	if (!handlers[request])
		return false;
	at = cursor_at(p);
	handlers[request](p, &at);
	return true;
}

/* Marks are made when they are needed, not for each picture and each letter. */
static void mark_search(struct panel *p)
{
	struct panel_tree *pt = as_tree(p);

	if (pt->searched && !strcmp(pt->search, p->tui->search))
		return;
	snprintf(pt->search, sizeof(pt->search), "%s", p->tui->search);
	work_begin(p->tui, "searching");
	pt->searched = tree_search(&pt->tree, pt->search) == 0;
	work_end(p->tui);
}

static bool find(struct panel *p, bool forward, bool *ret_wrapped)
{
	struct tree *tree = &as_tree(p)->tree;
	uint32_t id;

	mark_search(p);
	if (p->n_rows == 0 || !as_tree(p)->searched)
		return false;
	id = tree_next_match(tree, row_node(p, p->cursor), forward, ret_wrapped);
	if (id == SNAP_NONE)
		return false;
	panel_tree_reveal(p, id);
	return true;
}

void panel_tree_reveal(struct panel *p, uint32_t node)
{
	struct tree *tree = &as_tree(p)->tree;

	panel_refresh(p);
	if (node >= tree->n_flags)
		return;
	tree_reveal(tree, node);
	rows_changed(p, node);
}

size_t panel_tree_n_matches(struct panel *p)
{
	panel_refresh(p);
	mark_search(p);
	return as_tree(p)->tree.n_matches;
}

static void forget(struct panel *p)
{
	tree_forget(&as_tree(p)->tree);
}

void panel_tree_unfold(struct panel *p)
{
	as_tree(p)->tree.unfold_once = true;
	panel_spoil(p);
}

const struct panel_ops panel_tree_ops = {
	.title = "Tree",
	.name = "NAME",
	.columns = {NULL, 0, 45},
	.value = value,
	.numbers = numbers,
	.size = sizeof(struct panel_tree),
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.find_row = find_row,
	.row_name = row_name,
	.row_node = row_node,
	.draw_head = draw_head,
	.draw_row = draw_row,
	.draw_foot = draw_foot,
	.explain = explain,
	.request = request,
	.forget = forget,
	.find = find,
};
