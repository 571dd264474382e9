/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/callers.h"
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/order.h"
#include "tui/names.h"
#include "tui/panel.h"
#include "tui/row_columns.h"
#include "tui/tui_impl.h"

#define MAX_BACK 64

/* One function: who calls it above, what it calls below. At first it is the function of the row
 * that the cursor was on in the panel before; Enter goes on to a caller or a callee. */
struct panel_callers {
	struct panel base;
	struct callers *callers;
	struct function {
		uint32_t node;  /* one of its contexts; SNAP_NONE: to be found */
		uint32_t frame; /* of the session; SESSION_NONE: of a group, which may be gone */
	} at, back[MAX_BACK];   /* back: those before */
	unsigned n_back;
	uint32_t made_node; /* what callers were made of */
	uint64_t generation;
	bool is_new; /* another function: the cursor goes to it */
	struct row_columns columns;
	uint32_t *rows; /* of callers, in their order on the screen */
	size_t cap_rows;
	size_t function_row;
};

static struct panel_callers *as_callers(struct panel *p)
{
	return (struct panel_callers *)p;
}

static const struct callers_row *row_at(struct panel *p, size_t row)
{
	return callers_row(as_callers(p)->callers, as_callers(p)->rows[row]);
}

static double value(struct panel *p, uint32_t i, const struct row_ask *ask)
{
	return callers_value(as_callers(p)->callers, i, &ask->of);
}

/* ---- the function ---- */

static uint32_t frame_of(struct panel *p, uint32_t node)
{
	const struct session *s = panel_session(p);
	uint32_t session_node = snapshot_node(p->tui->snap, node)->session_node;

	return session_node == SESSION_NONE
		       ? SESSION_NONE
		       : snapshot_function(p->tui->snap, s->nodes[session_node].frame);
}

static void go_to(struct panel *p, const struct function *to)
{
	as_callers(p)->at = *to;
	as_callers(p)->is_new = true;
	panel_spoil(p);
}

static void go_to_node(struct panel *p, uint32_t node)
{
	go_to(p, &(struct function){node, frame_of(p, node)});
}

/* After a regrouping the function has other contexts, or none: then the root is shown. */
static void find_again(struct panel *p)
{
	struct function *at = &as_callers(p)->at;
	uint32_t n = snapshot_n(p->tui->snap);

	if (at->node < n && frame_of(p, at->node) == at->frame)
		return;
	for (at->node = 0; at->node < n; at->node++)
		if (frame_of(p, at->node) == at->frame)
			return;
	go_to_node(p, 0);
}

static void show(struct panel *p, uint32_t node)
{
	if (node == SNAP_NONE || node >= snapshot_n(p->tui->snap))
		return;
	as_callers(p)->n_back = 0;
	go_to_node(p, node);
}

/* What was a group is the root from now on. */
static void forget_function(struct function *f)
{
	f->node = SNAP_NONE;
	if (f->frame == SESSION_NONE)
		f->frame = 0;
}

static void forget(struct panel *p)
{
	struct panel_callers *pc = as_callers(p);

	forget_function(&pc->at);
	for (unsigned i = 0; i < pc->n_back; i++)
		forget_function(&pc->back[i]);
	pc->is_new = true;
}

/* ---- rows ---- */

static uint32_t example(struct panel *p, uint32_t i)
{
	return callers_row(as_callers(p)->callers, i)->example;
}

/* Small ones are left out. A leaf is nothing but itself: that needs no row. */
static bool is_shown(struct panel *p, uint32_t i)
{
	struct callers *c = as_callers(p)->callers;

	if (!row_columns_reach(&as_callers(p)->columns, p, i))
		return false;
	if (callers_row(c, i)->side != CALLERS_ITSELF)
		return true;
	for (uint32_t k = 1; k < callers_n(c); k++)
		if (callers_row(c, k)->side == CALLERS_CALLEE)
			return true;
	return false;
}

