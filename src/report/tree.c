/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The calling context tree as text. No recursion: a tree may be deeper than a stack. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "core/pair.h"
#include "report/names.h"
#include "report/table.h"
#include "report/walk.h"

#define NUMBER_MAX  40
#define DEPTH_DRAWN 60 /* deeper branches are not indented further */

/* The profile, or what it is compared with. Inclusive columns; NULL where nothing has the metric.
 */
struct side {
	struct snapshot *snap;
	struct derive *derive;
	const double *time, *count, *bytes, *flops, *min, *max, *async, *sort;
	const double *metrics[COLUMNS_MAX]; /* of columns that are metrics or derived */
	double *flops_sum;
	uint8_t *present; /* only where two sides are compared */
	double all_ns;
};

struct tree {
	struct snapshot *snap;
	const struct report_options *o;
	struct out *out;
	struct report_columns columns;
	struct walk walk;
	struct side sides[2]; /* the profile first */
	unsigned n_sides;
	struct derived derived[COLUMNS_MAX], sort_by;
	int sort_column; /* -1: sort_by is it */
	uint8_t *shown;
	struct buf scratch;
	int (*compare)(const void *, const void *);
};

static const double *inclusive(const struct side *side, uint32_t metric)
{
	const struct metric *m = metric_table_get(snapshot_session(side->snap)->metrics, metric);

	return m ? derive_raw(side->derive, metric, m->scope == METRIC_INCLUSIVE) : NULL;
}

static double at(const double *v, uint32_t node)
{
	return v ? v[node] : NAN;
}

static void numbers_of(const struct side *side, uint32_t node, struct report_numbers *ret)
{
	*ret = (struct report_numbers){
		.all_ns = side->all_ns,
		.time_ns = at(side->time, node),
		.count = at(side->count, node),
		.bytes = at(side->bytes, node),
		.flops = at(side->flops, node),
		.min_ns = at(side->min, node),
		.max_ns = at(side->max, node),
		.async = at(side->async, node),
	};
}

/* What is in a column of one side. */
static double side_value(const struct tree *t, const struct side *side, unsigned i, uint32_t node)
{
	struct report_numbers n;

	if (t->columns.ids[i] >= COLUMN_N)
		return at(side->metrics[i], node);
	numbers_of(side, node, &n);
	return column_value(t->columns.ids[i], &n);
}

/* What is shown in a column: a value, or a difference. */
static double value_of(const struct tree *t, unsigned i, uint32_t node)
{
	double value = side_value(t, &t->sides[0], i, node);

	return t->n_sides == 1 ? value : pair_delta(side_value(t, &t->sides[1], i, node), value);
}

/* ---- columns ---- */

static int columns_parse(struct tree *t, const char *words)
{
	const struct session *s = snapshot_session(t->snap);

	while (*words) {
		size_t len = strcspn(words, ",");
		int column = column_parse(s, words, len);
		unsigned i = t->columns.n;

		if (i == COLUMNS_MAX)
			return -EINVAL;
		if (column < 0) {
			if (derive_parse(s, words, len, &t->derived[i]) < 0)
				return -EINVAL;
			snprintf(t->columns.titles[i], sizeof(t->columns.titles[i]), "%.*s",
				 (int)len, words);
			column = COLUMN_DERIVED;
		}
		t->columns.ids[t->columns.n++] = (unsigned)column;
		words += len + (words[len] == ',');
	}
	return 0;
}

static bool any_value(const struct side *side, uint32_t metric)
{
	const double *v = inclusive(side, metric);
	uint32_t i;

	for (i = 0; v && i < snapshot_n(side->snap); i++)
		if (!isnan(v[i]))
			return true;
	return false;
}

/* Has one of the sides a value of this fixed column, for the root? */
static bool is_known(const struct tree *t, unsigned column)
{
	struct report_numbers root;

	for (unsigned i = 0; i < t->n_sides; i++) {
		numbers_of(&t->sides[i], 0, &root);
		if (!isnan(column_value(column, &root)))
			return true;
	}
	return false;
}

static bool is_known_metric(const struct tree *t, uint32_t metric, bool at_root)
{
	for (unsigned i = 0; i < t->n_sides; i++)
		if (at_root ? !isnan(at(inclusive(&t->sides[i], metric), 0))
			    : any_value(&t->sides[i], metric))
			return true;
	return false;
}

