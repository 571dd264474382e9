/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/bottom_up.h"
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/order.h"
#include "tui/finder.h"
#include "tui/names.h"
#include "tui/outline.h"
#include "tui/panel.h"
#include "tui/row_columns.h"
#include "tui/tui_impl.h"

#define MAX_UNFOLD 20000 /* nodes that one key opens */

enum { NODE_OPEN = 1, NODE_LAST = 2 /* of its siblings, as drawn */ };

/* What something is sorted by: which numbers, which column, which way. */
struct order {
	uint64_t generation; /* of the numbers; 0: it is not sorted */
	unsigned sort;
	bool ascending, is_limited;
};

/* Kernels, copies and whatever else holds numbers, each with its callers below it. */
struct panel_bottom_up {
	struct panel base;
	struct bottom_up *tree;
	struct numbers *numbers;
	uint64_t generation; /* of the numbers that the tree was made of */
	struct row_columns columns;
	uint8_t *flags; /* NODE_* by node of the tree */
	size_t n_flags, cap_flags;
	uint32_t *rows; /* nodes */
	size_t cap_rows;
	uint32_t *walked; /* scratch: what a walk has found; and nodes still to visit */
	size_t n_walked, cap_walked;
	uint32_t *stack;
	size_t n_stack, cap_stack;
	struct sorted {
		struct order_entry *v;
		size_t n, cap;
	} children, roots;     /* of any one node; of node 0, which may have a million */
	struct order roots_of; /* what these are sorted by */
	uint64_t *open;        /* scratch: keys of open nodes while the tree is made anew */
	size_t n_open, cap_open;
	bool auto_fold; /* no fold key was used yet */
	uint32_t keyed; /* node whose key was asked for last: the cursor's, mostly */
	struct order rows_of;
	int rows_height; /* the height that decided what is open; 0: it did not */
};

static struct panel_bottom_up *as_bottom_up(struct panel *p)
{
	return (struct panel_bottom_up *)p;
}

static const struct bottom_up_node *node_of(struct panel *p, uint32_t i)
{
	return bottom_up_node(as_bottom_up(p)->tree, i);
}

/* ---- numbers and names ---- */

static double value(struct panel *p, uint32_t i, const struct row_ask *ask)
{
	return bottom_up_value(as_bottom_up(p)->tree, i, &ask->of);
}

/* Rows without time on a device stand behind those that have it, with the most time on the host first. */
static double sort_value(struct panel *p, uint32_t i)
{
	static const struct number_ask host = {.metric = &usual_columns[USUAL_CPU].derived};
	double v = column_order(&p->columns.v[p->sort], p, i);

	if (isnan(v) && row_columns_by_time(p))
		return -1 / bottom_up_value(as_bottom_up(p)->tree, i, &host);
	return v;
}

static uint32_t example(struct panel *p, uint32_t i)
{
	return bottom_up_example(as_bottom_up(p)->tree, i);
}

static const char *name_of(struct panel *p, uint32_t i)
{
	return tui_node_name(p->tui, example(p, i));
}

/* ---- rows ---- */

static bool is_open(struct panel *p, uint32_t i)
{
	return as_bottom_up(p)->flags[i] & NODE_OPEN;
}

/* Flags for nodes that are new. */
static int make_flags(struct panel_bottom_up *pb)
{
	size_t n = bottom_up_n(pb->tree);

	if (ARRAY_ROOM(pb->flags, pb->cap_flags, n) < 0)
		return -1;
	if (n > pb->n_flags)
		memset(pb->flags + pb->n_flags, 0, n - pb->n_flags);
	pb->n_flags = n;
	return 0;
}

/* Make the children of a node and mark it open; -1: there is no memory for them. */
static int open_node(struct panel_bottom_up *pb, uint32_t i)
{
	if (bottom_up_open(pb->tree, i) < 0 || make_flags(pb) < 0)
		return -1;
	pb->flags[i] |= NODE_OPEN;
	return 0;
}

