/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/rows.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/util.h"
#include "naming/table.h"
#include "report/names.h"

/* In the cache of the rows' numbers: the usual columns have the first places (core/flat.h). */
enum { SLOT_ORDER = USUAL_N, SLOT_LIMIT, SLOT_COLUMNS };

/* ---- numbers ---- */

static double number(struct rows *t, uint32_t row, const struct derived *metric, unsigned slot)
{
	const struct number_ask ask = {.metric = metric, .slot = slot};

	return t->kind->value(t->ctx, row, &ask);
}

static double column_number(struct rows *t, size_t i, uint32_t row)
{
	return number(t, row, &t->columns.v[i].spec.derived, SLOT_COLUMNS + (unsigned)i);
}

static void print_number(struct rows *t, size_t i, uint32_t row, char text[COLUMN_TEXT])
{
	column_print(&t->columns.v[i].spec, t->r->s, column_number(t, i, row), true, text);
}

/* ---- columns ---- */

/* A usual column of the view, by its title; NULL: there is none. A metric of the profile with exactly
 * this name goes before it. */
static const struct column_spec *find_usual(const struct rows *t, const char *word, size_t len)
{
	if (derive_own(t->r->s, word, len) != METRIC_NONE)
		return NULL;
	for (size_t i = 0; i < t->kind->n_usual; i++)
		if (column_is_titled(t->kind->usual[i]->title, word, len))
			return t->kind->usual[i];
	return NULL;
}

/* In the cache: behind those of all columns that there may be, the usual ones and then the others. */
static unsigned slot_tried(const struct rows *t, unsigned i)
{
	return SLOT_COLUMNS + (unsigned)t->kind->n_usual +
	       (unsigned)metric_table_count(t->r->s->metrics) + i;
}

/* Of any row that was added? */
static bool has_number(struct rows *t, const struct derived *metric, unsigned slot)
{
	for (size_t i = 0; i < t->n; i++)
		if (!isnan(number(t, t->v[i].node, metric, slot)))
			return true;
	return false;
}

static int add_usual(struct rows *t)
{
	int r = 0;

	for (size_t i = 0; i < t->kind->n_usual && r == 0; i++)
		if (has_number(t, &t->kind->usual[i]->derived, slot_tried(t, (unsigned)i)))
			r = report_columns_add(&t->columns, t->kind->usual[i], NULL, 0);
	return r;
}

/* Metrics that are not built in, and that a row has. */
static int add_own(struct rows *t)
{
	struct derive *d = numbers_derive(t->r->numbers);
	int r = 0;

	for (uint32_t m = 0; m < metric_table_count(t->r->s->metrics) && r == 0; m++) {
		struct column_spec spec;
		size_t len;

		if (!derive_is_own(t->r->s, m))
			continue;
		column_of_metric(t->r->s, m, &spec, &len);
		if (derive_has(d, &spec.derived) &&
		    has_number(t, &spec.derived, slot_tried(t, (unsigned)t->kind->n_usual + m)))
			r = report_columns_add(&t->columns, &spec, spec.title, len);
	}
	return r;
}

static const char *words(const struct rows *t)
{
	return t->kind->own_columns ? NULL : t->r->words;
}

/* Every word that was asked for: a usual column of the view, or any other. */
static int add_words(struct rows *t, const char *words)
{
	int r = 0;

	while (*words && r == 0) {
		size_t len = column_word_len(t->r->s, words);
		const struct column_spec *usual = find_usual(t, words, len);

		r = usual ? report_columns_add(&t->columns, usual, NULL, 0)
			  : report_columns_add_word(&t->columns, t->r->s, words, len);
		words += len + (words[len] == ',');
	}
	return r;
}

/* Words, and numbers in a unit that was asked for, may be wider than others. */
static bool may_need_room(const struct report_column *c)
{
	return c->spec.form == FORM_WORD || c->spec.form == FORM_PLAIN;
}

static void make_room(struct rows *t)
{
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < t->columns.n; i++)
		for (size_t k = 0; k < t->n && may_need_room(&t->columns.v[i]); k++) {
			print_number(t, i, t->v[k].node, text);
			column_make_room(&t->columns.v[i], text, t->r->o);
		}
}

int rows_columns(struct rows *t)
{
	int r = 0;

	if (!words(t)) {
		r = add_usual(t);
		if (r == 0 && t->kind->own_metrics)
			r = add_own(t);
		t->n_omitted = report_columns_narrow(&t->columns, t->r->o->width);
	}
	make_room(t);
	return r;
}

/* ---- which rows, in which order ---- */

