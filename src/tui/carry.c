/* SPDX-License-Identifier: MIT */
/* What a screen takes over from the one that it replaces. Node ids differ between snapshots, so
 * what is taken over of the tree goes by path: the names from the root to a node, without
 * groups. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/strtab.h"
#include "core/session.h"
#include "tui/panel_tree.h"
#include "tui/picture.h"
#include "tui/tabs.h"

/* ---- paths ---- */

struct path {
	uint32_t parent, name;
};

/* The paths of both trees, each once; path 0 is the root's. */
struct paths {
	struct strtab *names;
	struct idindex index;
	struct path *v;
	size_t n, cap;
	uint32_t *old, *new; /* path by node */
	uint32_t *node;      /* by path: the first of the new nodes that has it, or SNAP_NONE */
};

static bool path_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct path *a = &((const struct paths *)ctx)->v[id], *b = key;

	return a->parent == b->parent && a->name == b->name;
}

/* The id of a path, made when new; SNAP_NONE: out of memory. */
static uint32_t path_intern(struct paths *x, uint32_t parent, const char *name)
{
	struct path path = {parent, strtab_adds(x->names, name)};
	uint64_t hash = hash_pair(path.parent, path.name);
	uint32_t id = idindex_find(&x->index, hash, path_equal, x, &path);

	if (id != IDINDEX_NONE)
		return id;
	if (ARRAY_ROOM(x->v, x->cap, x->n + 1) < 0 ||
	    idindex_add(&x->index, hash, (uint32_t)x->n) < 0)
		return SNAP_NONE;
	x->v[x->n] = path;
	return (uint32_t)x->n++;
}

/* In a comparison groups are nodes like others. */
static bool is_group(const struct snap_node *node)
{
	static const uint8_t kinds[] = {FRAME_PROCESS, FRAME_DEVICE, FRAME_STREAM, FRAME_THREAD};

	return node->session_node == SESSION_NONE || memchr(kinds, node->kind, sizeof(kinds));
}

/* The path of each node; NULL: out of memory. A group is as if it were not there. */
static uint32_t *paths_of(struct paths *x, struct snapshot *snap)
{
	uint32_t n = snapshot_n(snap), *ids = malloc(MAX(n, 1u) * sizeof(*ids));

	for (uint32_t id = 0; ids && id < n; id++) {
		const struct snap_node *node = snapshot_node(snap, id);

		if (node->parent == SNAP_NONE)
			ids[id] = path_intern(x, SNAP_NONE, "");
		else if (is_group(node))
			ids[id] = ids[node->parent];
		else
			ids[id] = path_intern(x, ids[node->parent],
					      snapshot_name(snap, id, NAME_RAW));
		if (ids[id] == SNAP_NONE) {
			free(ids);
			return NULL;
		}
	}
	return ids;
}

static void paths_done(struct paths *x)
{
	strtab_free(x->names);
	idindex_done(&x->index);
	free(x->v);
	free(x->old);
	free(x->new);
	free(x->node);
}

static int paths_init(struct paths *x, struct tui *t, struct tui *from)
{
	*x = (struct paths){.names = strtab_new()};
	x->old = x->names ? paths_of(x, from->snap) : NULL;
	x->new = x->old ? paths_of(x, t->snap) : NULL;
	x->node = x->new ? malloc(MAX(x->n, (size_t)1) * sizeof(*x->node)) : NULL;
	if (!x->node)
		return -ENOMEM;
	memset(x->node, 0xff, x->n * sizeof(*x->node));
	for (uint32_t id = snapshot_n(t->snap); id-- > 0;)
		x->node[x->new[id]] = id;
	return 0;
}

/* The new node on the path of an old one, or SNAP_NONE. */
static uint32_t carried(const struct paths *x, uint32_t old)
{
	return old == SNAP_NONE ? SNAP_NONE : x->node[x->old[old]];
}

/* ---- the tree ---- */

/* Open nodes stay open; what only one of the two trees has is closed. */
static void take_folds(struct tree *to, const struct tree *from, const struct paths *x)
{
	_cleanup_(freep) uint8_t *open = calloc(1, MAX(x->n, (size_t)1));

	to->auto_fold = from->auto_fold;
	if (from->auto_fold || !open)
		return;
	for (uint32_t id = 0; id < from->n_flags; id++)
		open[x->old[id]] |= tree_is_open(from, id);
	for (uint32_t id = 0; id < to->n_flags; id++) {
		to->flags[id] &= (uint8_t)~TREE_OPEN;
		if (open[x->new[id]] && snapshot_node(to->snap, id)->first_child != SNAP_NONE)
			to->flags[id] |= TREE_OPEN;
	}
}

/* A root that is gone ends the zoom. */
static void take_zoom(struct tree *to, const struct tree *from, const struct paths *x)
{
	uint32_t root = carried(x, from->root);

	if (root == SNAP_NONE)
		return;
	/* They lie above the root: they are there, too. */
	for (unsigned i = 0; i < from->n_zoom; i++)
		to->zoom[i] = carried(x, from->zoom[i]);
	to->n_zoom = from->n_zoom;
	to->root = root;
}