/* Is it large enough to have a row? */
static bool is_shown(struct panel *p, uint32_t i)
{
	return row_columns_reach(&as_bottom_up(p)->columns, p, i);
}

/* The next child that is large enough; BOTTOM_UP_NONE as in bottom_up_next_child(). */
static uint32_t next_shown(struct panel *p, uint32_t i, uint32_t child)
{
	do
		child = bottom_up_next_child(as_bottom_up(p)->tree, i, child);
	while (child != BOTTOM_UP_NONE && !is_shown(p, child));
	return child;
}

/* Are there callers that would have rows? */
static bool is_branch(struct panel *p, uint32_t i)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	bool any = node_of(p, i)->has_callers;

	if (!pb->columns.is_limited || !any)
		return any;
	any = next_shown(p, i, BOTTOM_UP_NONE) != BOTTOM_UP_NONE;
	return make_flags(pb) == 0 && any;
}

static struct order order_now(struct panel *p)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	return (struct order){pb->generation, p->sort, p->ascending, pb->columns.is_limited};
}

static bool same_order(const struct order *a, const struct order *b)
{
	return a->generation == b->generation && a->sort == b->sort &&
	       a->ascending == b->ascending && a->is_limited == b->is_limited;
}

static int sort_children(struct panel *p, uint32_t i, struct sorted *ret)
{
	uint32_t all = node_of(p, i)->n_children;

	ret->n = 0;
	if (ARRAY_ROOM(ret->v, ret->cap, (size_t)all + 1) < 0)
		return -1;
	for (uint32_t k = 0; k < all; k++) {
		uint32_t child = node_of(p, i)->first_child + k;

		tick_at(snapshot_tick(p->tui->snap), k, all);
		if (is_shown(p, child))
			ret->v[ret->n++] = (struct order_entry){sort_value(p, child), child, 0};
	}
	order_sort(ret->v, ret->n, p->ascending);
	return 0;
}

/* The children of a node that have rows, in their order; NULL: out of memory. */
static const struct sorted *children_of(struct panel *p, uint32_t i)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	struct order now = order_now(p);

	if (i != 0)
		return sort_children(p, i, &pb->children) < 0 ? NULL : &pb->children;
	if (!same_order(&now, &pb->roots_of)) {
		pb->roots_of.generation = 0;
		if (sort_children(p, 0, &pb->roots) < 0)
			return NULL;
		pb->roots_of = now;
	}
	return &pb->roots;
}

/* Put the children of an open node on the stack, the first one on top. */
static int push_children(struct panel *p, uint32_t i)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	const struct sorted *children = children_of(p, i);

	if (!children || ARRAY_ROOM(pb->stack, pb->cap_stack, pb->n_stack + children->n) < 0)
		return -1;
	for (size_t k = children->n; k-- > 0;) {
		uint32_t child = children->v[k].id;

		pb->flags[child] &= NODE_OPEN;
		if (k + 1 == children->n)
			pb->flags[child] |= NODE_LAST;
		pb->stack[pb->n_stack++] = child;
	}
	return 0;
}

/* Find all that is shown below a node: pb->walked. */
static void walk(struct panel *p, uint32_t from)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	pb->n_walked = pb->n_stack = 0;
	if (push_children(p, from) < 0)
		return;
	while (pb->n_stack > 0) {
		uint32_t i = pb->stack[--pb->n_stack];

		if (ARRAY_ROOM(pb->walked, pb->cap_walked, pb->n_walked + 1) < 0)
			return;
		pb->walked[pb->n_walked++] = i;
		if (is_open(p, i) && push_children(p, i) < 0)
			return;
	}
}

/* Rows [from, to) become what was walked. */
static void splice(struct panel *p, size_t from, size_t to)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	size_t tail = p->n_rows - to, n = pb->n_walked;

	if (ARRAY_ROOM(pb->rows, pb->cap_rows, from + n + tail + 1) < 0)
		return;
	memmove(pb->rows + from + n, pb->rows + to, tail * sizeof(*pb->rows));
	if (n)
		memcpy(pb->rows + from, pb->walked, n * sizeof(*pb->rows));
	p->n_rows = from + n + tail;
}