/* The limit of own columns is one of the first of them; else that of the tree. */
static int choose_limit(struct rows *t)
{
	const struct report_options *o = t->r->o;
	struct column_spec first = *t->kind->usual[0];
	int r = 0;

	t->least = (struct least){o->columns, o->least, o->threshold, o->peaks};
	if (!least_any(&t->least))
		return 0;
	if (t->kind->own_columns && column_in_unit(&first, t->r->s, &o->least) == 0)
		t->limit = first.derived;
	else if (t->kind->share_of && !o->columns && o->least.value == 0)
		t->limit = t->kind->share_of->derived;
	else
		r = least_parse(&t->least, t->r->s, &t->limit);
	return r < 0 ? least_error(r) : 0;
}

static double whole(struct rows *t)
{
	const struct number_ask ask = {.metric = &t->limit, .slot = SLOT_LIMIT};
	struct derived_terms terms = {0};

	if (t->kind->whole)
		return t->kind->whole(t->ctx, &ask);
	return derive_at(numbers_derive(t->r->numbers), &t->limit, &terms, 0, 0);
}

/* The first column, where it has values. */
static const struct column_spec *first_column(const struct rows *t)
{
	const struct column_spec *first = t->kind->usual[0];

	if (!t->kind->by_first)
		return NULL;
	return t->kind->own_columns || derive_has(numbers_derive(t->r->numbers), &first->derived)
		       ? first
		       : NULL;
}

static int choose_order(struct rows *t)
{
	const char *sort = t->r->o->sort;
	const struct column_spec *usual = sort && *sort ? find_usual(t, sort, strlen(sort)) : NULL;
	bool is_named = sort && !strcasecmp(sort, "name");

	if (!usual && !is_named && (!sort || t->kind->own_columns))
		usual = first_column(t);
	if (usual)
		t->sorting = (struct sorting){.column = *usual, .by_column = !sort || *sort};
	else
		return sorting_parse(&t->sorting, t->r->s, sort) < 0 ? -EINVAL : 0;
	return 0;
}

int rows_init(struct rows *t, struct report *r, const struct row_kind *kind, void *ctx)
{
	int e;

	*t = (struct rows){.r = r, .kind = kind, .ctx = ctx};
	e = choose_order(t);
	if (e == 0)
		e = choose_limit(t);
	if (e == 0 && words(t))
		e = add_words(t, words(t));
	if (e == 0 && least_any(&t->least))
		t->whole = whole(t);
	return e;
}

void rows_done(struct rows *t)
{
	report_columns_done(&t->columns);
	free(t->v);
	buf_done(&t->scratch);
	name_table_free(t->names);
}

/* Rows without time on a device stand behind those that have it, with the most time on the host first. */
static double order_of(struct rows *t, uint32_t row)
{
	const struct derived *by = &t->sorting.column.derived;
	double v = t->sorting.by_column ? number(t, row, by, SLOT_ORDER) : NAN;

	if (isnan(v) && t->sorting.by_column && !t->kind->own_columns && by->metric == METRIC_TIME)
		return -1 / number(t, row, &usual_columns[USUAL_CPU].derived, USUAL_CPU);
	return v;
}

static uint32_t node_of_row(const struct rows *t, uint32_t row)
{
	return t->kind->node ? t->kind->node(t->ctx, row) : row;
}

static const char *name_of_row(const struct rows *t, uint32_t row)
{
	return t->kind->name ? t->kind->name(t->ctx, row) : report_name(t->r, node_of_row(t, row));
}

static struct walk_entry entry_of(struct rows *t, uint32_t row)
{
	return sorting_entry(&t->sorting, t->r->s, row, order_of(t, row),
			     t->sorting.by_name ? name_of_row(t, row) : "");
}

bool rows_take(struct rows *t, uint32_t row, struct walk_entry *ret)
{
	if (least_any(&t->least) &&
	    !least_reached(&t->least, number(t, row, &t->limit, SLOT_LIMIT), t->whole)) {
		t->n_small++;
		return false;
	}
	*ret = entry_of(t, row);
	return true;
}

int rows_keep(struct rows *t, uint32_t row)
{
	if (ARRAY_ROOM(t->v, t->cap, t->n + 1) < 0)
		return -ENOMEM;
	t->v[t->n++] = entry_of(t, row);
	return 0;
}

int rows_add(struct rows *t, uint32_t row)
{
	if (ARRAY_ROOM(t->v, t->cap, t->n + 1) < 0)
		return -ENOMEM;
	t->n += rows_take(t, row, &t->v[t->n]);
	return 0;
}

void rows_sort(struct rows *t)
{
	int (*compare)(const void *, const void *) = sorting_compare(&t->sorting);

	if (compare && t->n)
		qsort(t->v, t->n, sizeof(*t->v), compare);
}

/* ---- lines ---- */

void rows_put_numbers(struct rows *t, uint32_t row)
{
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < t->columns.n; i++) {
		print_number(t, i, row, text);
		column_put(t->r->out, &t->columns.v[i], text, t->r->o);
	}
	out_puts(t->r->out, "  ");
}

