/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/order.h"
#include "core/flat.h"
#include "tui/names.h"
#include "tui/panel.h"
#include "tui/row_past.h"
#include "tui/tui_impl.h"

/* Kernels, copies and sets by name, over all calling contexts. */
struct panel_flat {
	struct panel base;
	struct flat *flat;   /* the screen's; NULL: there is no memory for it */
	uint64_t generation; /* of the numbers that shares were made of */
	struct row_columns columns;
	double *cumulative; /* time of what is listed, up to and with row i of it, of all, percent */
	double all_time;    /* filtered out or not: as % has it */
	uint32_t *order;    /* its rows as rows of the panel */
	size_t cap_order, cap_cumulative;
};

static struct panel_flat *as_flat(struct panel *p)
{
	return (struct panel_flat *)p;
}

/* ---- values; i is a row of the flat table ---- */

static double value(struct panel *p, uint32_t i, const struct row_ask *ask)
{
	return flat_value(as_flat(p)->flat, i, &ask->of);
}

static double value_cumulative(struct panel *p, uint32_t i)
{
	return as_flat(p)->cumulative[i];
}

static bool no_time(struct panel *p, const struct column *c)
{
	return !derive_has(numbers_derive(tui_all(p->tui)), &usual_columns[USUAL_SELF].derived);
}

static int init(struct panel *p)
{
	static const enum usual_column usual[] = {USUAL_SELF,   USUAL_SHARE, USUAL_BAR,
						  USUAL_NOW,    USUAL_TREND, USUAL_OF_WORK,
						  USUAL_TENSOR, USUAL_DRAM};
	static const struct column cumulative = {
		.title = "CUM%",
		.help = "sum of % of this row and of all listed that are longer",
		.width = 5,
		.priority = 4,
		.format = human_percent,
		.value = value_cumulative,
		.is_absent = no_time,
		.is_running = true,
	};
	struct row_columns *rc = &as_flat(p)->columns;
	int r = row_columns_init(rc, p, usual, ARRAY_SIZE(usual));

	row_columns_rank(rc, p, USUAL_AVG, 3); /* of a kernel it says more than what it does now */
	row_columns_rank(rc, p, USUAL_NOW, 7);
	return r == 0 && !rc->is_chosen ? row_columns_insert(rc, p, 3, &cumulative) : r;
}

/* ---- rows ---- */

static double time_of(const struct panel_flat *pf, uint32_t i)
{
	double ns = flat_row(pf->flat, i)->time_ns;

	return isnan(ns) ? 0 : ns;
}

static bool make(struct panel_flat *pf, struct tui *t)
{
	uint32_t n;

	pf->flat = tui_flat(t);
	if (!pf->flat)
		return false;
	if (pf->generation == numbers_generation(tui_all(t)))
		return true;
	n = flat_n(pf->flat);
	if (ARRAY_ROOM(pf->order, pf->cap_order, n + 1u) < 0 ||
	    ARRAY_ROOM(pf->cumulative, pf->cap_cumulative, n + 1u) < 0)
		return false;
	pf->all_time = 0;
	for (uint32_t i = 0; i < n; i++)
		pf->all_time += time_of(pf, i);
	pf->generation = numbers_generation(tui_all(t));
	return true;
}

static uint32_t example(struct panel *p, uint32_t i)
{
	return flat_row(as_flat(p)->flat, i)->node;
}

static uint64_t past_key(struct panel *p, uint32_t i)
{
	return flat_row(as_flat(p)->flat, i)->frame;
}

static const char *name_of(struct panel *p, uint32_t i)
{
	return snapshot_name(p->tui->snap, example(p, i), p->tui->names);
}

static bool passes(struct panel *p, uint32_t i, bool match_case)
{
	const char *filter = p->tui->filter;

	return !*filter || tui_node_has(p->tui, example(p, i), filter, match_case);
}

/* A share is of the whole profile, which is no row here. */
static double limit_whole(struct panel *p, bool before)
{
	struct numbers *all = tui_all(p->tui);
	struct derived_terms terms = {0};

	return derive_at(numbers_derive(before ? numbers_before(all) : all),
			 &as_flat(p)->columns.limit, &terms, 0, 0);
}

