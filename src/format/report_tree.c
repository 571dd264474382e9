/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The calling context tree as text. No recursion: a tree may be deeper than a stack. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "format/report_names.h"
#include "format/report_table.h"

#define NUMBER_MAX  40
#define DEPTH_DRAWN 60 /* deeper branches are not indented further */

struct entry {
	uint32_t node;
	double key;
	const char *name;
};

/* The children of one node that are shown, and how far we are. */
struct level {
	struct entry *entries;
	size_t n, at;
};

struct tree {
	struct snapshot *snap;
	const struct report_options *o;
	struct out *out;
	struct columns columns;
	struct level *levels;
	size_t n_levels, cap_levels;
	/* Inclusive columns; NULL where nothing has the metric. */
	const double *time, *count, *bytes, *flops, *min, *max, *async, *sort;
	const double *metrics[COLUMNS_MAX]; /* of columns that are metrics or derived */
	struct derived derived[COLUMNS_MAX], sort_by;
	struct derive *derive;
	uint8_t *shown;
	double *flops_sum;
	struct buf scratch;
	double all_ns;
	int (*compare)(const void *, const void *);
};

static const double *inclusive(const struct tree *t, uint32_t metric)
{
	const struct metric *m = metric_table_get(snapshot_session(t->snap)->metrics, metric);

	return m ? derive_raw(t->derive, metric, m->scope == METRIC_INCLUSIVE) : NULL;
}

static double at(const double *v, uint32_t node)
{
	return v ? v[node] : NAN;
}

static void numbers_of(const struct tree *t, uint32_t node, struct numbers *ret)
{
	*ret = (struct numbers){
		.all_ns = t->all_ns,
		.time_ns = at(t->time, node),
		.count = at(t->count, node),
		.bytes = at(t->bytes, node),
		.flops = at(t->flops, node),
		.min_ns = at(t->min, node),
		.max_ns = at(t->max, node),
		.async = at(t->async, node),
	};
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
			snprintf(t->columns.titles[i], sizeof(t->columns.titles[i]), "%.*s", (int)len,
				 words);
			column = COLUMN_DERIVED;
		}
		t->columns.ids[t->columns.n++] = (unsigned)column;
		words += len + (words[len] == ',');
	}
	return 0;
}

static bool any_value(const struct tree *t, uint32_t metric)
{
	const double *v = inclusive(t, metric);
	uint32_t i;

	for (i = 0; v && i < snapshot_n(t->snap); i++)
		if (!isnan(v[i]))
			return true;
	return false;
}

/* Those that the root has a value for: inclusive values reach it from wherever they are. */
static void columns_default(struct tree *t)
{
	static const unsigned usual[] = {COLUMN_TOTAL, COLUMN_SHARE, COLUMN_CALLS, COLUMN_AVG,
					 COLUMN_BYTES, COLUMN_GBPS,  COLUMN_FLOPS, COLUMN_TFPS};
	const struct session *s = snapshot_session(t->snap);
	struct numbers root;

	numbers_of(t, 0, &root);
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (!isnan(column_value(usual[i], &root)))
			t->columns.ids[t->columns.n++] = usual[i];
	/* Host time of scopes is exclusive: the root has none. */
	if (any_value(t, METRIC_CPU_TIME)) {
		t->columns.ids[t->columns.n++] = COLUMN_N + METRIC_CPU_TIME;
		if (isnan(root.time_ns))
			t->columns.ids[t->columns.n++] = COLUMN_N + METRIC_CPU_COUNT;
	}
	for (uint32_t m = METRIC_N_BUILTIN; m < metric_table_count(s->metrics); m++)
		if (t->columns.n < 12 && metric_table_get(s->metrics, m)->type != METRIC_TEXT &&
		    !isnan(at(inclusive(t, m), 0)))
			t->columns.ids[t->columns.n++] = COLUMN_N + m;
}

static void print_metric(char text[HUMAN_MAX], const struct metric *m, double v)
{
	if (!strcmp(m->unit, "ns"))
		human_time_ns(text, v);
	else if (!strcmp(m->unit, "B"))
		human_bytes(text, v);
	else if (v == floor(v) || fabs(v) >= 1e4)
		human_count(text, v);
	else
		human_rate(text, v);
}

