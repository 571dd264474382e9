/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/tree.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/text.h"
#include "tui/tree_order.h"

void tree_init(struct tree *t, struct snapshot *snap)
{
	t->snap = snap;
	t->auto_fold = true;
}

void tree_done(struct tree *t)
{
	tree_lists_drop(t);
	free(t->lists);
	free(t->flags);
	free(t->sizes);
	free(t->window);
	free(t->frame_match);
	free(t->kids);
	free(t->stack);
	memset(t, 0, sizeof(*t));
}

void tree_forget(struct tree *t)
{
	t->n_flags = 0;
	t->n_rows = 0;
	t->n_window = 0;
	tree_lists_drop(t);
	t->root = 0;
	t->n_zoom = 0;
	t->auto_fold = true;
}

/* ---- matching ---- */

struct match {
	const char *needle;
	bool match_case;
	const struct session *session;
	const struct snap_node *nodes;
};

enum { MATCH_UNKNOWN = 0, MATCH_NO = 1, MATCH_YES = 2 };

/* Nodes with the same frame have the same name: it is looked at once. */
static bool node_matches(struct tree *t, const struct match *m, uint32_t id)
{
	uint32_t node = m->nodes[id].session_node;
	uint8_t *seen, scratch = MATCH_UNKNOWN;

	seen = node == SESSION_NONE ? &scratch : &t->frame_match[m->session->nodes[node].frame];
	if (*seen == MATCH_UNKNOWN)
		*seen = names_have(t->snap, id, m->needle, m->match_case) ? MATCH_YES : MATCH_NO;
	return *seen == MATCH_YES;
}

/* Set `mark` on nodes that match, and `above` on what is above them. */
static int mark_matches(struct tree *t, const char *needle, uint8_t mark, uint8_t above)
{
	const struct match m = {needle, text_is_smart_case(needle), snapshot_session(t->snap),
				snapshot_nodes(t->snap)};
	size_t n_frames = m.session->n_frames;

	if (array_reserve((void **)&t->frame_match, &t->cap_frame_match, MAX(n_frames, 1u), 1) < 0)
		return -ENOMEM;
	memset(t->frame_match, MATCH_UNKNOWN, n_frames);
	for (uint32_t id = (uint32_t)t->n_flags; id-- > 0;) { /* children before their parents */
		const struct snap_node *n = &m.nodes[id];

		if (!tick_at(snapshot_tick(t->snap), t->n_flags - id, t->n_flags))
			return -ECANCELED;
		if (!n->hidden && node_matches(t, &m, id))
			t->flags[id] |= mark;
		if (n->parent != SNAP_NONE && t->flags[id] & (mark | above))
			t->flags[n->parent] |= above;
	}
	return 0;
}

static void clear_marks(struct tree *t, unsigned marks)
{
	for (size_t id = 0; id < t->n_flags; id++)
		t->flags[id] &= (uint8_t)(0xff - marks);
}

/* Marks of a filter in the making: until it is whole, the one before holds. */
enum { BELOW = 64, ABOVE = 128 };

/* Keep matches, what is above them (marked already) and what is below. */
static void keep_marked(struct tree *t)
{
	const uint32_t *parents = snapshot_parents(t->snap);

	for (uint32_t id = 0; id < t->n_flags; id++) {
		uint32_t parent = parents[id];

		if (parent != SNAP_NONE && t->flags[parent] & BELOW)
			t->flags[id] |= BELOW;
	}
	for (size_t id = 0; id < t->n_flags; id++) {
		unsigned marks = t->flags[id], keep = 0;

		if (marks & BELOW)
			keep = TREE_KEEP;
		else if (marks & ABOVE)
			keep = t->open_kept ? TREE_KEEP | TREE_OPEN : TREE_KEEP;
		t->flags[id] = (uint8_t)((marks & (0xffu - (BELOW | ABOVE | TREE_KEEP))) | keep);
	}
	if (t->n_flags) /* a filter that keeps nothing still leaves the root to stand on */
		t->flags[0] |= TREE_KEEP;
	t->open_kept = false;
}

static int make_room(struct tree *t)
{
	size_t n = snapshot_n(t->snap);

	if (array_reserve((void **)&t->flags, &t->cap_flags, MAX(n, 1u), 1) < 0)
		return -ENOMEM;
	if (n > t->n_flags)
		memset(t->flags + t->n_flags, 0, n - t->n_flags);
	if (t->n_flags == 0 && n)
		t->flags[0] = TREE_OPEN;
	t->n_flags = n;
	return 0;
}

int tree_prepare(struct tree *t, const char *filter)
{
	int r = make_room(t);

	if (r < 0 || (!*filter && !t->filtered))
		return r;
	if (!*filter) {
		t->filtered = false;
		return 0;
	}
	r = mark_matches(t, filter, BELOW, ABOVE);
	if (r < 0) {
		clear_marks(t, BELOW | ABOVE);
		return r;
	}
	t->filtered = true;
	keep_marked(t);
	return 0;
}

/* ---- fold state ---- */

