/* SPDX-License-Identifier: MIT */
/* An overlay: which columns the panel below it shows, and in what order. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "base/hash.h"
#include "tui/tui_impl.h"

struct panel_columns {
	struct panel base;
	struct panel *of;
	/* Its columns by row: those that are on, from left to right, then the others. */
	uint16_t *order;
	size_t cap_order;
	unsigned n_on;
};

static struct panel_columns *as_columns(struct panel *p)
{
	return (struct panel_columns *)p;
}

static const struct column *column_at(struct panel *p, size_t row)
{
	struct panel_columns *pc = as_columns(p);

	return &pc->of->columns.v[pc->order[row]];
}

static bool is_absent(struct panel *of, unsigned i)
{
	return column_is_absent(of, &of->columns.v[i]);
}

void panel_columns_show(struct panel *p, struct panel *of)
{
	as_columns(p)->of = of;
	p->cursor_key = 0;
	p->cursor = p->top = 0;
	panel_spoil(p);
}

/* ---- rows ---- */

static void add(struct panel_columns *pc, unsigned i)
{
	if (pc->of->columns.v[i].is_name)
		return;
	for (size_t k = 0; k < pc->base.n_rows; k++)
		if (pc->order[k] == i)
			return;
	pc->order[pc->base.n_rows++] = (uint16_t)i;
}

static void add_chosen(struct panel_columns *pc)
{
	const struct column_choice *choice = &pc->of->choice;

	for (unsigned k = 0; k < choice->n; k++) {
		int i = columns_find(&pc->of->columns, choice->titles[k]);

		if (i >= 0)
			add(pc, (unsigned)i);
	}
}

/* As long as nothing was chosen, what is shown is on. */
static void update(struct panel *p)
{
	struct panel_columns *pc = as_columns(p);

	p->n_rows = 0;
	if (!pc->of)
		return;
	panel_refresh(pc->of);
	if (ARRAY_ROOM(pc->order, pc->cap_order, pc->of->columns.n + 1u) < 0)
		return;
	if (pc->of->choice.n)
		add_chosen(pc);
	else
		for (unsigned k = 0; k < pc->of->shown.n; k++)
			add(pc, pc->of->shown.v[k]);
	pc->n_on = (unsigned)p->n_rows;
	for (unsigned i = 0; i < pc->of->columns.n; i++)
		add(pc, i);
}

static uint64_t row_key(struct panel *p, size_t row)
{
	const char *title = column_at(p, row)->title;

	return hash_bytes(title, strlen(title));
}

static const char *row_name(struct panel *p, size_t row)
{
	return column_at(p, row)->title;
}

static void draw_head(struct panel *p, struct pen *pen)
{
	pen_put(pen, ROLE_HEAD, " Space on/off  Left/Right move  = reset");
	pen_fill(pen, ROLE_HEAD);
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_columns *pc = as_columns(p);
	const struct column *c = column_at(p, row);
	bool on = row < pc->n_on;

	pen_put(pen, ROLE_NORMAL, on ? "[x] " : "[ ] ");
	pen_field(pen, on ? ROLE_TITLE : ROLE_NORMAL, 12, c->title);
	if (is_absent(pc->of, pc->order[row]))
		pen_put(pen, ROLE_DIM, " no value yet: ");
	else if (on && !fit_has(&pc->of->shown, pc->order[row]))
		pen_put(pen, ROLE_WARNING, " no room: ");
	else
		pen_put(pen, ROLE_DIM, " ");
	pen_put(pen, on ? ROLE_NORMAL : ROLE_DIM, c->help);
}

/* ---- changes ---- */

/* The first n rows are what is chosen now. */
static void choose(struct panel *p, unsigned n)
{
	struct panel_columns *pc = as_columns(p);
	struct column_choice choice = {.n = MIN(n, (unsigned)CHOICE_MAX)};

	for (unsigned i = 0; i < choice.n; i++)
		snprintf(choice.titles[i], sizeof(choice.titles[i]), "%s", column_at(p, i)->title);
	pc->of->choice = choice;
	panel_spoil(pc->of);
	panel_spoil(p);
	panel_refresh(p);
}

static void move_row(struct panel_columns *pc, size_t from, size_t to)
{
	uint16_t moved = pc->order[from];

	if (from < to)
		memmove(pc->order + from, pc->order + from + 1, (to - from) * sizeof(*pc->order));
	else
		memmove(pc->order + to + 1, pc->order + to, (from - to) * sizeof(*pc->order));
	pc->order[to] = moved;
}

/* A column that is turned on becomes the last one. The cursor stays on it, so that it can be
 * moved. */
static void toggle(struct panel *p)
{
	struct panel_columns *pc = as_columns(p);

	if (p->cursor >= pc->n_on) {
		move_row(pc, p->cursor, pc->n_on);
		choose(p, pc->n_on + 1);
	} else if (pc->n_on > 1) {
		move_row(pc, p->cursor, pc->n_on - 1);
		choose(p, pc->n_on - 1);
	} else {
		tui_message(p->tui, "one column stays");
	}
}

static void shift(struct panel *p, int by)
{
	struct panel_columns *pc = as_columns(p);
	size_t to = p->cursor + (size_t)by;

	if (p->cursor >= pc->n_on || to >= pc->n_on)
		return;
	move_row(pc, p->cursor, to);
	choose(p, pc->n_on);
}

static bool request(struct panel *p, enum request request)
{
	if (p->cursor >= p->n_rows)
		return false;
	switch (request) {
	case REQ_TOGGLE:
		toggle(p);
		return true;
	case REQ_LEFT:
		shift(p, -1);
		return true;
	case REQ_RIGHT:
		shift(p, 1);
		return true;
	case REQ_FOLD_AUTO:
		choose(p, 0);
		return true;
	default:
		return false;
	}
}

/* Keys that mean something else in lists. */
static bool key(struct panel *p, int key)
{
	panel_refresh(p);
	p->is_placed = true;
	return (key == ' ' || key == '\r') && request(p, REQ_TOGGLE);
}

static void done(struct panel *p)
{
	free(as_columns(p)->order);
}

static const struct panel_key keys[] = {
	{REQ_TOGGLE, "Show", "show it, or leave it out"},
	{REQ_LEFT, NULL, "move it to the left"},
	{REQ_RIGHT, NULL, "move it to the right"},
	{REQ_FOLD_AUTO, NULL, "the usual ones again"},
	{REQ_COLUMNS, "Close", ""},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_columns_ops = {
	.title = "Columns",
	.size = sizeof(struct panel_columns),
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.draw_head = draw_head,
	.draw_row = draw_row,
	.request = request,
	.key = key,
	.keys = keys,
};