static bool is_text(const struct tree *t, unsigned i)
{
	const struct metric *m = metric_table_get(snapshot_session(t->snap)->metrics, t->derived[i].metric);

	return m && m->type == METRIC_TEXT;
}

/* Of a derived column the unit is in the title: the plain number. */
static void print_derived(char text[NUMBER_MAX], const struct derived *m, double v)
{
	if (!isfinite(v))
		snprintf(text, NUMBER_MAX, "-");
	else if (m->op == DERIVED_BOUND)
		snprintf(text, NUMBER_MAX, "%s", bound_word((enum bound)v));
	else if (m->op == DERIVED_SHARE || m->op == DERIVED_OF_PARENT)
		snprintf(text, NUMBER_MAX, "%.1f", v);
	else
		snprintf(text, NUMBER_MAX, fabs(v) < 1e15 ? "%.3f" : "%.6g", v);
}

static void put_cell(const struct tree *t, unsigned i, uint32_t node, const struct numbers *n)
{
	const struct session *s = snapshot_session(t->snap);
	unsigned column = t->columns.ids[i];
	size_t width = column_width(s, &t->columns, i);
	char text[NUMBER_MAX];

	if (column < COLUMN_N) {
		column_print(text, column, n);
	} else if (column == COLUMN_DERIVED && !is_text(t, i)) {
		print_derived(text, &t->derived[i], at(t->metrics[i], node));
		if (name_width(text) >= width)
			out_putc(t->out, ' ');
	} else if (column == COLUMN_DERIVED) {
		double v = at(t->metrics[i], node);

		put_right(t->out, isnan(v) ? "-" : strtab_str(s->strings, (uint32_t)v), width);
		return;
	} else {
		const struct metric *m = metric_table_get(s->metrics, column - COLUMN_N);
		double v = at(t->metrics[i], node);

		if (m->type == METRIC_TEXT) {
			put_right(t->out, isnan(v) ? "-" : strtab_str(s->strings, (uint32_t)v),
				  width);
			return;
		}
		print_metric(text, m, v);
	}
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
	size_t depth = t->n_levels, first = depth > DEPTH_DRAWN ? depth - DEPTH_DRAWN : 0;
	char deeper[32] = "";

	if (first)
		snprintf(deeper, sizeof(deeper), "(+%zu) ", first);
	out_puts(t->out, deeper);
	for (size_t i = first; i < depth; i++) {
		bool last = t->levels[i].at == t->levels[i].n;

		out_puts(t->out, line[(i + 1 == depth ? 2 : 0) + last]);
	}
	return strlen(deeper) + (depth - first) * 3;
}

static size_t columns_width(const struct tree *t)
{
	size_t width = 2;

	for (unsigned i = 0; i < t->columns.n; i++)
		width += column_width(snapshot_session(t->snap), &t->columns, i);
	return width;
}

static void put_row(struct tree *t, uint32_t node)
{
	const char *name = name_format(snapshot_name(t->snap, node, (enum name_mode)t->o->names),
				       (enum name_format)t->o->format, true, &t->scratch);
	size_t used, room = 0;
	struct numbers n;

	numbers_of(t, node, &n);
	if (t->o->color)
		put_heat(t, n.time_ns / n.all_ns);
	for (unsigned i = 0; i < t->columns.n; i++)
		put_cell(t, i, node, &n);
	if (t->o->color)
		out_puts(t->out, "\033[0m");
	out_puts(t->out, "  ");
	used = columns_width(t) + put_branch(t);
	if (t->o->width)
		room = t->o->width > used + 8 ? t->o->width - used : 8;
	put_name(t->out, name, room, t->o->ascii);
	out_putc(t->out, '\n');
}

/* ---- order ---- */

