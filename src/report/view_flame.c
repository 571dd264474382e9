/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* The flame graph, a line a box from left to right: where it begins and how wide it is.
 *
 *    TOTAL       %                            NAME
 *    226ms   100.0 ##########################  ROOT
 *    102ms    45.3 ############                |- train
 *   99.3ms    44.0             ###########     `- test
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "report/rows.h"
#include "report/walk.h"

#define BAR_MOST  40 /* columns of the whole width */
#define BAR_LEAST 3
#define BAR_GAP   2                   /* behind it */
#define NAME_KEPT (NAME_ROOM / 2 + 9) /* columns that are left for a name with its lines */

struct boxes {
	struct rows rows;
	struct walk walk;
	struct column_spec metric; /* what makes a box wide */
	char *word;                /* its name, as it was asked for */
	double *next;              /* by node: where its next child begins */
	double whole;
	size_t width;   /* columns of the whole width */
	uint32_t n_put; /* boxes */
};

/* ---- what makes a box wide ---- */

static bool adds_up(const struct session *s, const struct derived *m)
{
	const struct metric *metric = derive_metric(s, m->metric);

	return m->op == DERIVED_VALUE && metric && metric->type != METRIC_TEXT &&
	       metric_add_plain(metric->add) == METRIC_SUM;
}

/* The first column that was asked for, or the time; with all that is below. */
static int choose_metric(struct boxes *b, const struct report *r)
{
	const char *words = r->o->columns;
	size_t len = words ? column_word_len(r->s, words) : 0;

	if (!len)
		b->metric =
			usual_columns[derive_time(r->s) == METRIC_TIME ? USUAL_TOTAL : USUAL_CPU];
	else if (column_parse(r->s, words, len, &b->metric) < 0)
		return -EINVAL;
	if (!adds_up(r->s, &b->metric.derived))
		return -EDOM;
	b->metric.derived.is_said = false;
	b->metric.derived.inclusive = true;
	if (b->metric.title)
		return 0;
	b->metric.title = b->word = strndup(words, len);
	return b->word ? 0 : -ENOMEM;
}

/* ---- boxes: rows are nodes of the snapshot ---- */

static double value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	struct derived_terms terms = {0};

	return derive_at(numbers_derive(((struct boxes *)ctx)->rows.r->numbers), ask->metric,
			 &terms, row, 0);
}

static bool is_estimated(void *ctx, uint32_t row)
{
	return snapshot_is_estimated(((struct boxes *)ctx)->rows.r->snap, row);
}

static double box_value(struct boxes *b, uint32_t node)
{
	return value(b, node, &(struct number_ask){.metric = &b->metric.derived});
}

/* What has no value has no box. */
static bool take(void *ctx, uint32_t node, struct walk_entry *ret)
{
	struct boxes *b = ctx;

	if (!(box_value(b, node) > 0) || !rows_take(&b->rows, node, ret))
		return false;
	ret->key = box_value(b, node); /* the widest first, whatever -s says of tables */
	return true;
}

static uint32_t count_boxes(struct boxes *b)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < snapshot_n(b->rows.r->snap); node++)
		n += box_value(b, node) > 0;
	return n;
}

/* ---- lines ---- */

/* What is less than half a column is a line, not a block. */
static void put_bar(struct boxes *b, double start, double v)
{
	static const char *const marks[2][2] = {{"\xe2\x96\x88", "\xe2\x96\x8f"}, {"#", "|"}};
	const struct report *r = b->rows.r;
	double scale = (double)b->width / b->whole;
	size_t from = (size_t)MAX(lround(start * scale), 0);
	size_t to = MIN((size_t)MAX(lround((start + v) * scale), 0), b->width);
	bool is_thin = v * scale < 0.5;

	from = MIN(from, b->width - 1);
	to = MAX(to, from + 1);
	out_spaces(r->out, from);
	for (size_t i = from; i < to; i++)
		out_puts(r->out, marks[r->o->ascii][is_thin]);
	out_spaces(r->out, b->width - to + BAR_GAP);
}