/* The rows of one half, in their order; callees and what it does itself are one half. */
static size_t collect(struct panel *p, bool callers, struct order_entry *v)
{
	const struct column *by = &p->columns.v[p->sort];
	struct callers *c = as_callers(p)->callers;
	size_t n = 0;

	for (uint32_t i = 1; i < callers_n(c); i++)
		if ((callers_row(c, i)->side == CALLERS_CALLER) == callers && is_shown(p, i))
			v[n++] = (struct order_entry){column_order(by, p, i), i, 0};
	order_sort(v, n, p->ascending);
	return n;
}

/* The first of both halves stand next to the function. */
static void make_rows(struct panel *p)
{
	struct panel_callers *pc = as_callers(p);
	uint32_t n = callers_n(pc->callers);
	_cleanup_(freep) struct order_entry *v = malloc((n + 1) * sizeof(*v));
	size_t found;

	if (!v || ARRAY_ROOM(pc->rows, pc->cap_rows, n + 1) < 0)
		return;
	for (size_t k = collect(p, true, v); k-- > 0;)
		pc->rows[p->n_rows++] = v[k].id;
	pc->function_row = p->n_rows;
	pc->rows[p->n_rows++] = 0;
	found = collect(p, false, v);
	for (size_t k = 0; k < found; k++)
		pc->rows[p->n_rows++] = v[k].id;
}

static uint64_t row_key(struct panel *p, size_t row)
{
	return hash_pair(row_at(p, row)->frame, row_at(p, row)->side);
}

static void go_to_function(struct panel *p)
{
	struct panel_callers *pc = as_callers(p);

	pc->is_new = false;
	p->cursor = pc->function_row;
	p->is_placed = true;
	p->cursor_key = row_key(p, p->cursor);
	/* In the middle, so that both halves show. */
	p->top = p->cursor > (size_t)p->height / 2 ? p->cursor - (size_t)p->height / 2 : 0;
}

/* Sorting or another width changes nothing about who calls whom. */
static int make_callers(struct panel_callers *pc, struct numbers *numbers)
{
	int r;

	if (pc->made_node == pc->at.node && pc->generation == numbers_generation(numbers))
		return 0;
	r = callers_update(pc->callers, pc->at.node);
	if (r == 0) {
		pc->made_node = pc->at.node;
		pc->generation = numbers_generation(numbers);
	}
	return r;
}

static void update(struct panel *p)
{
	struct panel_callers *pc = as_callers(p);
	struct numbers *now = tui_numbers(p->tui);

	p->n_rows = 0;
	if (!pc->callers && !(pc->callers = callers_new(p->tui->snap, now)))
		return;
	row_columns_update(&pc->columns, p);
	find_again(p);
	if (make_callers(pc, now) < 0 ||
	    (callers_n(pc->callers) == 1 && !numbers_is_holder(now, pc->at.node)))
		return;
	make_rows(p);
	row_columns_measure(&pc->columns, p, callers_n(pc->callers));
	if (pc->is_new)
		go_to_function(p);
	panel_fit(p, (int)p->sort);
}

static int init(struct panel *p)
{
	static const enum usual_column usual[] = {USUAL_OF_TREE(USUAL_TOTAL, USUAL_SELF)};

	return row_columns_init(&as_callers(p)->columns, p, usual, ARRAY_SIZE(usual));
}

static void done(struct panel *p)
{
	row_columns_done(&as_callers(p)->columns);
	callers_free(as_callers(p)->callers);
	free(as_callers(p)->rows);
}

static const char *row_name(struct panel *p, size_t row)
{
	if (row_at(p, row)->side == CALLERS_ITSELF)
		return "(itself)";
	return tui_node_name(p->tui, row_at(p, row)->example);
}

static uint32_t row_node(struct panel *p, size_t row)
{
	return callers_heaviest(as_callers(p)->callers, as_callers(p)->rows[row]);
}

/* ---- drawing ---- */

