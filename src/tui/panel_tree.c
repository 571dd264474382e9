/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "core/filter.h"
#include "core/least.h"
#include "tui/finder.h"
#include "tui/names.h"
#include "tui/outline.h"
#include "tui/panel_tree.h"
#include "tui/row_past.h"

/* ---- rows ---- */

/* Rows without time on a device stand behind those that have it, with the most time on the host first. */
static double sort_value(void *ctx, uint32_t id)
{
	struct panel *p = ctx;
	double v = column_order(&p->columns.v[p->sort], p, id);
	const double *host = NULL;

	if (isnan(v) && row_columns_by_time(p))
		host = derive_used(as_tree(p)->derives[0], METRIC_CPU_TIME, true);
	return host ? -1 / host[id] : v;
}

static double weight(void *ctx, uint32_t id)
{
	return column_weight(ctx, id);
}

static uint32_t example(struct panel *p, uint32_t i)
{
	(void)p;
	return i;
}

/* Shares are of the view's root. The root's own is not one of what lies above it. */
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

static int init(struct panel *p)
{
	static const enum usual_column usual[] = {
		USUAL_TOTAL,   USUAL_SHARE,  USUAL_BAR,  USUAL_NOW, USUAL_TREND,     USUAL_SELF,
		USUAL_OF_WORK, USUAL_TENSOR, USUAL_DRAM, USUAL_CPU, USUAL_CPU_SHARE, USUAL_ON_CPU};
	struct panel_tree *pt = as_tree(p);

	tree_init(&pt->tree, p->tui->snap);
	pt->tree.value = sort_value;
	pt->tree.weight = weight;
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

/* The nodes of a snapshot that reach a limit; NULL: out of memory, or it does not apply. */
static uint8_t *reach_limit(const struct least *least, struct snapshot *snap)
{
	uint8_t *mask = filter_all(snap);

	if (mask && least_apply(least, mask, snap) < 0) {
		free(mask);
		return NULL;
	}
	return mask;
}

/* ROWS_OF_* */
static unsigned asked_rows(const struct row_columns *rc)
{
	unsigned asked = 0;

	for (unsigned i = 0; i < rc->n; i++)
		asked |= column_rows(&rc->v[i]->spec);
	return asked;
}

/* Are there rows for which no column asks? */
static bool hides_rows(const struct panel_tree *pt)
{
	return filter_has_unasked(pt->base.tui->snap, asked_rows(&pt->columns));
}

/* NULL: out of memory. */
static uint8_t *without_unasked(struct snapshot *snap, unsigned asked)
{
	uint8_t *mask = filter_all(snap);

	if (!mask || filter_out_unasked(mask, snap, asked) == 0)
		return mask;
	free(mask);
	return NULL;
}

/* Leave out what does not reach the view's limit, on either side of a comparison. */
static void make_limit(struct panel_tree *pt)
{
	const struct tui *t = pt->base.tui;
	_cleanup_(freep) uint8_t *other = NULL;

	free(pt->limit);
	pt->limit = least_any(&t->least) ? reach_limit(&t->least, t->snap)
		    : hides_rows(pt)     ? without_unasked(t->snap, asked_rows(&pt->columns))
					 : NULL;
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
	       pt->asked_rows == asked_rows(&pt->columns) &&
	       (pt->names == t->names || !*t->filter) && !strcmp(pt->filter, t->filter) &&
	       !memcmp(&pt->least, &t->least, sizeof(pt->least));
}

/* The rows stay those of the filter before. In a prompt more letters will come. */
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

	pt->generation = 0;
	r = prepare(pt);
	if (r < 0 && r != -ECANCELED)
		return r;
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
	pt->asked_rows = asked_rows(&pt->columns);
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
	row_columns_update(&pt->columns, p);
	if (!is_made(pt) && make(pt) < 0)
		return;
	row_columns_measure(&pt->columns, p, snapshot_n(p->tui->snap));
	row_past_note(&pt->columns, p, snapshot_n(p->tui->snap));
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
	panel_fit(p, (int)p->sort);
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

/* ---- drawing ---- */

static enum role name_role(struct panel *p, uint32_t id)
{
	return kind_role(snapshot_node(p->tui->snap, id)->kind);
}

static bool is_shown(const struct panel *p, const char *title)
{
	for (unsigned i = 0; i < p->shown.n; i++)
		if (!strcmp(p->columns.v[p->shown.v[i]].title, title))
			return true;
	return false;
}

/* Over how little of a row's time its rates are, where nobody knows of the rest. */
static void put_parts(struct panel *p, uint32_t id, struct buf *out)
{
	static const enum usual_column rates[] = {USUAL_GBPS, USUAL_TFPS};
	char text[HUMAN_MAX];
	bool any = false;

	for (unsigned i = 0; i < ARRAY_SIZE(rates) && !p->tui->options.before; i++) {
		const struct column_spec *c = &usual_columns[rates[i]];
		double part;

		if (!is_shown(p, c->title))
			continue;
		part = derive_rate_part(as_tree(p)->derives[0], &c->derived, id);
		if (isnan(part))
			continue;
		human_percent(text, part);
		buf_printf(out, "%s%s over %s %%", any ? ", " : "", c->title, text);
		any = true;
	}
	if (any)
		buf_puts(out, " of its time ");
}

/* At the right, where the path leaves room. */
static void draw_parts(struct panel *p, struct pen *pen)
{
	_cleanup_(buf_done) struct buf parts = {0};

	if (panel_node(p) == SNAP_NONE)
		return;
	put_parts(p, panel_node(p), &parts);
	if (!parts.len || pen_left(pen) < (int)parts.len + 2)
		return;
	pen_skip(pen, ROLE_NORMAL, pen_left(pen) - (int)parts.len);
	pen_put(pen, ROLE_DIM, buf_str(&parts));
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
	draw_parts(p, pen);
}

void panel_tree_state(struct panel *p, struct buf *out)
{
	const struct tree *tree = &as_tree(p)->tree;

	if (tree->n_zoom && tree->root < snapshot_n(p->tui->snap))
		buf_printf(out, "  zoom: %s", name_of(p, tree->root));
	if (p->tui->percent_of_parent)
		buf_puts(out, "  %: of parent");
}

/* ---- the outline ---- */

static uint32_t outline_node(struct panel *p, size_t row)
{
	return tree_row(&as_tree(p)->tree, row).id;
}

static size_t outline_find_row(struct panel *p, uint32_t id)
{
	return tree_find_row(&as_tree(p)->tree, id);
}

static uint32_t outline_parent(struct panel *p, uint32_t id)
{
	return snapshot_node(p->tui->snap, id)->parent;
}

static uint32_t outline_depth(struct panel *p, size_t row)
{
	return tree_row(&as_tree(p)->tree, row).depth;
}

static bool outline_is_branch(struct panel *p, uint32_t id)
{
	return tree_is_branch(&as_tree(p)->tree, id);
}

static bool outline_is_open(struct panel *p, uint32_t id)
{
	return tree_is_open(&as_tree(p)->tree, id);
}

static bool outline_is_last(struct panel *p, uint32_t id)
{
	return as_tree(p)->tree.flags[id] & TREE_LAST;
}

static void outline_set_open(struct panel *p, uint32_t id, bool open)
{
	tree_set_open(&as_tree(p)->tree, id, open);
	p->n_rows = as_tree(p)->tree.n_rows;
}

static void outline_set_below(struct panel *p, uint32_t id, bool open)
{
	struct tree *tree = &as_tree(p)->tree;

	tree_set_below(tree, id, open);
	if (id == tree->root) /* a lone root says nothing */
		tree->flags[id] |= TREE_OPEN;
}

static void outline_mark_open(struct panel *p, uint32_t id)
{
	as_tree(p)->tree.flags[id] |= TREE_OPEN;
}

static void outline_count(struct panel *p)
{
	tree_count(&as_tree(p)->tree);
	p->n_rows = as_tree(p)->tree.n_rows;
}

static void outline_fold_auto(struct panel *p)
{
	struct tree *tree = &as_tree(p)->tree;

	tree->auto_fold = true;
	tree_fold_auto(tree, (size_t)MAX(p->height, 3));
	p->n_rows = tree->n_rows;
}

static uint32_t outline_hottest_child(struct panel *p, uint32_t id)
{
	return tree_hottest_child(&as_tree(p)->tree, id);
}

static uint32_t outline_sibling(struct panel *p, uint32_t id, bool next)
{
	return tree_sibling(&as_tree(p)->tree, id, next);
}

static uint32_t outline_root(struct panel *p)
{
	return as_tree(p)->tree.root;
}

static void outline_keep(struct panel *p)
{
	as_tree(p)->tree.auto_fold = false;
}

static bool outline_is_guessed(struct panel *p, uint32_t id)
{
	return snapshot_is_guessed(p->tui->snap, id) || snapshot_is_estimated(p->tui->snap, id);
}

static const struct outline_ops outline = {
	.node = outline_node,
	.find_row = outline_find_row,
	.parent = outline_parent,
	.depth = outline_depth,
	.is_branch = outline_is_branch,
	.is_open = outline_is_open,
	.is_last = outline_is_last,
	.set_open = outline_set_open,
	.set_below = outline_set_below,
	.mark_open = outline_mark_open,
	.count = outline_count,
	.fold_auto = outline_fold_auto,
	.hottest_child = outline_hottest_child,
	.sibling = outline_sibling,
	.root = outline_root,
	.is_guessed = outline_is_guessed,
	.keep = outline_keep,
};

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	uint32_t id = outline_node(p, row);

	fit_cells(&p->shown, pen, p, &p->columns, id);
	outline_draw_row(&outline, p, pen, row, &p->shown, name_role(p, id));
}

