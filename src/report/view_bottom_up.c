/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* The tree upside down: kernels, copies and whatever else holds numbers, each with its callers. */
#include <errno.h>
#include "base/util.h"
#include "core/bottom_up.h"
#include "report/rows.h"
#include "report/walk.h"

struct upside_down {
	struct rows rows;
	struct bottom_up *tree;
	struct walk walk;
};

_Static_assert(BOTTOM_UP_NONE == SNAP_NONE, "no node is no node");

/* ---- rows; their numbers are nodes of the tree ---- */

static double value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	return bottom_up_value(((struct upside_down *)ctx)->tree, row, ask);
}

static double whole(void *ctx, const struct number_ask *ask)
{
	return value(ctx, 0, ask);
}

static uint32_t node_of(void *ctx, uint32_t row)
{
	return bottom_up_example(((struct upside_down *)ctx)->tree, row);
}

/* Of callers, too: their times are those of the kernel that they called. */
static bool is_estimated(void *ctx, uint32_t row)
{
	return value(ctx, row, &number_estimated) > 0;
}

/* ---- the tree ---- */

static uint32_t next_child(void *ctx, uint32_t node, uint32_t child)
{
	return bottom_up_next_child(((struct upside_down *)ctx)->tree, node, child);
}

static bool take(void *ctx, uint32_t node, struct walk_entry *ret)
{
	return rows_take(&((struct upside_down *)ctx)->rows, node, ret);
}

static void put(void *ctx, uint32_t node)
{
	struct upside_down *u = ctx;
	struct report *r = u->rows.r;

	rows_put_numbers(&u->rows, node);
	rows_put_name(
		&u->rows, node,
		walk_put_lines(&u->walk, r->o, report_columns_width(&u->rows.columns), r->out));
}

static void see(void *ctx, uint32_t node)
{
	struct upside_down *u = ctx;

	rows_see_name(&u->rows, node,
		      walk_put_lines(&u->walk, u->rows.r->o, report_columns_width(&u->rows.columns),
				     NULL));
}

/* Calls of the GPU's library have numbers in columns of their own alone. */
static bool is_asked(const struct upside_down *u, uint32_t root)
{
	const struct report_columns *columns = &u->rows.columns;
	uint32_t node = bottom_up_example(u->tree, root);
	unsigned asked = 0;

	for (size_t i = 0; i < columns->n; i++)
		asked |= column_rows(&columns->v[i].spec);
	return snapshot_node(u->rows.r->snap, node)->kind != FRAME_CALL || asked & ROWS_OF_CALLS;
}

/* The roots that are large enough, in their order. */
static int find_roots(struct upside_down *u)
{
	uint32_t root = BOTTOM_UP_NONE;
	int e = 0;

	while (e == 0 && (root = bottom_up_next_child(u->tree, 0, root)) != BOTTOM_UP_NONE)
		e = is_asked(u, root) ? rows_add(&u->rows, root) : 0;
	rows_sort(&u->rows);
	return e;
}

/* In a chain of contexts that all have numbers of their own, each would be printed once for each below
 * it. */
#define DEPTH_USUAL 100

static int walk_roots(struct upside_down *u, void (*each)(void *ctx, uint32_t node))
{
	size_t n = rows_n_put(&u->rows);
	int e = 0;

	u->walk.put = each;
	for (size_t i = 0; i < n && e == 0; i++) {
		u->walk.root = u->rows.v[i].node;
		e = walk_tree(&u->walk);
	}
	return e;
}

static int put_trees(struct upside_down *u)
{
	struct report *r = u->rows.r;
	size_t n_small = u->rows.n_small /* of roots, now */, n = rows_n_put(&u->rows);
	int e = 0;

	if (!u->rows.n && !n_small) {
		out_puts(r->out, "none\n");
		return 0;
	}
	u->walk = (struct walk){.next_child = next_child,
				.depth = r->o->depth ? r->o->depth : DEPTH_USUAL,
				.take = take,
				.compare = sorting_compare(&u->rows.sorting),
				.ctx = u,
				.error = &r->out->error};
	put_header(r->out, &u->rows.columns, 0, r->o);
	if (r->o->width)
		e = walk_roots(u, see);
	rows_all_seen(&u->rows);
	if (e == 0)
		e = walk_roots(u, put);
	rows_put_left_out(&u->rows, n_small + u->rows.n - n);
	return e;
}

int view_bottom_up(struct report *r)
{
	static const struct column_spec *const usual[] = {
		&usual_columns[USUAL_SELF],  &usual_columns[USUAL_SHARE],
		&usual_columns[USUAL_CALLS], &usual_columns[USUAL_AVG],
		&usual_columns[USUAL_BYTES], &usual_columns[USUAL_GBPS],
		&usual_columns[USUAL_FLOPS], &usual_columns[USUAL_TFPS],
		&usual_columns[USUAL_CPU],   &usual_columns[USUAL_ON_CPU],
	};
	static const struct row_kind kind = {.value = value,
					     .whole = whole,
					     .node = node_of,
					     .is_estimated = is_estimated,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual),
					     .by_first = true,
					     .own_metrics = true};
	struct upside_down u = {.tree = bottom_up_new(r->snap, r->numbers)};
	int e = u.tree ? bottom_up_update(u.tree) : -ENOMEM;

	if (e == 0)
		e = rows_init(&u.rows, r, &kind, &u);
	if (e == 0)
		e = find_roots(&u);
	if (e == 0)
		e = rows_columns(&u.rows);
	if (e == 0)
		e = put_trees(&u);
	rows_done(&u.rows);
	bottom_up_free(u.tree);
	return e;
}