static void build(struct panel *p)
{
	walk(p, 0);
	splice(p, 0, p->n_rows);
}

/* The row behind the last one below this. */
static size_t subtree_end(struct panel *p, size_t row)
{
	const uint32_t *rows = as_bottom_up(p)->rows;
	size_t end = row + 1;

	while (end < p->n_rows && node_of(p, rows[end])->depth > node_of(p, rows[row])->depth)
		end++;
	return end;
}

static void set_open(struct panel *p, size_t row, bool open)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	uint32_t i = pb->rows[row];
	size_t end = subtree_end(p, row);

	pb->n_walked = 0;
	if (!open) {
		pb->flags[i] &= (uint8_t)~NODE_OPEN;
	} else {
		if (open_node(pb, i) < 0)
			return;
		walk(p, i);
	}
	splice(p, row + 1, end);
}

/* ---- what is open ---- */

static int key_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Nodes get other numbers with a new picture; their keys stay. */
static void remember_open(struct panel *p)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	pb->n_open = 0;
	for (uint32_t i = 0; i < pb->n_flags; i++)
		if (is_open(p, i) && ARRAY_ROOM(pb->open, pb->cap_open, pb->n_open + 1) == 0)
			pb->open[pb->n_open++] = node_of(p, i)->key;
	if (pb->n_open)
		qsort(pb->open, pb->n_open, sizeof(*pb->open), key_compare);
}

/* Children get numbers behind their parents, so that one pass reaches all of them. */
static void restore_open(struct panel *p)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	pb->n_flags = 0;
	make_flags(pb);
	for (uint32_t i = 1; pb->n_open && i < pb->n_flags; i++)
		if (bsearch(&node_of(p, i)->key, pb->open, pb->n_open, sizeof(*pb->open),
			    key_compare))
			open_node(pb, i);
}

/* The hottest row that is closed and has callers, or n_rows. */
static size_t hottest_closed(struct panel *p)
{
	size_t best = p->n_rows;
	double most = 0;

	for (size_t row = 0; row < p->n_rows; row++) {
		uint32_t i = as_bottom_up(p)->rows[row];
		double v = column_weight(p, i);

		if (!is_open(p, i) && v > most && is_branch(p, i)) {
			most = v;
			best = row;
		}
	}
	return best;
}

/* Open the hottest ones while there are lines left. */
static void fold_auto(struct panel *p)
{
	size_t height = (size_t)MAX(p->height, 3), row;

	while (p->n_rows < height && (row = hottest_closed(p)) < p->n_rows)
		set_open(p, row, true);
}

static void close_all(struct panel_bottom_up *pb)
{
	for (uint32_t i = 0; i < pb->n_flags; i++)
		pb->flags[i] &= (uint8_t)~NODE_OPEN;
}

/* Open all below a node, up to a bound: paths that part at each caller have no end in sight. */
static void unfold_below(struct panel *p, uint32_t from)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	uint32_t n = 0;

	pb->n_stack = 0;
	if (ARRAY_ROOM(pb->stack, pb->cap_stack, 1) < 0)
		return;
	pb->stack[pb->n_stack++] = from;
	while (pb->n_stack > 0) {
		uint32_t i = pb->stack[--pb->n_stack];
		uint32_t first, n_children;

		if (n++ == MAX_UNFOLD) {
			tui_message(p->tui, "%d were unfolded; press again below for more",
				    MAX_UNFOLD);
			return;
		}
		if (open_node(pb, i) < 0)
			return;
		first = node_of(p, i)->first_child;
		n_children = node_of(p, i)->n_children;
		if (ARRAY_ROOM(pb->stack, pb->cap_stack, pb->n_stack + n_children) < 0)
			return;
		for (uint32_t k = n_children; k-- > 0;)
			if (is_branch(p, first + k))
				pb->stack[pb->n_stack++] = first + k;
	}
}