/* Callers of what is estimated have shares of that; above it they have what was measured. */
static bool is_estimated(struct panel *p, uint32_t i)
{
	struct callers *c = as_callers(p)->callers;

	return callers_value(c, i, &number_estimated) > 0 &&
	       (snapshot_is_estimated(p->tui->snap, callers_row(c, 0)->example) ||
		snapshot_is_estimated(p->tui->snap, callers_row(c, i)->example));
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	const struct callers_row *r = row_at(p, row);
	const struct glyphs *g = pen->canvas->look->glyphs;
	uint8_t kind = snapshot_node(p->tui->snap, r->example)->kind;

	fit_cells(&p->shown, pen, p, &p->columns, as_callers(p)->rows[row]);
	if (r->side != CALLERS_FUNCTION) {
		pen_skip(pen, ROLE_DIM, 1);
		pen_put(pen, ROLE_DIM, r->side == CALLERS_CALLER ? g->ascending : g->descending);
		pen_skip(pen, ROLE_DIM, 1);
	}
	if (is_estimated(p, as_callers(p)->rows[row]))
		pen_put(pen, ROLE_DIM, "~ ");
	panel_draw_name(p, pen, r->side == CALLERS_FUNCTION ? ROLE_TITLE : kind_role(kind),
			row_name(p, row), TEXT_CUT_MIDDLE);
}

/* What the halves are; that rows overlap, where they do. */
static void draw_foot(struct panel *p, struct pen *pen)
{
	const struct glyphs *g = pen->canvas->look->glyphs;

	pen_printf(pen, ROLE_DIM, " %s callers  %s callees  Enter goes there, BkSp back",
		   g->ascending, g->descending);
	if (callers_is_recursive(as_callers(p)->callers))
		pen_put(pen, ROLE_WARNING, "  recursive: rows overlap");
}

/* ---- requests ---- */

static bool is_elsewhere(struct panel *p)
{
	const struct callers_row *r = row_at(p, p->cursor);

	return r->side != CALLERS_FUNCTION && r->side != CALLERS_ITSELF &&
	       r->frame != as_callers(p)->at.frame;
}

static void go_on(struct panel *p)
{
	struct panel_callers *pc = as_callers(p);

	if (!is_elsewhere(p)) {
		tui_message(p->tui, "this row is the function itself");
		return;
	}
	if (pc->n_back == MAX_BACK) {
		memmove(pc->back, pc->back + 1, (MAX_BACK - 1) * sizeof(*pc->back));
		pc->n_back--;
	}
	pc->back[pc->n_back++] = pc->at;
	go_to_node(p, row_at(p, p->cursor)->example);
}

static void go_back(struct panel *p)
{
	struct panel_callers *pc = as_callers(p);

	if (pc->n_back == 0)
		tui_message(p->tui, "this is where you came in");
	else
		go_to(p, &pc->back[--pc->n_back]);
}

/* Enter has a menu for what cannot be gone to, and Esc is for others when there is no way back. */
static bool request(struct panel *p, enum request request)
{
	if (p->n_rows == 0 || (request == REQ_OPEN && !is_elsewhere(p)) ||
	    (request == REQ_BACK && as_callers(p)->n_back == 0))
		return false;
	switch (request) {
	case REQ_OPEN:
	case REQ_ZOOM:
	case REQ_RIGHT:
		go_on(p);
		return true;
	case REQ_ZOOM_OUT:
	case REQ_LEFT:
	case REQ_BACK:
		go_back(p);
		return true;
	default:
		return false;
	}
}

static const struct panel_key keys[] = {
	{REQ_OPEN, NULL, "go to this caller or callee; on the function: what can be done"},
	{REQ_RIGHT, NULL, "go to this caller or callee"},
	{REQ_LEFT, NULL, "back to the function before"},
	{REQ_TOGGLE, NULL, "show this row in the tree"},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_callers_ops = {
	.title = "Callers",
	.tab = "Call",
	.name = "CALLERS, FUNCTION, CALLEES",
	.size = sizeof(struct panel_callers),
	.columns = {NULL, 0, 45},
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.value = value,
	.example = example,
	.numbers = panel_numbers,
	.row_node = row_node,
	.draw_head = panel_draw_head,
	.draw_row = draw_row,
	.draw_foot = draw_foot,
	.explain = panel_explain_empty,
	.request = request,
	.show = show,
	.forget = forget,
	.keys = keys,
	.is_filtered = true,
	.is_grouped = true,
};