static void take_tree(struct tui *t, struct tui *from, const struct paths *x)
{
	struct panel *p = t->panels[TUI_PANEL_TREE], *old = from->panels[TUI_PANEL_TREE];

	panel_refresh(p);
	panel_refresh(old);
	memcpy(as_tree(p)->filter, as_tree(old)->filter, sizeof(as_tree(p)->filter));
	take_folds(&as_tree(p)->tree, &as_tree(old)->tree, x);
	take_zoom(&as_tree(p)->tree, &as_tree(old)->tree, x);
	as_tree(p)->generation = 0; /* the rows were made with other folds and without the filter */
	panel_spoil(p);
}

/* ---- columns and orders ---- */

static void take_order(struct panel *p, const struct tui_order *order)
{
	p->choice = order->choice;
	if (panel_sort_title(p, order->title))
		p->ascending = order->ascending;
}

static struct tui_order order_of(const struct panel *p)
{
	struct tui_order order = {.choice = p->choice, .known = true};
	unsigned sort = panel_wished_sort(p, &order.ascending);

	if (sort < p->columns.n)
		snprintf(order.title, sizeof(order.title), "%s", p->columns.v[sort].title);
	return order;
}

/* A comparison has other columns: with and without it, a panel keeps its own order. */
static void take_orders(struct tui *t, struct tui *from)
{
	memcpy(t->orders, from->orders, sizeof(t->orders));
	for (unsigned i = 0; i < TUI_N_PANELS; i++) {
		struct panel *p = t->panels[i], *old = from->panels[i];

		t->orders[panel_is_compared(old)][i] = order_of(old);
		if (t->orders[panel_is_compared(p)][i].known)
			take_order(p, &t->orders[panel_is_compared(p)][i]);
		p->scroll = old->scroll;
	}
}

/* ---- the cursor ---- */

/* The row of this name, preferably of the same calling context; SIZE_MAX: there is none. */
static size_t find_row(struct panel *p, const char *name, uint32_t node)
{
	size_t found = SIZE_MAX;

	for (size_t row = 0; row < p->n_rows; row++) {
		if (strcmp(p->ops->row_name(p, row), name) != 0)
			continue;
		if (node == SNAP_NONE || !p->ops->row_node || p->ops->row_node(p, row) == node)
			return row;
		found = MIN(found, row);
	}
	return found;
}

/* The cursor of the panel in front. Where its row is gone: that of the nearest node above it. */
static void take_cursor(struct tui *t, struct tui *from, const struct paths *x)
{
	struct panel *p = t->panels[t->current], *old = from->panels[t->current];
	uint32_t node = panel_node(old), there = carried(x, node);
	size_t offset = old->cursor - old->top, row;

	for (; there == SNAP_NONE && node != SNAP_NONE; there = carried(x, node))
		node = snapshot_node(from->snap, node)->parent;
	if (p->ops->show)
		p->ops->show(p, there);
	panel_refresh(p);
	if (t->current == TUI_PANEL_TREE && there != SNAP_NONE)
		panel_tree_reveal(p, there);
	else if (old->cursor + old->top == 0) /* what is first is looked at, whichever it is */
		return;
	else if (old->cursor < old->n_rows && p->ops->row_name && !p->no_cursor) {
		row = find_row(p, old->ops->row_name(old, old->cursor), there);
		if (row != SIZE_MAX)
			panel_goto(p, row);
	}
	p->top = p->cursor > offset ? p->cursor - offset : 0;
}

/* ---- all of it ---- */

static void take_words(struct tui *t, struct tui *from)
{
	memcpy(t->search, from->search, sizeof(t->search));
	memcpy(t->filter, from->filter, sizeof(t->filter));
	filters_done(&t->filters);
	t->filters = from->filters; /* it has none from now on */
	from->filters = (struct filters){0};
	prompt_take_histories(&t->prompt, &from->prompt);
	t->least = from->least;
	t->names = from->names;
	t->percent_of_parent = from->percent_of_parent;
	t->has_mouse = from->has_mouse;
	t->look.theme = from->look.theme;
	if (tui_has_panel(t, from->current))
		t->current = from->current;
}

void tui_take_view(struct tui *t, struct tui *from)
{
	struct paths paths;

	/* The rows of the old screen are made while it still has its filters. */
	for (unsigned i = 0; i < TUI_N_PANELS; i++)
		if (i == TUI_PANEL_TREE || i == from->current)
			panel_refresh(from->panels[i]);
	take_words(t, from);
	take_orders(t, from);
	tui_refilter(t);
	if (paths_init(&paths, t, from) == 0) {
		take_tree(t, from, &paths);
		take_cursor(t, from, &paths);
	} else {
		tui_message(t, "out of memory");
	}
	paths_done(&paths);
}