/* Those that the root has a value for: inclusive values reach it from wherever they are. */
static void columns_default(struct tree *t)
{
	static const unsigned usual[] = {COLUMN_TOTAL, COLUMN_SHARE, COLUMN_CALLS, COLUMN_AVG,
					 COLUMN_BYTES, COLUMN_GBPS,  COLUMN_FLOPS, COLUMN_TFPS};
	const struct session *s = snapshot_session(t->snap);

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (is_known(t, usual[i]))
			t->columns.ids[t->columns.n++] = usual[i];
	/* Host time of scopes is exclusive: the root has none. */
	if (is_known_metric(t, METRIC_CPU_TIME, false)) {
		t->columns.ids[t->columns.n++] = COLUMN_N + METRIC_CPU_TIME;
		if (!is_known(t, COLUMN_TOTAL))
			t->columns.ids[t->columns.n++] = COLUMN_N + METRIC_CPU_COUNT;
	}
	for (uint32_t m = METRIC_N_BUILTIN; m < metric_table_count(s->metrics); m++)
		if (t->columns.n < 12 && metric_table_get(s->metrics, m)->type != METRIC_TEXT &&
		    is_known_metric(t, m, true))
			t->columns.ids[t->columns.n++] = COLUMN_N + m;
}

static const struct metric *metric_of(const struct tree *t, unsigned i)
{
	uint32_t metric = t->columns.ids[i] == COLUMN_DERIVED ? t->derived[i].metric
							      : t->columns.ids[i] - COLUMN_N;

	return t->columns.ids[i] < COLUMN_N
		       ? NULL
		       : metric_table_get(snapshot_session(t->snap)->metrics, metric);
}

static bool is_text(const struct tree *t, unsigned i)
{
	const struct metric *m = metric_of(t, i);

	return m && m->type == METRIC_TEXT;
}

/* Words are not subtracted: the profile's own, or what was there before it. */
static const char *word_of(const struct tree *t, unsigned i, uint32_t node)
{
	for (unsigned k = 0; k < t->n_sides; k++) {
		double v = at(t->sides[k].metrics[i], node);

		if (isnan(v))
			continue;
		if (!is_text(t, i))
			return bound_word((enum bound)v);
		return strtab_str(snapshot_session(t->sides[k].snap)->strings, (uint32_t)v);
	}
	return "-";
}

/* Of a derived column the unit is in the title: the plain number. */
static void print_derived(char text[NUMBER_MAX], const struct derived *m, double v)
{
	if (!isfinite(v))
		snprintf(text, NUMBER_MAX, "-");
	else if (m->op == DERIVED_SHARE || m->op == DERIVED_OF_PARENT)
		snprintf(text, NUMBER_MAX, "%.1f", v);
	else
		snprintf(text, NUMBER_MAX, fabs(v) < 1e15 ? "%.3f" : "%.6g", v);
}

static void put_cell(const struct tree *t, unsigned i, uint32_t node)
{
	unsigned column = t->columns.ids[i];
	size_t width = column_width(snapshot_session(t->snap), &t->columns, i) + (t->n_sides - 1);
	double v = value_of(t, i, node);
	char text[NUMBER_MAX + 1] = "+";
	bool plus = t->n_sides > 1 && v > 0 && isfinite(v);

	if (is_text(t, i) || (column == COLUMN_DERIVED && t->derived[i].op == DERIVED_BOUND)) {
		put_right(t->out, word_of(t, i, node), width);
		return;
	}
	if (column == COLUMN_DERIVED)
		print_derived(text + plus, &t->derived[i], v);
	else if (column < COLUMN_N)
		column_print(text + plus, column, v);
	else
		metric_print(text + plus, metric_of(t, i), v);
	if (name_width(text) >= width)
		out_putc(t->out, ' ');
	put_right(t->out, text, width);
}

/* ---- rows ---- */

