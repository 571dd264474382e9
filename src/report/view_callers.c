/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* One function: who calls it above, what it calls below, the largest next to it. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/util.h"
#include "core/callers.h"
#include "report/rows.h"

struct edges {
	struct rows rows;
	struct callers *callers;
};

/* ---- which functions ---- */

static bool is_same(const char *name, const void *word)
{
	return !strcmp(name, word);
}

static bool has_inside(const char *name, const void *word)
{
	return strcasestr(name, word);
}

/* A context of each function of which a name passes the test, and their number. */
static int find_functions(struct report *r, bool (*test)(const char *, const void *),
			  uint32_t *nodes, uint32_t *ret_n)
{
	enum { LOOKED_AT = 1, CHOSEN = 2 };
	uint32_t n_frames, n = 0;
	const uint32_t *frames = numbers_frames(r->numbers, &n_frames);
	const uint32_t *functions = numbers_functions(r->numbers, &n_frames);
	_cleanup_(freep) uint8_t *seen = frames && functions ? calloc(n_frames, 1) : NULL;

	if (!seen)
		return -ENOMEM;
	for (uint32_t node = 0; node < snapshot_n(r->snap); node++) {
		if (seen[frames[node]] || !numbers_counts(r->numbers, node))
			continue;
		seen[frames[node]] |= LOOKED_AT;
		if (seen[functions[node]] & CHOSEN ||
		    !snapshot_any_name(r->snap, node, test, r->o->function))
			continue;
		seen[functions[node]] |= CHOSEN;
		nodes[n++] = node;
	}
	*ret_n = n;
	return 0;
}

/* Those of this name; where there are none, those that have it in their name. */
static int choose_functions(struct report *r, uint32_t *nodes, uint32_t *ret_n)
{
	int e = find_functions(r, is_same, nodes, ret_n);

	if (e == 0 && *ret_n == 0)
		e = find_functions(r, has_inside, nodes, ret_n);
	return e == 0 && *ret_n == 0 ? -ESRCH : e;
}

/* ---- rows ---- */

static double value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	return callers_value(((struct edges *)ctx)->callers, row, ask);
}

static double whole(void *ctx, const struct number_ask *ask)
{
	return value(ctx, 0, ask);
}

static enum callers_side side_of(const struct edges *x, uint32_t row)
{
	return (enum callers_side)callers_row(x->callers, row)->side;
}

static const char *name(void *ctx, uint32_t row)
{
	struct edges *x = ctx;

	if (side_of(x, row) == CALLERS_ITSELF)
		return "(itself)";
	return report_name(x->rows.r, callers_row(x->callers, row)->example);
}

/* Callers of what is estimated have shares of that; above it they have what was measured. */
static bool is_estimated(void *ctx, uint32_t row)
{
	struct edges *x = ctx;
	struct snapshot *snap = x->rows.r->snap;

	return value(ctx, row, &number_estimated) > 0 &&
	       (snapshot_is_estimated(snap, callers_row(x->callers, 0)->example) ||
		snapshot_is_estimated(snap, callers_row(x->callers, row)->example));
}

static bool has_callees(const struct edges *x)
{
	for (uint32_t i = 1; i < callers_n(x->callers); i++)
		if (side_of(x, i) == CALLERS_CALLEE)
			return true;
	return false;
}

/* A leaf is nothing but itself: that needs no row. */
static int add_rows(struct edges *x)
{
	bool is_leaf = !has_callees(x);
	int e = 0;

	for (uint32_t i = 0; i < callers_n(x->callers) && e == 0; i++)
		if (i == 0)
			e = rows_keep(&x->rows, i);
		else if (!is_leaf || side_of(x, i) != CALLERS_ITSELF)
			e = rows_add(&x->rows, i);
	return e;
}

/* ---- lines ---- */

/* The function's own row has no mark before its name. */
static size_t mark_width(const struct edges *x, uint32_t row)
{
	return side_of(x, row) == CALLERS_FUNCTION ? 0 : 2;
}

