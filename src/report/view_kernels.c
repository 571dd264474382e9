/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Kernels, copies and sets by name. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "report/report_impl.h"
#include "report/sorting.h"
#include "report/table.h"

/* Those asked for, or the usual ones that a row has a value for. */
struct flat_table {
	struct walk_entry *rows;
	size_t n;
	struct report_columns columns;
	unsigned n_omitted;
};

/* In the cache of the rows' numbers: the usual columns have the first places. */
enum { SLOT_ORDER = USUAL_N, SLOT_COLUMNS };

static double flat_number(const struct report *r, const struct report_column *c, size_t i,
			  uint32_t row)
{
	const struct number_ask ask = {.metric = &c->spec.derived,
				       .slot = SLOT_COLUMNS + (unsigned)i};

	return flat_value(r->flat, row, &ask);
}

static void format_number(const struct report *r, const struct flat_table *t, size_t i,
			  uint32_t row, char text[COLUMN_TEXT])
{
	const struct report_column *c = &t->columns.v[i];

	column_print(&c->spec, r->s, flat_number(r, c, i, row), true, text);
}

static const char *flat_name(const struct report *r, uint32_t row)
{
	return snapshot_name(r->snap, flat_row(r->flat, row)->node, (enum name_mode)r->o->names);
}

static void put_numbers(const struct report *r, const struct flat_table *t, uint32_t row)
{
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < t->columns.n; i++) {
		format_number(r, t, i, row, text);
		column_put(r->out, &t->columns.v[i], text, r->o);
	}
	out_puts(r->out, "  ");
	put_name(r->out, flat_name(r, row), name_room(r->o, report_columns_width(&t->columns)),
		 r->o->ascii);
	out_putc(r->out, '\n');
}

static bool has_number(const struct report *r, const struct flat_table *t, enum usual_column usual)
{
	for (size_t k = 0; k < t->n; k++)
		if (!isnan(flat_usual(r->flat, t->rows[k].node, usual)))
			return true;
	return false;
}

static int flat_columns(const struct report *r, struct flat_table *t,
			const enum usual_column *usual, size_t n_usual)
{
	char text[COLUMN_TEXT];
	int e = 0;

	if (r->flat_words)
		e = report_columns_add_words(&t->columns, r->s, r->flat_words);
	for (size_t i = 0; !r->flat_words && i < n_usual && e == 0; i++)
		if (has_number(r, t, usual[i]))
			e = report_columns_add_usual(&t->columns, usual[i]);
	if (!r->flat_words)
		t->n_omitted = report_columns_narrow(&t->columns, r->o->width);
	for (size_t i = 0; r->flat_words && i < t->columns.n && e == 0; i++)
		for (size_t k = 0; k < t->n; k++) {
			format_number(r, t, i, t->rows[k].node, text);
			column_make_room(&t->columns.v[i], text, r->o);
		}
	return e;
}

static bool is_small(const struct report *r, uint32_t row)
{
	return r->o->threshold > 0 &&
	       !(flat_usual(r->flat, row, USUAL_SHARE) >= r->o->threshold * 100);
}

/* Those that are large enough, in their order. */
static int flat_rows(const struct report *r, struct flat_table *t, bool transfers,
		     size_t *ret_small)
{
	int (*compare)(const void *, const void *);
	struct sorting sorting;

	if (sorting_parse(&sorting, r->s, r->o->sort) < 0)
		return -EINVAL;
	for (uint32_t i = 0; i < flat_n(r->flat); i++) {
		const struct number_ask ask = {.metric = &sorting.column.derived,
					       .slot = SLOT_ORDER};

		if (transfers && !flat_is_transfer(r->flat, i))
			continue;
		if (is_small(r, i))
			++*ret_small;
		else
			t->rows[t->n++] = sorting_entry(
				&sorting, r->s, i,
				sorting.by_column ? flat_value(r->flat, i, &ask) : NAN,
				sorting.by_name ? flat_name(r, i) : "");
	}
	compare = sorting_compare(&sorting);
	if (compare && t->n)
		qsort(t->rows, t->n, sizeof(*t->rows), compare);
	return 0;
}

static void put_table(const struct report *r, const struct flat_table *t, size_t n_small)
{
	size_t n = r->o->rows ? MIN(t->n, r->o->rows) : t->n;

	put_header(r->out, &t->columns, r->o);
	for (size_t i = 0; i < n; i++)
		put_numbers(r, t, t->rows[i].node);
	if (t->n + n_small > n)
		out_printf(r->out, "(%zu more)\n", t->n + n_small - n);
	put_omitted(r->out, t->n_omitted);
}

static int put_rows(const struct report *r, bool transfers, const enum usual_column *usual,
		    size_t n_usual)
{
	_cleanup_(freep) struct walk_entry *rows = malloc((flat_n(r->flat) + 1) * sizeof(*rows));
	struct flat_table t = {.rows = rows};
	size_t n_small = 0;
	int e = rows ? flat_rows(r, &t, transfers, &n_small) : -ENOMEM;

	if (e == 0)
		e = flat_columns(r, &t, usual, n_usual);
	if (e == 0 && t.n + n_small)
		put_table(r, &t, n_small);
	else if (e == 0)
		out_puts(r->out, "none\n");
	report_columns_done(&t.columns);
	return e;
}

int view_kernels(const struct report *r)
{
	static const enum usual_column usual[] = {USUAL_TOTAL, USUAL_SHARE, USUAL_CALLS, USUAL_AVG,
						  USUAL_MIN,   USUAL_MAX,   USUAL_BYTES, USUAL_GBPS,
						  USUAL_FLOPS, USUAL_TFPS};

	return put_rows(r, false, usual, ARRAY_SIZE(usual));
}

int view_transfers(const struct report *r)
{
	static const enum usual_column usual[] = {USUAL_TOTAL, USUAL_SHARE, USUAL_CALLS, USUAL_AVG,
						  USUAL_BYTES, USUAL_GBPS,  USUAL_ASYNC};

	return put_rows(r, true, usual, ARRAY_SIZE(usual));
}