static void put_heat(const struct tree *t, double share)
{
	static const struct {
		double from;
		const char *color;
	} heat[] = {{0.5, "\033[31m"}, {0.2, "\033[33m"}, {0.05, "\033[32m"}};

	for (size_t i = 0; i < ARRAY_SIZE(heat); i++) {
		if (share >= heat[i].from) {
			out_puts(t->out, heat[i].color);
			return;
		}
	}
}

/* Lines from the ancestors that have more children to come. Returns the width. */
static size_t put_branch(const struct tree *t)
{
	static const char *const lines[2][4] = {
		{"\xe2\x94\x82  ", "   ", "\xe2\x94\x9c\xe2\x94\x80 ", "\xe2\x94\x94\xe2\x94\x80 "},
		{"|  ", "   ", "|- ", "`- "},
	};
	const char *const *line = lines[t->o->ascii];
	size_t depth = t->walk.n_levels, first = depth > DEPTH_DRAWN ? depth - DEPTH_DRAWN : 0;
	char deeper[32] = "";

	if (first)
		snprintf(deeper, sizeof(deeper), "(+%zu) ", first);
	out_puts(t->out, deeper);
	for (size_t i = first; i < depth; i++) {
		bool last = walk_level_is_last(&t->walk.levels[i]);

		out_puts(t->out, line[(i + 1 == depth ? 2 : 0) + last]);
	}
	return strlen(deeper) + (depth - first) * 3;
}

static size_t columns_width(const struct tree *t)
{
	size_t width = 2;

	for (unsigned i = 0; i < t->columns.n; i++)
		width += column_width(snapshot_session(t->snap), &t->columns, i) + (t->n_sides - 1);
	return width;
}

/* On which side a path is, when it is on one only. */
static const char *sided_word(const struct tree *t, uint32_t node)
{
	if (t->n_sides == 1 || t->sides[0].present[node] == t->sides[1].present[node])
		return "";
	return t->sides[0].present[node] ? " (new)" : " (gone)";
}

static void put_row(void *ctx, uint32_t node)
{
	struct tree *t = ctx;
	const char *name = name_format(snapshot_name(t->snap, node, (enum name_mode)t->o->names),
				       (enum name_format)t->o->format, true, &t->scratch);
	const struct side *side = &t->sides[0];
	size_t used, room = 0;

	if (t->o->color)
		put_heat(t, at(side->time, node) / side->all_ns);
	for (unsigned i = 0; i < t->columns.n; i++)
		put_cell(t, i, node);
	if (t->o->color)
		out_puts(t->out, "\033[0m");
	out_puts(t->out, "  ");
	used = columns_width(t) + put_branch(t) + strlen(sided_word(t, node));
	if (t->o->width)
		room = t->o->width > used + 8 ? t->o->width - used : 8;
	put_name(t->out, name, room, t->o->ascii);
	out_puts(t->out, sided_word(t, node));
	out_putc(t->out, '\n');
}

/* ---- order ---- */