/* ---- requests ---- */

static bool zoom(struct panel *p, bool out)
{
	struct tree *tree = &as_tree(p)->tree;

	if (out ? tree_zoom_out(tree) : tree_zoom(tree, outline_node(p, p->cursor)))
		panel_spoil(p);
	return true;
}

static bool request(struct panel *p, enum request request)
{
	if (p->n_rows == 0)
		return false;
	if (request == REQ_BACK && as_tree(p)->tree.n_zoom == 0)
		return false; /* Esc zooms out first; else it is not ours */
	if (request == REQ_ZOOM || request == REQ_ZOOM_OUT || request == REQ_BACK)
		return zoom(p, request != REQ_ZOOM);
	return outline_request(&outline, p, request);
}

/* ---- search ---- */

static uint32_t search_parent(void *ctx, uint32_t id)
{
	return outline_parent(ctx, id);
}

/* Only children that match or hold a match: comparing two costs more than looking at marks. */
static uint32_t search_child(void *ctx, uint32_t id, uint32_t child)
{
	struct panel *p = ctx;
	const struct tree *tree = &as_tree(p)->tree;
	const uint8_t *marks = tui_matches(p->tui);

	child = child == FINDER_NONE ? snapshot_node(tree->snap, id)->first_child
				     : snapshot_node(tree->snap, child)->next_sibling;
	while (child != SNAP_NONE &&
	       (!(marks[child] & (MATCH_SELF | MATCH_BELOW)) || !tree_is_shown(tree, child)))
		child = snapshot_node(tree->snap, child)->next_sibling;
	return child;
}