static void put(void *ctx, uint32_t node)
{
	struct boxes *b = ctx;
	struct report *r = b->rows.r;
	uint32_t parent = snapshot_node(r->snap, node)->parent;
	double v = box_value(b, node), start = parent == SNAP_NONE ? 0 : b->next[parent];
	size_t used = report_columns_width(&b->rows.columns) + b->width + BAR_GAP;

	b->next[node] = start;
	if (parent != SNAP_NONE)
		b->next[parent] += v;
	b->n_put++;
	rows_put_numbers(&b->rows, node);
	put_bar(b, start, v);
	rows_put_name(&b->rows, node,
		      b->width + BAR_GAP + walk_put_lines(&b->walk, r->o, used, r->out));
}

static void see(void *ctx, uint32_t node)
{
	struct boxes *b = ctx;
	size_t before = b->width + BAR_GAP;
	size_t used = report_columns_width(&b->rows.columns) + before;

	rows_see_name(&b->rows, node, before + walk_put_lines(&b->walk, b->rows.r->o, used, NULL));
}

/* A third of a line, where numbers and names leave it. */
static size_t choose_width(const struct boxes *b)
{
	size_t line = b->rows.r->o->width;
	size_t used = report_columns_width(&b->rows.columns) + BAR_GAP + NAME_KEPT;

	if (!line)
		return BAR_MOST;
	return CLAMP(line > used ? line - used : 0, (size_t)BAR_LEAST,
		     MIN(MAX(line / 3, (size_t)BAR_LEAST), (size_t)BAR_MOST));
}

static int walk_boxes(struct boxes *b, void (*each)(void *ctx, uint32_t node))
{
	b->walk.put = each;
	return walk_tree(&b->walk);
}

static int put_boxes(struct boxes *b)
{
	struct report *r = b->rows.r;
	uint32_t n = count_boxes(b);
	int e = 0;

	b->width = choose_width(b);
	if (!(b->whole > 0)) {
		out_puts(r->out, "none\n");
		return 0;
	}
	b->walk = (struct walk){.snap = r->snap,
				.depth = r->o->depth,
				.take = take,
				.compare = walk_compare_keys,
				.ctx = b,
				.error = &r->out->error};
	put_header(r->out, &b->rows.columns, b->width + BAR_GAP, r->o);
	if (r->o->width)
		e = walk_boxes(b, see);
	rows_all_seen(&b->rows);
	if (e == 0)
		e = walk_boxes(b, put);
	if (n > b->n_put)
		out_printf(r->out, "(%u more boxes)\n", n - b->n_put);
	rows_put_estimated(&b->rows);
	return e;
}

static int make_boxes(struct boxes *b)
{
	int e = rows_add(&b->rows, 0);

	if (e == 0)
		e = rows_columns(&b->rows);
	return e == 0 ? put_boxes(b) : e;
}

int view_flame(struct report *r)
{
	struct column_spec share = usual_columns[USUAL_SHARE];
	struct boxes b = {.n_put = 0};
	const struct column_spec *const usual[] = {&b.metric, &share};
	const struct row_kind kind = {.value = value,
				      .is_estimated = is_estimated,
				      .usual = usual,
				      .n_usual = ARRAY_SIZE(usual),
				      .own_columns = true,
				      .by_first = true};
	int e = choose_metric(&b, r);

	if (e < 0)
		return e;
	share.derived.metric = b.metric.derived.metric;
	share.derived.factor = 1;
	e = rows_init(&b.rows, r, &kind, &b);
	b.whole = box_value(&b, 0);
	b.next = calloc(snapshot_n(r->snap) + 1u, sizeof(*b.next));
	if (e == 0)
		e = b.next ? make_boxes(&b) : -ENOMEM;
	free(b.next);
	free(b.word);
	rows_done(&b.rows);
	return e;
}
