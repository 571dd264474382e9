/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/outline.h"
#include "base/util.h"
#include "tui/tui_impl.h"

#define MAX_LEVELS 10 /* deeper ones show their depth as a number instead of lines */

/* What the cursor stands on. */
struct at {
	const struct outline_ops *o;
	struct panel *p;
	uint32_t node;
	bool is_branch, is_open;
};

static void go_to(const struct at *at, uint32_t node)
{
	size_t row = node == OUTLINE_NONE ? SIZE_MAX : at->o->find_row(at->p, node);

	if (row != SIZE_MAX)
		panel_goto(at->p, row);
}

void outline_goto(const struct outline_ops *o, struct panel *p, uint32_t node)
{
	size_t row = SIZE_MAX;

	for (; node != OUTLINE_NONE && row == SIZE_MAX; node = o->parent(p, node))
		row = o->find_row(p, node);
	panel_goto(p, row == SIZE_MAX ? 0 : row);
}

static void set_open(const struct at *at, bool open)
{
	at->o->keep(at->p);
	if (!at->is_branch && at->o->no_branch)
		tui_message(at->p->tui, "%s", at->o->no_branch);
	else if (at->is_branch && at->is_open != open)
		at->o->set_open(at->p, at->node, open);
	outline_goto(at->o, at->p, at->node);
}

static void set_below(const struct at *at, uint32_t from, bool open)
{
	at->o->keep(at->p);
	at->o->set_below(at->p, from, open);
	at->o->count(at->p);
	outline_goto(at->o, at->p, at->node);
}

/* ---- requests ---- */

static void do_toggle(const struct at *at)
{
	set_open(at, !at->is_open);
}

static void do_unfold(const struct at *at)
{
	set_open(at, true);
}

static void do_fold(const struct at *at)
{
	set_open(at, false);
}

static void do_right(const struct at *at)
{
	if (at->is_branch && at->is_open)
		panel_goto(at->p, at->p->cursor + 1);
	else
		set_open(at, true);
}

static void do_parent(const struct at *at)
{
	go_to(at, at->o->parent(at->p, at->node));
}

static void do_left(const struct at *at)
{
	if (at->is_branch && at->is_open && at->node != at->o->root(at->p))
		set_open(at, false);
	else
		do_parent(at);
}

static void do_unfold_below(const struct at *at)
{
	set_below(at, at->node, true);
}

static void do_fold_below(const struct at *at)
{
	set_below(at, at->node, false);
}

static void do_unfold_all(const struct at *at)
{
	set_below(at, at->o->root(at->p), true);
}

static void do_fold_all(const struct at *at)
{
	set_below(at, at->o->root(at->p), false);
}

static void do_fold_auto(const struct at *at)
{
	at->o->set_below(at->p, at->o->root(at->p), false);
	at->o->count(at->p);
	at->o->fold_auto(at->p);
	outline_goto(at->o, at->p, at->node);
}

static void do_hot_child(const struct at *at)
{
	uint32_t child = at->is_branch ? at->o->hottest_child(at->p, at->node) : OUTLINE_NONE;

	if (child == OUTLINE_NONE) {
		tui_message(at->p->tui, "nothing is below this row");
		return;
	}
	set_open(at, true);
	go_to(at, child);
}

static void do_hot_path(const struct at *at)
{
	uint32_t node = at->node, child;

	at->o->keep(at->p);
	while (at->o->is_branch(at->p, node) &&
	       (child = at->o->hottest_child(at->p, node)) != OUTLINE_NONE) {
		at->o->mark_open(at->p, node);
		node = child;
	}
	at->o->count(at->p);
	outline_goto(at->o, at->p, node);
}

static void do_next_sibling(const struct at *at)
{
	go_to(at, at->o->sibling(at->p, at->node, true));
}

static void do_prev_sibling(const struct at *at)
{
	go_to(at, at->o->sibling(at->p, at->node, false));
}

static void (*const handlers[REQ_N])(const struct at *at) = {
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
};

bool outline_request(const struct outline_ops *o, struct panel *p, enum request request)
{
	struct at at = {.o = o, .p = p};

	if (p->n_rows == 0 || !handlers[request])
		return false;
	at.node = o->node(p, p->cursor);
	at.is_branch = o->is_branch(p, at.node);
	at.is_open = o->is_open(p, at.node);
	handlers[request](&at);
	return true;
}

/* ---- drawing ---- */

static void draw_lines(const struct outline_ops *o, struct panel *p, struct pen *pen, uint32_t node,
		       uint32_t depth, uint32_t levels)
{
	bool last[MAX_LEVELS] = {false};

	for (uint32_t i = 0; i < MIN(depth, levels); i++, node = o->parent(p, node))
		last[i] = o->is_last(p, node);
	pen_lines(pen, last, levels, depth);
}

void outline_draw_row(const struct outline_ops *o, struct panel *p, struct pen *pen, size_t row,
		      const struct column_fit *fit, enum role role)
{
	const struct glyphs *g = pen->canvas->look->glyphs;
	uint32_t node = o->node(p, row);
	int x;

	/* As many levels as leave half of the name's columns to names. */
	draw_lines(o, p, pen, node, o->depth(p, row),
		   (uint32_t)CLAMP(fit->name_width / 4, 3, MAX_LEVELS));
	x = pen->x;
	if (o->is_branch(p, node)) {
		pen_put(pen, ROLE_DIM, o->is_open(p, node) ? g->open : g->closed);
		pen_hit(pen, x, HIT_FOLD, (int)row);
	} else {
		pen_put(pen, ROLE_DIM, g->leaf);
	}
	if (o->is_guessed && o->is_guessed(p, node))
		pen_put(pen, ROLE_DIM, "~ ");
	panel_draw_name(p, pen, role, p->ops->row_name(p, row), TEXT_CUT_MIDDLE);
}