/* What is printed of it. */
static const char *text_of_row(struct rows *t, uint32_t row)
{
	if (t->kind->by_path)
		return rows_path(t->r, node_of_row(t, row), &t->scratch);
	if (t->kind->path)
		return t->kind->path(t->ctx, row);
	return name_format(name_of_row(t, row), (enum name_format)t->r->o->format, true,
			   &t->scratch);
}

/* What stands before the name of a row. */
static const char *mark_of(const struct rows *t, uint32_t row)
{
	return t->kind->is_estimated && t->kind->is_estimated(t->ctx, row) ? ESTIMATED_MARK : "";
}

static size_t room_of(const struct rows *t, uint32_t row, size_t used)
{
	return name_room(t->r->o,
			 report_columns_width(&t->columns) + used + strlen(mark_of(t, row)));
}

void rows_put_name(struct rows *t, uint32_t row, size_t used)
{
	const char *mark = mark_of(t, row);

	t->any_estimated |= *mark != '\0';
	out_puts(t->r->out, mark);
	put_name_of(t->r->out, t->names, text_of_row(t, row), room_of(t, row, used),
		    t->r->o->ascii);
	out_putc(t->r->out, '\n');
}

/* Without memory for it each name is cut by itself. */
void rows_see_name(struct rows *t, uint32_t row, size_t used)
{
	size_t room = room_of(t, row, used);

	if (room && !t->names)
		t->names = name_table_new(dots_of(t->r->o->ascii));
	if (t->names)
		name_table_get(t->names, text_of_row(t, row), room);
}

void rows_all_seen(struct rows *t)
{
	if (t->names)
		name_table_tell_apart(t->names);
}

size_t rows_n_put(const struct rows *t)
{
	size_t most = t->r->o->rows;

	return most ? MIN(t->n, most) : t->n;
}

void rows_put_estimated(const struct rows *t)
{
	if (t->any_estimated)
		out_puts(t->r->out, ESTIMATED_LINE);
}

void rows_put_left_out(struct rows *t, size_t n)
{
	if (n)
		out_printf(t->r->out, "(%zu more)\n", n);
	rows_put_estimated(t);
	put_omitted(t->r->out, t->n_omitted);
}

static void put_rows(struct rows *t)
{
	if (!t->n && t->n_small) { /* a head without columns says nothing */
		out_printf(t->r->out, "none (%zu below the limit)\n", t->n_small);
		put_omitted(t->r->out, t->n_omitted);
		return;
	}
	for (size_t i = 0; i < rows_n_put(t); i++)
		rows_see_name(t, t->v[i].node, 0);
	rows_all_seen(t);
	put_header(t->r->out, &t->columns, 0, t->r->o);
	for (size_t i = 0; i < rows_n_put(t); i++) {
		rows_put_numbers(t, t->v[i].node);
		rows_put_name(t, t->v[i].node, 0);
	}
	rows_put_left_out(t, t->n + t->n_small - rows_n_put(t));
}

int rows_put(struct rows *t)
{
	int r = rows_columns(t);

	rows_sort(t);
	if (r == 0 && t->n + t->n_small)
		put_rows(t);
	else if (r == 0)
		out_puts(t->r->out, "none\n");
	return r;
}

void rows_put_caption(const struct report *r, const char *text)
{
	put_name(r->out, text, r->o->width, r->o->ascii);
	out_putc(r->out, '\n');
}

/* ---- paths ---- */

#define PATH_MAX_NODES 64 /* of a deeper one the last */

const char *rows_path(struct report *r, uint32_t node, struct buf *scratch)
{
	const char *path[PATH_MAX_NODES];
	size_t n = 0;

	for (; node != 0 && n < ARRAY_SIZE(path); node = snapshot_node(r->snap, node)->parent)
		path[n++] = report_name(r, node);
	buf_clear(scratch);
	if (node != 0)
		buf_puts(scratch, "... > ");
	put_path(scratch, path, n, r->o->ascii);
	return buf_str(scratch);
}

/* ---- rows that are nodes ---- */

double rows_node_at(const struct report *r, uint32_t node, const struct derived *metric)
{
	struct derived_terms terms = {0};

	return derive_at(numbers_derive(r->numbers), metric, &terms, node, 0);
}

double row_node_value(void *ctx, uint32_t node, const struct number_ask *ask)
{
	return rows_node_at(ctx, node, ask->metric);
}

int rows_put_nodes(struct report *r, const struct row_kind *kind,
		   bool (*is_one)(struct report *r, uint32_t node))
{
	struct rows t;
	int e = rows_init(&t, r, kind, r);

	for (uint32_t node = 0; node < snapshot_n(r->snap) && e == 0; node++)
		if (is_one(r, node))
			e = rows_add(&t, node);
	if (e == 0)
		e = rows_put(&t);
	rows_done(&t);
	return e;
}