static void make_order(struct panel *p)
{
	struct panel_flat *pf = as_flat(p);
	uint32_t all = flat_n(pf->flat);
	_cleanup_(freep) struct order_entry *order = malloc((all + 1) * sizeof(*order));
	bool match_case = text_is_smart_case(p->tui->filter);
	const struct column *by = &p->columns.v[p->sort];
	double sum = 0;
	size_t n = 0;

	if (!order)
		return;
	for (uint32_t i = 0; i < all; i++) {
		if (!passes(p, i, match_case) || !row_columns_reach(&pf->columns, p, i))
			continue;
		sum += time_of(pf, i);
		pf->cumulative[i] = sum / pf->all_time; /* before the order: that may be by it */
		order[n++] = (struct order_entry){column_order(by, p, i), i, 0};
	}
	order_sort(order, n, p->ascending);
	for (size_t i = 0; i < n; i++)
		pf->order[i] = order[i].id;
	p->n_rows = n;
}

static void update(struct panel *p)
{
	struct panel_flat *pf = as_flat(p);

	p->n_rows = 0;
	if (!make(pf, p->tui))
		return;
	row_columns_update(&pf->columns, p);
	make_order(p);
	row_columns_measure(&pf->columns, p, flat_n(pf->flat));
	row_past_note(&pf->columns, p, flat_n(pf->flat));
	panel_fit(p, (int)p->sort);
}

static const struct flat_row *entry(struct panel *p, size_t row)
{
	return flat_row(as_flat(p)->flat, as_flat(p)->order[row]);
}

static uint64_t row_key(struct panel *p, size_t row)
{
	return entry(p, row)->frame;
}

static const char *row_name(struct panel *p, size_t row)
{
	return name_of(p, as_flat(p)->order[row]);
}

static uint32_t row_node(struct panel *p, size_t row)
{
	return entry(p, row)->node;
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_flat *pf = as_flat(p);

	fit_cells(&p->shown, pen, p, &p->columns, pf->order[row]);
	if (flat_value(pf->flat, pf->order[row], &number_estimated) > 0)
		pen_put(pen, ROLE_DIM, "~ ");
	panel_draw_name(p, pen, kind_role(entry(p, row)->kind), row_name(p, row), TEXT_CUT_MIDDLE);
}

/* Names are filtered here: are there kernels that have the text in their paths? */
static bool is_in_paths(struct panel *p)
{
	const struct numbers *kept = tui_numbers(p->tui);
	struct flat *flat = as_flat(p)->flat;

	for (uint32_t i = 0; i < flat_n(flat); i++)
		for (uint32_t k = 0; k < flat_row(flat, i)->n; k++)
			if (numbers_counts(kept, flat_nodes(flat, i)[k]))
				return true;
	return false;
}

static void explain(struct panel *p, struct buf *out)
{
	const struct tui *t = p->tui;

	if (!as_flat(p)->flat || !flat_n(as_flat(p)->flat)) {
		panel_explain_empty(p, out);
	} else if (!*t->filter) {
		buf_puts(out, "nothing is large enough for the limit\nEsc clears it");
	} else {
		buf_printf(out, "no kernel, copy or set has '%s' in its name\n", t->filter);
		if (is_in_paths(p))
			buf_printf(out, "%s has those below such a name; so has this, with %s %s\n",
				   keymap_words(&t->keys, REQ_PANEL_7),
				   keymap_words(&t->keys, REQ_INCLUDE), t->filter);
		buf_puts(out, "Esc clears the filter");
	}
}

static void done(struct panel *p)
{
	row_columns_done(&as_flat(p)->columns);
	free(as_flat(p)->order);
	free(as_flat(p)->cumulative);
}

/* "Total" is the same as exclusive here. */
static bool request(struct panel *p, enum request request)
{
	if (request != REQ_SORT_TOTAL)
		return false;
	panel_sort(p, 0);
	return true;
}

static const struct panel_key keys[] = {
	{REQ_OPEN, NULL, "what can be done with this row"},
	{REQ_TOGGLE, NULL, "show this row in the tree"},
	{REQ_PANEL_8, NULL, "who calls it"},
	{REQ_PANEL_11, NULL, NULL},
	{REQ_SORT_MENU, NULL, NULL},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_flat_ops = {
	.title = "Kernels",
	.tab = "Kern",
	.name = "NAME",
	.size = sizeof(struct panel_flat),
	.columns = {NULL, 0, 35},
	.init = init,
	.value = value,
	.limit_whole = limit_whole,
	.example = example,
	.numbers = panel_all,
	.own_numbers = true,
	.has_past = true,
	.past_key = past_key,
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.row_node = row_node,
	.draw_head = panel_draw_head,
	.draw_row = draw_row,
	.explain = explain,
	.request = request,
	.keys = keys,
	.is_filtered = true,
};