static bool search_precedes(void *ctx, uint32_t a, uint32_t b)
{
	return tree_precedes(&as_tree(ctx)->tree, a, b);
}

static bool search_matches(void *ctx, uint32_t id)
{
	return tui_matches(((struct panel *)ctx)->tui)[id] & MATCH_SELF;
}

static bool search_below(void *ctx, uint32_t id)
{
	return tui_matches(((struct panel *)ctx)->tui)[id] & MATCH_BELOW;
}

static bool find(struct panel *p, bool forward, bool *ret_wrapped)
{
	const struct finder finder = {p,
				      as_tree(p)->tree.root,
				      search_parent,
				      search_child,
				      search_precedes,
				      search_matches,
				      search_below};
	uint32_t cursor, id;

	_Static_assert(FINDER_NONE == SNAP_NONE && OUTLINE_NONE == SNAP_NONE, "no node is no node");
	if (!tui_matches(p->tui))
		return false;
	cursor = row_node(p, p->cursor);
	id = finder_next(&finder, cursor, forward, ret_wrapped);
	/* The root of the view is a row as well: the first one. */
	if ((id == FINDER_NONE || (*ret_wrapped && cursor != finder.root)) &&
	    search_matches(p, finder.root)) {
		id = finder.root;
		*ret_wrapped = forward || cursor == finder.root;
	}
	if (id == FINDER_NONE)
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
	p->n_rows = tree->n_rows;
	outline_goto(&outline, p, node);
}

/* What is folded away has no row: t opens it. */
static bool go_to(struct panel *p, uint32_t node)
{
	size_t row = find_row(p, node);

	if (row >= p->n_rows)
		return false;
	panel_goto(p, row);
	return true;
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

static const struct panel_key keys[] = {
	{REQ_RIGHT, NULL, NULL},
	{REQ_LEFT, NULL, NULL},
	{REQ_TOGGLE, "Fold", "fold or unfold"},
	{REQ_FOLD_AUTO, NULL, NULL},
	{REQ_HOT_PATH, NULL, NULL},
	{REQ_ZOOM, NULL, NULL},
	{REQ_ZOOM_OUT, NULL, NULL},
	{REQ_OPEN, NULL, "what can be done with this row"},
	{REQ_PERCENT, NULL, NULL},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_tree_ops = {
	.title = "Tree",
	.name = "NAME",
	.columns = {NULL, 0, 45},
	.value = value,
	.example = example,
	.numbers = panel_all,
	.has_past = true,
	.size = sizeof(struct panel_tree),
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.find_row = find_row,
	.row_name = row_name,
	.row_node = row_node,
	.draw_head = panel_draw_head,
	.draw_row = draw_row,
	.draw_foot = draw_foot,
	.explain = panel_explain_empty,
	.request = request,
	.go_to = go_to,
	.forget = forget,
	.find = find,
	.keys = keys,
	.is_filtered = true,
	.is_grouped = true,
};