/* ---- the panel ---- */

static int init(struct panel *p)
{
	static const enum usual_column usual[] = {USUAL_OF_TREE(USUAL_SELF, USUAL_TOTAL)};

	as_bottom_up(p)->auto_fold = true;
	return row_columns_init(&as_bottom_up(p)->columns, p, usual, ARRAY_SIZE(usual));
}

static void done(struct panel *p)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	row_columns_done(&pb->columns);
	bottom_up_free(pb->tree);
	free(pb->flags);
	free(pb->rows);
	free(pb->walked);
	free(pb->stack);
	free(pb->children.v);
	free(pb->roots.v);
	free(pb->open);
}

/* The tree follows the numbers; sorting or another width leaves it as it is. */
static bool make_tree(struct panel *p)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	if (!pb->tree)
		pb->tree = bottom_up_new(p->tui->snap, pb->numbers);
	if (!pb->tree)
		return false;
	if (pb->generation == numbers_generation(pb->numbers))
		return true;
	remember_open(p);
	if (bottom_up_update(pb->tree) < 0)
		return false;
	pb->generation = numbers_generation(pb->numbers);
	restore_open(p);
	return true;
}

/* Make the rows anew, unless they are still those of the same numbers in the same order: keys that
 * fold keep them up to date. */
static void make_rows(struct panel *p)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	struct order now = order_now(p);
	int height = pb->auto_fold ? p->height : 0;

	if (same_order(&now, &pb->rows_of) && height == pb->rows_height)
		return;
	pb->rows_of = now;
	pb->rows_height = height;
	if (pb->auto_fold)
		close_all(pb);
	build(p);
	if (pb->auto_fold)
		fold_auto(p);
}

static void update(struct panel *p)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	pb->numbers = tui_numbers(p->tui);
	if (!make_tree(p)) {
		p->n_rows = 0;
		return;
	}
	row_columns_update(&pb->columns, p);
	make_rows(p);
	row_columns_measure(&pb->columns, p, bottom_up_n(pb->tree));
	panel_fit(p, (int)p->sort);
}

/* Ids start anew: so do paths. */
static void forget(struct panel *p)
{
	as_bottom_up(p)->n_flags = 0;
	as_bottom_up(p)->auto_fold = true;
}

static uint64_t row_key(struct panel *p, size_t row)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	pb->keyed = pb->rows[row];
	return node_of(p, pb->keyed)->key;
}

/* The row of a node, or n_rows. */
static size_t find_row(struct panel *p, uint32_t i)
{
	size_t row = 0;

	while (row < p->n_rows && as_bottom_up(p)->rows[row] != i)
		row++;
	return row;
}

/* Mostly it is the key that was asked for last: then a million nodes need not be looked at. */
static size_t find_key(struct panel *p, uint64_t key)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	uint32_t n = bottom_up_n(pb->tree), i = pb->keyed;

	if (i >= n || node_of(p, i)->key != key)
		for (i = 0; i < n && node_of(p, i)->key != key;)
			i++;
	return find_row(p, i);
}

static const char *row_name(struct panel *p, size_t row)
{
	return name_of(p, as_bottom_up(p)->rows[row]);
}

static uint32_t row_node(struct panel *p, size_t row)
{
	return bottom_up_heaviest(as_bottom_up(p)->tree, as_bottom_up(p)->rows[row]);
}

/* The path as in this panel: from the kernel to its callers. */
static void draw_foot(struct panel *p, struct pen *pen)
{
	uint32_t path[256], i = as_bottom_up(p)->rows[p->cursor];
	const char *by = pen->canvas->look->ascii ? " < " : " ‹ ";
	size_t n = 0;

	for (; i != 0 && n < ARRAY_SIZE(path); i = node_of(p, i)->parent)
		path[n++] = i;
	pen_put(pen, ROLE_DIM, by + 1);
	while (n-- > 0) {
		pen_put(pen, ROLE_NORMAL, name_of(p, path[n]));
		if (n > 0)
			pen_put(pen, ROLE_DIM, by);
	}
}