static int compare_values(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;
	double vx = isnan(x->key) ? -INFINITY : x->key, vy = isnan(y->key) ? -INFINITY : y->key;

	if (vx != vy)
		return vx < vy ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static bool is_shown(const struct tree *t, uint32_t node)
{
	bool enough = !(t->o->threshold > 0);

	if (!t->shown[node])
		return false;
	for (unsigned i = 0; i < t->n_sides && !enough; i++)
		enough = at(t->sides[i].time, node) / t->sides[i].all_ns >= t->o->threshold;
	return enough;
}

static double sort_value(const struct tree *t, const struct side *side, uint32_t node)
{
	struct report_numbers n;

	if (t->sort_column < 0 || t->sort_column >= COLUMN_N)
		return at(side->sort, node);
	numbers_of(side, node, &n);
	return column_value((unsigned)t->sort_column, &n);
}

/* Differences are sorted by their size. */
static double sort_key(const struct tree *t, uint32_t node)
{
	double key = sort_value(t, &t->sides[0], node);

	return t->n_sides == 1 ? key : fabs(pair_delta(sort_value(t, &t->sides[1], node), key));
}

static bool take(void *ctx, uint32_t node, struct walk_entry *ret)
{
	struct tree *t = ctx;

	if (!is_shown(t, node))
		return false;
	ret->key = sort_key(t, node);
	ret->name = t->compare == walk_compare_names
			    ? snapshot_name(t->snap, node, (enum name_mode)t->o->names)
			    : "";
	return true;
}

static int put_tree(struct tree *t)
{
	t->walk = (struct walk){.snap = t->snap,
				.depth = t->o->depth,
				.take = take,
				.compare = t->compare,
				.put = put_row,
				.ctx = t,
				.error = &t->out->error};
	return walk_tree(&t->walk);
}

/* ---- setup ---- */

static int sort_parse(struct tree *t)
{
	const char *sort = t->o->sort ? t->o->sort : "total";
	const struct session *s = snapshot_session(t->snap);

	if (!*sort)
		return 0;
	if (!strcmp(sort, "name")) {
		t->compare = walk_compare_names;
		return 0;
	}
	t->compare = compare_values;
	t->sort_column = column_parse(s, sort, strlen(sort));
	if (t->sort_column < 0 && derive_parse(s, sort, strlen(sort), &t->sort_by) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < t->n_sides; i++) {
		struct side *side = &t->sides[i];

		if (t->sort_column < 0)
			side->sort = derive_column(side->derive, &t->sort_by);
		else if (t->sort_column >= COLUMN_N)
			side->sort = inclusive(side, (uint32_t)t->sort_column - COLUMN_N);
	}
	return 0;
}

/* FLOPs of any width. */
static int load_flops(struct side *side)
{
	static const uint32_t metrics[] = {METRIC_FLOPS, METRIC_FLOPS8, METRIC_FLOPS16,
					   METRIC_FLOPS32, METRIC_FLOPS64};
	uint32_t n = snapshot_n(side->snap);

	if (!side->flops_sum)
		side->flops_sum = malloc(MAX(n, 1u) * sizeof(*side->flops_sum));
	if (!side->flops_sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		side->flops_sum[i] = NAN;
	for (size_t m = 0; m < ARRAY_SIZE(metrics); m++) {
		const double *v = inclusive(side, metrics[m]);

		for (uint32_t i = 0; v && i < n; i++)
			if (!isnan(v[i]))
				side->flops_sum[i] =
					v[i] + (isnan(side->flops_sum[i]) ? 0 : side->flops_sum[i]);
	}
	side->flops = side->flops_sum;
	return 0;
}

static int load_side(const struct tree *t, struct side *side)
{
	side->time = inclusive(side, METRIC_TIME);
	side->count = inclusive(side, METRIC_COUNT);
	side->bytes = inclusive(side, METRIC_BYTES);
	side->min = inclusive(side, METRIC_TIME_MIN);
	side->max = inclusive(side, METRIC_TIME_MAX);
	side->async = inclusive(side, METRIC_ASYNC);
	side->all_ns = at(side->time, 0);
	for (unsigned i = 0; i < t->columns.n; i++) {
		if (t->columns.ids[i] == COLUMN_DERIVED)
			side->metrics[i] = derive_column(side->derive, &t->derived[i]);
		else if (t->columns.ids[i] >= COLUMN_N)
			side->metrics[i] = inclusive(side, t->columns.ids[i] - COLUMN_N);
	}
	return load_flops(side);
}

static int load_columns(struct tree *t)
{
	int r = 0;

	for (unsigned i = 0; i < t->n_sides && r == 0; i++)
		r = load_side(t, &t->sides[i]);
	return r;
}

/* A share is thought of in percent. */
static double first_scale(const struct tree *t)
{
	return t->columns.ids[0] == COLUMN_SHARE ? 100 : 1;
}

/* Does the first column of either side reach the limit? Into t->shown. */
static int filter_least(struct tree *t)
{
	uint32_t n = snapshot_n(t->snap);
	_cleanup_(freep) uint8_t *mask = malloc(MAX(n, 1u)), *passed = calloc(1, MAX(n, 1u));
	_cleanup_(freep) double *v = malloc(MAX(n, 1u) * sizeof(*v));

	if (!v || !mask || !passed)
		return -ENOMEM;
	for (unsigned i = 0; i < t->n_sides; i++) {
		for (uint32_t node = 0; node < n; node++)
			v[node] = t->columns.n
					  ? side_value(t, &t->sides[i], 0, node) * first_scale(t)
					  : NAN;
		memcpy(mask, t->shown, n);
		filter_at_least(mask, t->snap, v, t->o->least);
		for (uint32_t node = 0; node < n; node++)
			passed[node] |= mask[node];
	}
	memcpy(t->shown, passed, n);
	return 0;
}

static void mask_sides(struct tree *t)
{
	for (unsigned i = 0; i < t->n_sides; i++)
		derive_masks(t->sides[i].derive, NULL, t->shown, (enum totals)t->o->totals);
}

static int filter_names(struct tree *t)
{
	const struct report_options *o = t->o;

	t->shown = filter_all(t->snap);
	if (!t->shown)
		return -ENOMEM;
	if (o->include)
		filter_include(t->shown, t->snap, o->include, (enum name_mode)o->names);
	if (o->exclude)
		filter_exclude(t->shown, t->snap, o->exclude, (enum name_mode)o->names);
	if (o->include || o->exclude)
		mask_sides(t);
	return t->shown[0] ? load_columns(t) : -ENODATA;
}

static int filter_values(struct tree *t)
{
	int r;

	if (t->o->least == 0)
		return 0;
	r = filter_least(t); /* it hides rows; what they are part of stays the same */
	return r == 0 && !t->shown[0] ? -ENODATA : r;
}

/* All nodes of the tree, by the first column. */
static int put_sorted(struct tree *t)
{
	uint32_t n = snapshot_n(t->snap), used = 0;
	_cleanup_(freep) struct walk_entry *entries = malloc(MAX(n, 1u) * sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 1; i < n; i++)
		if (is_shown(t, i) && !isnan(value_of(t, 0, i)))
			entries[used++] = (struct walk_entry){i, value_of(t, 0, i), ""};
	qsort(entries, used, sizeof(*entries), compare_values);
	out_puts(t->out, "\nSorted by ");
	put_name(t->out, column_title(snapshot_session(t->snap), &t->columns, 0), 0, t->o->ascii);
	out_putc(t->out, '\n');
	for (uint32_t i = 0; i < used; i++)
		put_row(t, entries[i].node);
	return 0;
}

static void put_why(const struct tree *t)
{
	const char *why = derive_why(t->sides[0].derive);

	if (!why && t->n_sides > 1)
		why = derive_why(t->sides[1].derive);
	if (!why)
		return;
	out_puts(t->out, "\nutil and bound: n/a where ");
	put_name(t->out, why, 0, t->o->ascii);
	out_putc(t->out, '\n');
}

static int tree_columns(struct tree *t)
{
	int r = 0;

	if (t->o->columns)
		r = columns_parse(t, t->o->columns);
	else
		columns_default(t);
	return r < 0 ? r : load_columns(t);
}

static int add_side(struct tree *t, struct snapshot *snap)
{
	struct side *side = &t->sides[t->n_sides++];

	side->snap = snap;
	side->derive = derive_new(snap, t->o->peaks);
	if (t->o->before)
		side->present = pair_present(snapshot_session(snap));
	return side->derive && (!t->o->before || side->present) ? 0 : -ENOMEM;
}

static int tree_make(struct tree *t)
{
	int r = add_side(t, t->snap);

	if (r == 0 && t->o->before)
		r = add_side(t, t->o->before);
	if (r == 0)
		r = filter_names(t);
	if (r == 0)
		r = tree_columns(t);
	if (r == 0)
		r = filter_values(t);
	return r < 0 ? r : sort_parse(t);
}

static void tree_done(struct tree *t)
{
	while (t->n_sides) {
		struct side *side = &t->sides[--t->n_sides];

		free(side->flops_sum);
		free(side->present);
		derive_free(side->derive);
	}
	free(t->shown);
	buf_done(&t->scratch);
}

int report_tree(struct snapshot *snap, const struct report_options *o, struct out *out)
{
	struct tree t = {.snap = snap, .o = o, .out = out};
	int r;

	buf_init(&t.scratch, 0);
	r = tree_make(&t);
	if (r == 0) {
		put_header(out, snapshot_session(snap), &t.columns, o);
		r = put_tree(&t);
	}
	if (r == 0 && o->print_sorted && t.columns.n)
		r = put_sorted(&t);
	if (r == 0)
		put_why(&t);
	tree_done(&t);
	return r;
}