static void put_line(struct edges *x, uint32_t row)
{
	static const char *const marks[2][3] = {
		[false] = {[CALLERS_CALLER] = "\xe2\x96\xb2 ", [CALLERS_CALLEE] = "\xe2\x96\xbc "},
		[true] = {[CALLERS_CALLER] = "^ ", [CALLERS_CALLEE] = "v "},
	};
	struct report *r = x->rows.r;
	enum callers_side side = side_of(x, row);

	if (side == CALLERS_ITSELF)
		side = CALLERS_CALLEE;
	rows_put_numbers(&x->rows, row);
	if (side != CALLERS_FUNCTION)
		out_puts(r->out, marks[r->o->ascii][side]);
	rows_put_name(&x->rows, row, mark_width(x, row));
}

/* The rows of one half, in their order. Returns their number. */
static size_t collect(const struct edges *x, bool callers, uint32_t *ret)
{
	const struct rows *t = &x->rows;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].node && (side_of(x, t->v[i].node) == CALLERS_CALLER) == callers)
			ret[n++] = t->v[i].node;
	return n;
}

/* The largest of each half stand next to the function. Returns how many were left out. */
static size_t put_half(struct edges *x, bool callers, uint32_t *half)
{
	size_t n = collect(x, callers, half), most = x->rows.r->o->rows;
	size_t shown = most ? MIN(n, most) : n;

	for (size_t i = 0; i < shown; i++)
		put_line(x, half[callers ? shown - 1 - i : i]);
	return n - shown;
}

static int put_lines(struct edges *x)
{
	struct report *r = x->rows.r;
	_cleanup_(freep) uint32_t *half = malloc((x->rows.n + 1) * sizeof(*half));
	size_t left_out = x->rows.n_small;

	if (!half)
		return -ENOMEM;
	for (size_t i = 0; i < x->rows.n; i++)
		rows_see_name(&x->rows, x->rows.v[i].node, mark_width(x, x->rows.v[i].node));
	rows_all_seen(&x->rows);
	put_header(r->out, &x->rows.columns, 0, r->o);
	left_out += put_half(x, true, half);
	put_line(x, 0);
	left_out += put_half(x, false, half);
	rows_put_left_out(&x->rows, left_out);
	if (callers_is_recursive(x->callers))
		out_puts(r->out, "it calls itself: rows overlap\n");
	return 0;
}

static int put_function(struct report *r, struct callers *callers, uint32_t node)
{
	static const struct column_spec *const usual[] = {
		&usual_columns[USUAL_TOTAL],  &usual_columns[USUAL_SHARE],
		&usual_columns[USUAL_CALLS],  &usual_columns[USUAL_AVG],
		&usual_columns[USUAL_SELF],   &usual_columns[USUAL_BYTES],
		&usual_columns[USUAL_GBPS],   &usual_columns[USUAL_FLOPS],
		&usual_columns[USUAL_TFPS],   &usual_columns[USUAL_CPU],
		&usual_columns[USUAL_ON_CPU],
	};
	static const struct row_kind kind = {.value = value,
					     .whole = whole,
					     .name = name,
					     .is_estimated = is_estimated,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual),
					     .own_metrics = true};
	struct edges x = {.callers = callers};
	int e = callers_update(callers, node);

	if (e == 0)
		e = rows_init(&x.rows, r, &kind, &x);
	if (e == 0)
		e = add_rows(&x);
	if (e == 0)
		e = rows_columns(&x.rows);
	rows_sort(&x.rows);
	if (e == 0)
		e = put_lines(&x);
	rows_done(&x.rows);
	return e;
}

/* Each is looked for in the whole profile. */
#define FUNCTIONS_MOST 20u

int view_callers(struct report *r)
{
	struct callers *callers = callers_new(r->snap, r->numbers);
	_cleanup_(freep) uint32_t *nodes = malloc((snapshot_n(r->snap) + 1u) * sizeof(*nodes));
	uint32_t n = 0;
	int e = callers && nodes ? choose_functions(r, nodes, &n) : -ENOMEM;

	for (uint32_t i = 0; i < MIN(n, FUNCTIONS_MOST) && e == 0; i++) {
		if (i)
			out_putc(r->out, '\n');
		e = put_function(r, callers, nodes[i]);
	}
	if (e == 0 && n > FUNCTIONS_MOST)
		out_printf(r->out,
			   "\n(%u more functions have this in their names: say more of it)\n",
			   n - FUNCTIONS_MOST);
	callers_free(callers);
	return e;
}
