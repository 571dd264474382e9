/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/ranks.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/least.h"
#include "core/ranks.h"
#include "report/table.h"

#define RANK_NAME 64

struct board {
	const struct session *s;
	const struct report_options *o;
	uint32_t id; /* of the metric, for derive_metric() */
	const struct metric *metric;
	struct ranks ranks;
	struct spread_row *rows; /* sorted by the time that waiting costs */
	uint32_t n;              /* rows that are printed */
	uint32_t n_rows;         /* all rows */
	struct report_columns columns;
	struct out *out;
	struct buf path;
	struct frame_names *names;
};

/* ---- names ---- */

static const char *path_of(struct board *b, uint32_t node)
{
	buf_clear(&b->path);
	put_node_path(&b->path, b->s, b->names, node, (enum name_mode)b->o->names, b->o->ascii);
	return buf_str(&b->path);
}

/* ---- the ranks ---- */

static double mean_of_ranks(const struct ranks *ranks)
{
	double sum = 0;

	for (uint32_t i = 0; i < ranks->n; i++)
		sum += ranks->totals[i].sum;
	return sum / ranks->n;
}

static bool has_collectives(const struct ranks *ranks)
{
	for (uint32_t i = 0; i < ranks->n; i++)
		if (ranks->totals[i].collectives > 0)
			return true;
	return false;
}

static void put_totals(struct board *b)
{
	bool collectives = has_collectives(&b->ranks);
	double mean = mean_of_ranks(&b->ranks);
	size_t before = (collectives ? 3 : 2) * COLUMN_WIDTH + 2;
	size_t room = name_room(b->o, before);
	char text[RANK_NAME];

	out_printf(b->out, "   TOTAL   /MEAN%s  RANK\n", collectives ? " COLLECT" : "");
	for (uint32_t i = 0; i < b->ranks.n; i++) {
		const struct rank_total *total = &b->ranks.totals[i];

		metric_print(text, b->metric, total->sum);
		put_right(b->out, text, COLUMN_WIDTH);
		snprintf(text, sizeof(text), "%.2f", mean > 0 ? total->sum / mean : 1);
		put_right(b->out, text, COLUMN_WIDTH);
		metric_print(text, b->metric, total->collectives);
		if (collectives)
			put_right(b->out, text, COLUMN_WIDTH);
		rank_name(b->s, total->process, text, sizeof(text));
		out_puts(b->out, "  ");
		put_name(b->out, text, room, b->o->ascii);
		out_putc(b->out, '\n');
	}
	out_putc(b->out, '\n');
}

/* ---- the paths ---- */

static void format_cell(const struct board *b, const struct report_column *c, uint32_t node,
			char text[COLUMN_TEXT])
{
	enum spread_column column = (enum spread_column)(c - b->columns.v);
	const struct spread *x = &b->ranks.spread[node];

	if (column == SPREAD_SLOWEST)
		slowest_name(b->s, x, text, COLUMN_TEXT);
	else
		column_print(&c->spec, b->s, spread_value(x, column), false, text);
}

static void put_row(struct board *b, uint32_t node)
{
	size_t taken = report_columns_width(&b->columns);
	size_t room = name_room(b->o, taken);
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < b->columns.n; i++) {
		format_cell(b, &b->columns.v[i], node, text);
		column_put(b->out, &b->columns.v[i], text, b->o);
	}
	out_puts(b->out, "  ");
	put_name(b->out, path_of(b, node), room, b->o->ascii);
	out_putc(b->out, '\n');
}

/* Names of files as ranks are the first to be cut on a narrow terminal. */
static void keep_width(struct board *b)
{
	struct report_column *c = &b->columns.v[SPREAD_SLOWEST];
	size_t need = report_columns_width(&b->columns) + NAME_LEAST;
	size_t over = b->o->width && need > b->o->width ? need - b->o->width : 0;

	c->width = MAX(c->width - MIN(over, c->width), (size_t)COLUMN_WIDTH);
}

static int make_columns(struct board *b)
{
	char text[COLUMN_TEXT];
	int r = 0;

	for (unsigned i = 0; i < SPREAD_N && r == 0; i++) {
		struct column_spec spec = spread_columns[i];

		if (spec.form == FORM_TIME)
			spec.form = metric_form(b->metric);
		r = report_columns_add(&b->columns, &spec, NULL, 0);
	}
	for (uint32_t i = 0; i <= b->n && r == 0; i++)
		for (size_t k = 0; k < b->columns.n; k++) {
			format_cell(b, &b->columns.v[k], i < b->n ? b->rows[i].node : SESSION_ROOT,
				    text);
			column_make_room(&b->columns.v[k], text, b->o);
		}
	if (r == 0)
		keep_width(b);
	return r;
}

static void put_paths(struct board *b)
{
	if (b->ranks.n == 1) {
		out_puts(b->out, "one rank has nobody to wait for: give the files of several\n");
		return;
	}
	put_header(b->out, &b->columns, 0, b->o);
	if (b->ranks.spread[SESSION_ROOT].n)
		put_row(b, SESSION_ROOT);
	for (uint32_t i = 0; i < b->n; i++)
		put_row(b, b->rows[i].node);
	if (b->n < b->n_rows)
		out_printf(b->out, "\n%u more paths (--rows 0 prints all)\n", b->n_rows - b->n);
}

/* Is the sum over ranks large enough? A limit in one unit is none of a metric of another. */
static bool is_large(const struct board *b, uint32_t node)
{
	struct least least = {.at = b->o->least, .share = b->o->threshold};
	struct column_spec c = {.form = metric_form(b->metric),
				.derived = {.op = DERIVED_VALUE, .metric = b->id, .factor = 1}};

	if (column_in_unit(&c, b->s, &least.at) < 0)
		least.at.value = 0;
	return least_reached(&least, b->ranks.spread[node].sum, b->ranks.spread[SESSION_ROOT].sum);
}

/* Keep those that are; how many there are of all is told. */
static uint32_t keep_large(struct board *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_rows; i++)
		if (is_large(b, b->rows[i].node))
			b->rows[n++] = b->rows[i];
	return n;
}

int report_ranks(const struct session *s, uint32_t metric, const uint8_t *counted,
		 const struct report_options *o, struct out *out)
{
	struct board b = {
		.s = s, .o = o, .id = metric, .metric = derive_metric(s, metric), .out = out};
	int r = ranks_init(&b.ranks, s, metric, counted);

	if (r < 0)
		return r;
	b.rows = ranks_sorted(&b.ranks, s, &b.n_rows);
	b.n = b.rows ? keep_large(&b) : 0;
	b.n = o->rows ? MIN(o->rows, b.n) : b.n;
	b.names = frame_names_new(s, o->naming, false);
	r = b.rows && b.names ? make_columns(&b) : -ENOMEM;
	if (r == 0 && !b.ranks.n) {
		out_puts(out, "none\n");
	} else if (r == 0) {
		put_name(out, b.metric->name, 0, o->ascii);
		out_printf(out, " over %u rank%s, by what waiting for the slowest costs\n\n",
			   b.ranks.n, b.ranks.n == 1 ? "" : "s");
		put_totals(&b);
		put_paths(&b);
	}
	report_columns_done(&b.columns);
	buf_done(&b.path);
	frame_names_free(b.names);
	free(b.rows);
	ranks_done(&b.ranks);
	return r;
}