static int compare_values(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	double vx = isnan(x->key) ? -INFINITY : x->key, vy = isnan(y->key) ? -INFINITY : y->key;

	if (vx != vy)
		return vx < vy ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int compare_names(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : x->node < y->node ? -1 : x->node > y->node;
}

static bool is_shown(const struct tree *t, uint32_t node)
{
	if (!t->shown[node])
		return false;
	return !(t->o->threshold > 0) || at(t->time, node) / t->all_ns >= t->o->threshold;
}

static int level_open(struct tree *t, uint32_t parent)
{
	const struct snap_node *p = snapshot_node(t->snap, parent);
	struct level *level;

	if (t->o->depth && t->n_levels + 1 >= t->o->depth)
		return 0;
	if (array_reserve((void **)&t->levels, &t->cap_levels, t->n_levels + 1,
			  sizeof(*t->levels)) < 0)
		return -ENOMEM;
	level = &t->levels[t->n_levels++];
	*level =
		(struct level){.entries = malloc(MAX(p->n_children, 1u) * sizeof(*level->entries))};
	if (!level->entries)
		return -ENOMEM;
	for (uint32_t c = p->first_child; c != SNAP_NONE;
	     c = snapshot_node(t->snap, c)->next_sibling) {
		if (!is_shown(t, c))
			continue;
		level->entries[level->n++] = (struct entry){
			c, at(t->sort, c),
			t->compare == compare_names
				? snapshot_name(t->snap, c, (enum name_mode)t->o->names)
				: ""};
	}
	if (t->compare && level->n > 1)
		qsort(level->entries, level->n, sizeof(*level->entries), t->compare);
	return 0;
}

static int put_tree(struct tree *t)
{
	int r;

	put_row(t, 0);
	r = level_open(t, 0);
	while (r == 0 && t->n_levels && !t->out->error) {
		struct level *level = &t->levels[t->n_levels - 1];
		uint32_t node;

		if (level->at == level->n) {
			free(level->entries);
			t->n_levels--;
			continue;
		}
		node = level->entries[level->at++].node;
		put_row(t, node);
		if (snapshot_node(t->snap, node)->first_child != SNAP_NONE)
			r = level_open(t, node);
	}
	while (t->n_levels)
		free(t->levels[--t->n_levels].entries);
	return r;
}

/* ---- setup ---- */

static int sort_parse(struct tree *t)
{
	const char *sort = t->o->sort ? t->o->sort : "time (ns)";
	int column;

	if (!*sort)
		return 0;
	if (!strcmp(sort, "name")) {
		t->compare = compare_names;
		return 0;
	}
	t->compare = compare_values;
	column = column_parse(snapshot_session(t->snap), !strcmp(sort, "total") ? "time" : sort,
			      !strcmp(sort, "total") ? 4 : strlen(sort));
	switch (column) {
	case COLUMN_CALLS:
		t->sort = t->count;
		return 0;
	case COLUMN_BYTES:
		t->sort = t->bytes;
		return 0;
	case COLUMN_FLOPS:
		t->sort = t->flops;
		return 0;
	case COLUMN_SHARE:
		t->sort = t->time;
		return 0;
	}
	if (column >= COLUMN_N) {
		t->sort = inclusive(t, (uint32_t)column - COLUMN_N);
		return 0;
	}
	if (derive_parse(snapshot_session(t->snap), sort, strlen(sort), &t->sort_by) < 0)
		return -EINVAL;
	t->sort = derive_column(t->derive, &t->sort_by);
	return t->sort ? 0 : -ENOMEM;
}

/* FLOPs of any width. */
static int load_flops(struct tree *t)
{
	static const uint32_t metrics[] = {METRIC_FLOPS, METRIC_FLOPS8, METRIC_FLOPS16, METRIC_FLOPS32,
					   METRIC_FLOPS64};
	uint32_t n = snapshot_n(t->snap);

	if (!t->flops_sum)
		t->flops_sum = malloc(MAX(n, 1u) * sizeof(*t->flops_sum));
	if (!t->flops_sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		t->flops_sum[i] = NAN;
	for (size_t m = 0; m < ARRAY_SIZE(metrics); m++) {
		const double *v = inclusive(t, metrics[m]);

		for (uint32_t i = 0; v && i < n; i++)
			if (!isnan(v[i]))
				t->flops_sum[i] = v[i] + (isnan(t->flops_sum[i]) ? 0 : t->flops_sum[i]);
	}
	t->flops = t->flops_sum;
	return 0;
}

static int load_columns(struct tree *t)
{
	t->time = inclusive(t, METRIC_TIME);
	t->count = inclusive(t, METRIC_COUNT);
	t->bytes = inclusive(t, METRIC_BYTES);
	t->min = inclusive(t, METRIC_TIME_MIN);
	t->max = inclusive(t, METRIC_TIME_MAX);
	t->async = inclusive(t, METRIC_ASYNC);
	t->all_ns = at(t->time, 0);
	for (unsigned i = 0; i < t->columns.n; i++) {
		if (t->columns.ids[i] == COLUMN_DERIVED)
			t->metrics[i] = derive_column(t->derive, &t->derived[i]);
		else if (t->columns.ids[i] >= COLUMN_N)
			t->metrics[i] = inclusive(t, t->columns.ids[i] - COLUMN_N);
	}
	return load_flops(t);
}

static double first_value(const struct tree *t, uint32_t node)
{
	struct numbers n;

	if (t->columns.ids[0] >= COLUMN_N)
		return at(t->metrics[0], node);
	numbers_of(t, node, &n);
	/* A share is thought of in percent. */
	return column_value(t->columns.ids[0], &n) * (t->columns.ids[0] == COLUMN_SHARE ? 100 : 1);
}

/* Values of the first column over all nodes, or NULL. */
static double *first_values(const struct tree *t)
{
	uint32_t n = snapshot_n(t->snap);
	double *v = malloc(MAX(n, 1u) * sizeof(*v));

	for (uint32_t i = 0; v && i < n; i++)
		v[i] = t->columns.n ? first_value(t, i) : NAN;
	return v;
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
		derive_masks(t->derive, NULL, t->shown, (enum totals)o->totals);
	return t->shown[0] ? load_columns(t) : -ENODATA;
}

static int filter_values(struct tree *t)
{
	_cleanup_(freep) double *v = NULL;

	if (t->o->least == 0)
		return 0;
	v = first_values(t);
	if (!v)
		return -ENOMEM;
	filter_at_least(t->shown, t->snap, v, t->o->least);
	derive_masks(t->derive, NULL, t->shown, (enum totals)t->o->totals);
	return t->shown[0] ? load_columns(t) : -ENODATA;
}

/* All nodes of the tree, by the first column. */
static int put_sorted(struct tree *t)
{
	uint32_t n = snapshot_n(t->snap), used = 0;
	_cleanup_(freep) struct entry *entries = malloc(MAX(n, 1u) * sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 1; i < n; i++)
		if (is_shown(t, i) && !isnan(first_value(t, i)))
			entries[used++] = (struct entry){i, first_value(t, i), ""};
	qsort(entries, used, sizeof(*entries), compare_values);
	out_printf(t->out, "\nSorted by %s\n",
		   column_title(snapshot_session(t->snap), &t->columns, 0));
	for (uint32_t i = 0; i < used; i++)
		put_row(t, entries[i].node);
	return 0;
}

static void put_why(const struct tree *t)
{
	const char *why = derive_why(t->derive);

	if (why)
		out_printf(t->out, "\nutil and bound: n/a where %s\n", why);
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

int report_tree(struct snapshot *snap, const struct report_options *o, struct out *out)
{
	struct tree t = {.snap = snap, .o = o, .out = out};
	int r;

	buf_init(&t.scratch, 0);
	t.derive = derive_new(snap, o->peaks);
	r = t.derive ? filter_names(&t) : -ENOMEM;
	if (r == 0)
		r = tree_columns(&t);
	if (r == 0)
		r = filter_values(&t);
	if (r == 0)
		r = sort_parse(&t);
	if (r == 0) {
		put_header(out, snapshot_session(snap), &t.columns, o);
		r = put_tree(&t);
	}
	if (r == 0 && o->print_sorted && t.columns.n)
		r = put_sorted(&t);
	if (r == 0)
		put_why(&t);
	free(t.levels);
	free(t.shown);
	free(t.flops_sum);
	buf_done(&t.scratch);
	derive_free(t.derive);
	return r;
}