static void explain(struct panel *p, struct buf *out)
{
	if (!*p->tui->filter && as_bottom_up(p)->columns.is_limited &&
	    node_of(p, 0)->n_children > 0)
		buf_puts(out, "nothing is large enough for the limit\nEsc clears it");
	else
		panel_explain(p, out);
}

/* ---- the outline ---- */

static uint32_t outline_node(struct panel *p, size_t row)
{
	return as_bottom_up(p)->rows[row];
}

static size_t outline_find_row(struct panel *p, uint32_t i)
{
	size_t row = find_row(p, i);

	return row < p->n_rows ? row : SIZE_MAX;
}

/* Node 0 has no row. */
static uint32_t outline_parent(struct panel *p, uint32_t i)
{
	return node_of(p, i)->depth > 1 ? node_of(p, i)->parent : OUTLINE_NONE;
}

/* Roots have no lines before them. */
static uint32_t outline_depth(struct panel *p, size_t row)
{
	return node_of(p, outline_node(p, row))->depth - 1;
}

static bool outline_is_last(struct panel *p, uint32_t i)
{
	return as_bottom_up(p)->flags[i] & NODE_LAST;
}

static void outline_set_open(struct panel *p, uint32_t i, bool open)
{
	set_open(p, find_row(p, i), open);
}

/* What is closed below a closed node is seen when it opens again. */
static void outline_set_below(struct panel *p, uint32_t i, bool open)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	size_t row = find_row(p, i);

	if (open)
		unfold_below(p, i);
	else if (i == 0)
		close_all(pb);
	else
		for (size_t end = subtree_end(p, row); row < end; row++)
			pb->flags[pb->rows[row]] &= (uint8_t)~NODE_OPEN;
}

static void outline_mark_open(struct panel *p, uint32_t i)
{
	open_node(as_bottom_up(p), i);
}

static void outline_fold_auto(struct panel *p)
{
	fold_auto(p);
	as_bottom_up(p)->auto_fold = true;
}

/* The child with the most. */
static uint32_t outline_hottest_child(struct panel *p, uint32_t i)
{
	uint32_t best = OUTLINE_NONE, child = BOTTOM_UP_NONE;

	while ((child = next_shown(p, i, child)) != BOTTOM_UP_NONE)
		if (best == OUTLINE_NONE || column_weight(p, child) > column_weight(p, best))
			best = child;
	return make_flags(as_bottom_up(p)) < 0 ? OUTLINE_NONE : best;
}

/* The next row of the same depth before one that is less deep. */
static uint32_t outline_sibling(struct panel *p, uint32_t i, bool next)
{
	const uint32_t *rows = as_bottom_up(p)->rows;
	size_t row = find_row(p, i);

	while ((row += next ? 1 : (size_t)-1) < p->n_rows) { /* 0 - 1 ends the loop */
		if (node_of(p, rows[row])->depth == node_of(p, i)->depth)
			return rows[row];
		if (node_of(p, rows[row])->depth < node_of(p, i)->depth)
			break;
	}
	return OUTLINE_NONE;
}

static uint32_t outline_root(struct panel *p)
{
	return 0;
}

static void outline_keep(struct panel *p)
{
	as_bottom_up(p)->auto_fold = false;
}

/* Of callers, too: their times are those of the kernel that they called. */
static bool outline_is_guessed(struct panel *p, uint32_t i)
{
	return bottom_up_value(as_bottom_up(p)->tree, i, &number_estimated) > 0;
}