void tree_set_below(struct tree *t, uint32_t id, bool open)
{
	_cleanup_(freep) uint8_t *inside = calloc(1, t->n_flags + 1);

	for (uint32_t i = id; inside && i < t->n_flags; i++) {
		const struct snap_node *n = snapshot_node(t->snap, i);

		if (i != id && (n->parent == SNAP_NONE || !inside[n->parent]))
			continue;
		inside[i] = 1;
		t->flags[i] &= (uint8_t)~TREE_OPEN;
		if (open && n->first_child != SNAP_NONE)
			t->flags[i] |= TREE_OPEN;
	}
}

static bool is_below(const struct tree *t, uint32_t id, uint32_t root)
{
	while (id != root && id != SNAP_NONE)
		id = snapshot_node(t->snap, id)->parent;
	return id == root;
}

int tree_reveal(struct tree *t, uint32_t id)
{
	uint32_t root = t->root;

	while (!is_below(t, id, t->root))
		if (!tree_zoom_out(t))
			t->root = 0;
	if (root != t->root && tree_build(t) < 0)
		return -ENOMEM;
	for (uint32_t up = id; up != t->root;) {
		up = snapshot_node(t->snap, up)->parent;
		tree_set_open(t, up, true);
	}
	return 0;
}

/* ---- fold what fits ---- */

/* The hottest row that is closed, has children and was not tried yet; when there is none, the first without a value, as have scopes of
 * warps within a kernel. What is 0 costs nothing. */
static size_t hottest_closed(struct tree *t, const uint8_t *tried)
{
	size_t best = SIZE_MAX, absent = SIZE_MAX;
	double most = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		uint32_t id = tree_row(t, i).id;
		double v;

		if (tree_is_open(t, id) || tried[id] || !tree_is_branch(t, id))
			continue;
		v = t->weight(t->ctx, id);
		if (isnan(v) && absent == SIZE_MAX)
			absent = i;
		if (v > most) {
			most = v;
			best = i;
		}
	}
	return best != SIZE_MAX ? best : absent;
}

/* Rows that opening a node adds. */
static size_t n_shown_children(struct tree *t, uint32_t id)
{
	uint32_t child = snapshot_node(t->snap, id)->first_child;
	size_t n = 0;

	for (; child != SNAP_NONE; child = snapshot_node(t->snap, child)->next_sibling)
		n += tree_is_shown(t, child);
	return n;
}

void tree_fold_auto(struct tree *t, size_t rows)
{
	_cleanup_(freep) uint8_t *tried = calloc(1, t->n_flags + 1);
	size_t i;

	if (!tried)
		return;
	/* One that does not fit is still opened while half the screen would be empty. */
	while (t->n_rows < rows && (i = hottest_closed(t, tried)) != SIZE_MAX) {
		uint32_t id = tree_row(t, i).id;

		tried[id] = 1;
		if (t->n_rows + n_shown_children(t, id) <= rows || t->n_rows < rows / 2)
			tree_set_open(t, id, true);
	}
}

void tree_open_levels(struct tree *t, unsigned levels)
{
	t->auto_fold = false;
	for (uint32_t id = 0; id < t->n_flags; id++) {
		const struct snap_node *n = snapshot_node(t->snap, id);

		t->flags[id] &= (uint8_t)~TREE_OPEN;
		if (n->depth + 1u < levels && n->first_child != SNAP_NONE)
			t->flags[id] |= TREE_OPEN;
	}
	tree_count(t);
}

/* ---- neighbours ---- */

uint32_t tree_hottest_child(struct tree *t, uint32_t id)
{
	size_t n = tree_collect(t, id);
	struct order_entry best = {0, SNAP_NONE, 0};

	for (size_t i = 0; i < n; i++) {
		t->kids[i].value = t->weight(t->ctx, t->kids[i].id);
		if (best.id == SNAP_NONE || order_compare(&t->kids[i], &best, false) < 0)
			best = t->kids[i];
	}
	return best.id;
}

bool tree_precedes(const struct tree *t, uint32_t a, uint32_t b)
{
	struct order_entry x = tree_entry(t, a), y = tree_entry(t, b);

	return order_compare(&x, &y, t->ascending) < 0;
}

uint32_t tree_sibling(struct tree *t, uint32_t id, bool next)
{
	uint32_t parent = snapshot_node(t->snap, id)->parent;
	struct order_entry self = tree_entry(t, id), best = {0, SNAP_NONE, 0};
	size_t n;

	if (id == t->root || parent == SNAP_NONE)
		return SNAP_NONE;
	n = tree_collect(t, parent);
	for (size_t i = 0; i < n; i++) {
		int side = order_compare(&t->kids[i], &self, t->ascending);

		if (side == 0 || (side > 0) != next)
			continue;
		if (best.id == SNAP_NONE ||
		    (order_compare(&t->kids[i], &best, t->ascending) < 0) == next)
			best = t->kids[i];
	}
	return best.id;
}

/* ---- zoom ---- */

bool tree_zoom(struct tree *t, uint32_t id)
{
	if (id == t->root || t->n_zoom == ARRAY_SIZE(t->zoom))
		return false;
	t->zoom[t->n_zoom++] = t->root;
	t->root = id;
	tree_set_open(t, id, true);
	return true;
}

bool tree_zoom_out(struct tree *t)
{
	if (t->n_zoom == 0)
		return false;
	t->root = t->zoom[--t->n_zoom];
	return true;
}