static const struct outline_ops outline = {
	.node = outline_node,
	.find_row = outline_find_row,
	.parent = outline_parent,
	.depth = outline_depth,
	.is_branch = is_branch,
	.is_open = is_open,
	.is_last = outline_is_last,
	.set_open = outline_set_open,
	.set_below = outline_set_below,
	.mark_open = outline_mark_open,
	.count = build,
	.fold_auto = outline_fold_auto,
	.hottest_child = outline_hottest_child,
	.sibling = outline_sibling,
	.root = outline_root,
	.is_guessed = outline_is_guessed,
	.keep = outline_keep,
	.no_branch = "no further callers",
};

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_bottom_up *pb = as_bottom_up(p);
	uint32_t example = bottom_up_example(pb->tree, pb->rows[row]);

	fit_cells(&p->shown, pen, p, &p->columns, pb->rows[row]);
	outline_draw_row(&outline, p, pen, row, &p->shown,
			 kind_role(snapshot_node(p->tui->snap, example)->kind));
}

static bool request(struct panel *p, enum request request)
{
	return outline_request(&outline, p, request);
}

/* ---- search ---- */

static uint32_t search_parent(void *ctx, uint32_t i)
{
	return node_of(ctx, i)->parent;
}

static uint32_t search_child(void *ctx, uint32_t i, uint32_t child)
{
	return next_shown(ctx, i, child);
}

static bool search_precedes(void *ctx, uint32_t a, uint32_t b)
{
	const struct order_entry x = {sort_value(ctx, a), a, 0}, y = {sort_value(ctx, b), b, 0};

	return order_compare(&x, &y, ((struct panel *)ctx)->ascending) < 0;
}

static bool search_matches(void *ctx, uint32_t i)
{
	struct panel *p = ctx;

	return tui_matches(p->tui)[bottom_up_example(as_bottom_up(p)->tree, i)] & MATCH_SELF;
}

static bool search_below(void *ctx, uint32_t i)
{
	return tui_matches_callers(((struct panel *)ctx)->tui, as_bottom_up(ctx)->tree, i);
}

/* Open all that is above a node. */
static void reveal(struct panel *p, uint32_t i)
{
	struct panel_bottom_up *pb = as_bottom_up(p);

	if (make_flags(pb) < 0)
		return;
	for (uint32_t up = node_of(p, i)->parent; up != 0; up = node_of(p, up)->parent) {
		pb->auto_fold &= is_open(p, up);
		pb->flags[up] |= NODE_OPEN;
	}
	build(p);
	outline_goto(&outline, p, i);
}

static bool find(struct panel *p, bool forward, bool *ret_wrapped)
{
	const struct finder finder = {
		p, 0, search_parent, search_child, search_precedes, search_matches, search_below};
	uint32_t found;

	if (!tui_matches(p->tui))
		return false;
	found = finder_next(&finder, as_bottom_up(p)->rows[p->cursor], forward, ret_wrapped);
	if (found == FINDER_NONE)
		return false;
	reveal(p, found);
	return true;
}

static const struct panel_key keys[] = {
	{REQ_RIGHT, NULL, "unfold: who calls it, or go to the first of these"},
	{REQ_LEFT, NULL, "fold, or go to what this row calls"},
	{REQ_TOGGLE, "Fold", "fold or unfold"},
	{REQ_FOLD_AUTO, NULL, NULL},
	{REQ_HOT_PATH, NULL, "follow the hottest callers to the top"},
	{REQ_REVEAL, NULL, NULL},
	{REQ_OPEN, NULL, "what can be done with this row"},
	{REQ_PERCENT, NULL, NULL},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_bottom_up_ops = {
	.title = "Bottom-up",
	.tab = "Up",
	.name = "NAME, CALLERS BELOW",
	.size = sizeof(struct panel_bottom_up),
	.columns = {NULL, 0, 45},
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.find_row = find_key,
	.row_name = row_name,
	.value = value,
	.example = example,
	.numbers = panel_numbers,
	.own_numbers = true,
	.row_node = row_node,
	.draw_head = panel_draw_head,
	.draw_row = draw_row,
	.draw_foot = draw_foot,
	.explain = explain,
	.request = request,
	.forget = forget,
	.find = find,
	.keys = keys,
	.is_filtered = true,
	.is_grouped = true,
};
