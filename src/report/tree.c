/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The calling context tree as text. No recursion: a tree may be deeper than a stack. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "core/least.h"
#include "core/pair.h"
#include "naming/table.h"
#include "report/names.h"
#include "report/report_impl.h"
#include "report/sorting.h"
#include "report/table.h"
#include "report/walk.h"

/* The profile, or the one that it is compared with. */
struct side {
	struct snapshot *snap;
	struct derive *derive;
	struct derived_terms *terms; /* by column */
	struct derived_terms sort;
	const double *time; /* inclusive; NULL: the profile has no time */
	uint8_t *present;   /* only where two sides are compared */
};

struct tree {
	struct snapshot *snap;
	const struct report_options *o;
	struct out *out;
	struct report_columns columns;
	struct walk walk;
	struct side sides[2]; /* the profile first */
	unsigned n_sides;
	struct sorting sorting;
	unsigned n_omitted; /* columns left out because the terminal is too narrow … */
	struct buf omitted; /* … and the names of those that only this profile has */
	uint8_t *shown;
	struct buf scratch;
	struct name_table *names;        /* NULL: each is cut by itself */
	bool any_guessed, any_estimated; /* of the rows that were put */
	uint32_t n_more;                 /* rows that tree_rows leaves out */
};

static const struct session *session(const struct tree *t)
{
	return snapshot_session(t->snap);
}

static double at(const double *v, uint32_t node)
{
	return v ? v[node] : NAN;
}

/* The value of one side in a column. */
static double side_value(const struct tree *t, const struct side *side, size_t i, uint32_t node)
{
	return derive_at(side->derive, &t->columns.v[i].spec.derived, &side->terms[i], node, 0);
}

/* The value that a column shows: of the profile, or the difference of the sides. */
static double value_of(const struct tree *t, size_t i, uint32_t node)
{
	double value = side_value(t, &t->sides[0], i, node);

	return t->n_sides == 1 ? value : pair_delta(side_value(t, &t->sides[1], i, node), value);
}

/* ---- columns ---- */

static bool any_has(const struct tree *t, const struct derived *m)
{
	for (unsigned i = 0; i < t->n_sides; i++)
		if (derive_has(t->sides[i].derive, m))
			return true;
	return false;
}

static int add_usual(struct tree *t, enum usual_column usual)
{
	return any_has(t, &usual_columns[usual].derived)
		       ? report_columns_add_usual(&t->columns, usual)
		       : 0;
}

static int add_own(struct tree *t, uint32_t metric)
{
	struct column_spec spec;
	size_t len;

	if (!derive_is_own(session(t), metric))
		return 0;
	column_of_metric(session(t), metric, &spec, &len);
	if (!any_has(t, &spec.derived))
		return 0;
	if (t->o->width && report_columns_width(&t->columns) + len + NAME_ROOM > t->o->width) {
		t->n_omitted++;
		buf_printf(&t->omitted, "%s%.*s", t->omitted.len ? ", " : "", (int)len, spec.title);
		return 0;
	}
	return report_columns_add(&t->columns, &spec, spec.title, len);
}

/* The usual columns that have values, and metrics that are not built in. */
static int columns_default(struct tree *t)
{
	static const enum usual_column usual[] = {USUAL_TOTAL, USUAL_SHARE, USUAL_CALLS, USUAL_AVG,
						  USUAL_BYTES, USUAL_GBPS,  USUAL_FLOPS, USUAL_TFPS,
						  USUAL_CPU,   USUAL_ON_CPU};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(usual) && r == 0; i++)
		r = add_usual(t, usual[i]);
	if (r == 0 && !any_has(t, &usual_columns[USUAL_TOTAL].derived))
		r = add_usual(t, USUAL_ENTERED);
	for (uint32_t m = 0; m < metric_table_count(session(t)->metrics) && r == 0; m++)
		r = add_own(t, m);
	return r;
}

/* Words cannot be subtracted: show the profile's word, or if it has none the other side's. */
static void print_word(const struct tree *t, size_t i, uint32_t node, char text[COLUMN_TEXT])
{
	double v = NAN;
	unsigned k = 0;

	while (k < t->n_sides && isnan(v = side_value(t, &t->sides[k], i, node)))
		k++;
	column_print(&t->columns.v[i].spec, snapshot_session(t->sides[k < t->n_sides ? k : 0].snap),
		     v, true, text);
}

static void print_cell(const struct tree *t, size_t i, uint32_t node, char text[COLUMN_TEXT + 1])
{
	const struct column_spec *spec = &t->columns.v[i].spec;
	double v;
	bool plus;

	if (spec->form == FORM_WORD) {
		print_word(t, i, node, text);
		return;
	}
	v = value_of(t, i, node);
	plus = t->n_sides > 1 && v > 0 && isfinite(v);
	*text = '+';
	column_print(spec, session(t), v, true, text + plus);
}

static void put_cell(const struct tree *t, size_t i, uint32_t node)
{
	char text[COLUMN_TEXT + 1];

	print_cell(t, i, node, text);
	column_put(t->out, &t->columns.v[i], text, t->o);
}

/* Fit the width to the content. Only words and numbers in a fixed unit may need more than usual. */
static void make_room(struct tree *t, size_t i)
{
	struct report_column *c = &t->columns.v[i];
	uint32_t least = SNAP_NONE, most = SNAP_NONE;
	char text[COLUMN_TEXT + 1];

	if (c->spec.form != FORM_WORD && c->spec.form != FORM_PLAIN)
		return;
	for (uint32_t node = 0; node < snapshot_n(t->snap); node++) {
		double v = t->shown[node] ? value_of(t, i, node) : NAN;

		if (c->spec.form == FORM_WORD && !isnan(v)) {
			print_cell(t, i, node, text);
			column_make_room(c, text, t->o);
		}
		if (isfinite(v) && (least == SNAP_NONE || v < value_of(t, i, least)))
			least = node;
		if (isfinite(v) && (most == SNAP_NONE || v > value_of(t, i, most)))
			most = node;
	}
	for (unsigned k = 0; k < 2 && most != SNAP_NONE; k++) {
		print_cell(t, i, k ? least : most, text);
		column_make_room(c, text, t->o);
	}
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

/* What to print behind a path that only one side has. */
static const char *sided_word(const struct tree *t, uint32_t node)
{
	if (t->n_sides == 1 || t->sides[0].present[node] == t->sides[1].present[node])
		return "";
	return t->sides[0].present[node] ? " (new)" : " (gone)";
}

static const char *name_of(struct tree *t, uint32_t node)
{
	return name_format(snapshot_name(t->snap, node, (enum name_mode)t->o->names),
			   (enum name_format)t->o->format, true, &t->scratch);
}

/* What stands before a name that is not known for sure, as calls of its context were sampled, or before what was not
 * measured. */
static const char *guess_mark(const struct tree *t, uint32_t node)
{
	return snapshot_is_guessed(t->snap, node) || snapshot_is_estimated(t->snap, node)
		       ? ESTIMATED_MARK
		       : "";
}

/* Columns of the name, where the lines before it take so many. */
static size_t room_of(const struct tree *t, uint32_t node, size_t lines)
{
	return name_room(t->o, report_columns_width(&t->columns) + lines +
				       strlen(sided_word(t, node)) + strlen(guess_mark(t, node)));
}

static size_t put_lines(const struct tree *t, struct out *out)
{
	return walk_put_lines(&t->walk, t->o, report_columns_width(&t->columns), out);
}

static void see_row(void *ctx, uint32_t node)
{
	struct tree *t = ctx;

	if (t->names)
		name_table_get(t->names, name_of(t, node), room_of(t, node, put_lines(t, NULL)));
}

static void put_row(void *ctx, uint32_t node)
{
	struct tree *t = ctx;
	const struct side *side = &t->sides[0];
	size_t lines;

	if (t->o->color)
		put_heat(t, at(side->time, node) / at(side->time, 0));
	for (size_t i = 0; i < t->columns.n; i++)
		put_cell(t, i, node);
	if (t->o->color)
		out_puts(t->out, "\033[0m");
	out_puts(t->out, "  ");
	lines = put_lines(t, t->out);
	t->any_guessed |= snapshot_is_guessed(t->snap, node);
	t->any_estimated |= snapshot_is_estimated(t->snap, node);
	out_puts(t->out, guess_mark(t, node));
	put_name_of(t->out, t->names, name_of(t, node), room_of(t, node, lines), t->o->ascii);
	out_puts(t->out, sided_word(t, node));
	out_putc(t->out, '\n');
}

/* ---- order ---- */

/* ROWS_OF_* */
static unsigned asked_rows(const struct tree *t)
{
	unsigned asked = 0;

	for (size_t i = 0; i < t->columns.n; i++)
		asked |= column_rows(&t->columns.v[i].spec);
	return asked;
}

static bool is_shown(const struct tree *t, uint32_t node)
{
	bool enough = !(t->o->threshold > 0);

	if (!t->shown[node])
		return false;
	for (unsigned i = 0; i < t->n_sides && !enough; i++)
		enough = at(t->sides[i].time, node) / at(t->sides[i].time, 0) >= t->o->threshold;
	return enough;
}

/* Rows without time on a device, which all rows are sorted by, stand behind those that have it: those
 * with the most time on the host first. */
static double sort_behind(const struct side *side, uint32_t node)
{
	const double *host = derive_used(side->derive, METRIC_CPU_TIME, true);

	return -1 / at(host, node);
}

static double sort_value(const struct tree *t, struct side *side, uint32_t node)
{
	double v = derive_at(side->derive, &t->sorting.column.derived, &side->sort, node, 0);

	return isnan(v) && !t->o->sort && t->n_sides == 1 ? sort_behind(side, node) : v;
}

/* Differences are sorted by their size. */
static double sort_key(struct tree *t, uint32_t node)
{
	double key = sort_value(t, &t->sides[0], node);

	return t->n_sides == 1 ? key : fabs(pair_delta(sort_value(t, &t->sides[1], node), key));
}

static bool take(void *ctx, uint32_t node, struct walk_entry *ret)
{
	struct tree *t = ctx;

	if (!is_shown(t, node))
		return false;
	*ret = sorting_entry(
		&t->sorting, session(t), node, t->sorting.by_column ? sort_key(t, node) : NAN,
		t->sorting.by_name ? snapshot_name(t->snap, node, (enum name_mode)t->o->names)
				   : "");
	return true;
}

/* A new list of names, which are all seen before the first is put. Without memory for it each is cut
 * by itself. */
static void begin_names(struct tree *t)
{
	t->names = name_table_free(t->names);
	if (t->o->width)
		t->names = name_table_new(dots_of(t->o->ascii));
}

static int walk_rows(struct tree *t, void (*each)(void *ctx, uint32_t node))
{
	t->walk.put = each;
	return walk_tree(&t->walk);
}

static int put_tree(struct tree *t)
{
	int r = 0;

	t->walk = (struct walk){.snap = t->snap,
				.depth = t->o->depth,
				.take = take,
				.compare = sorting_compare(&t->sorting),
				.ctx = t,
				.error = &t->out->error};
	begin_names(t);
	if (t->names) {
		r = walk_rows(t, see_row);
		name_table_tell_apart(t->names);
	}
	return r == 0 ? walk_rows(t, put_row) : r;
}

/* ---- setup ---- */

/* Hide in t->shown the nodes that reach the limit on neither side. */
static int filter_least(struct tree *t)
{
	uint32_t n = snapshot_n(t->snap);
	_cleanup_(freep) uint8_t *mask = malloc(MAX(n, 1u)), *passed = calloc(1, MAX(n, 1u));
	const struct least least = {.word = t->o->columns, .at = t->o->least};
	struct derived limit;
	int r = least_parse(&least, session(t), &limit);

	if (r < 0)
		return least_error(r);
	if (!mask || !passed)
		return -ENOMEM;
	for (unsigned i = 0; i < t->n_sides; i++) {
		const double *v = derive_column(t->sides[i].derive, &limit);

		if (!v)
			return -ENOMEM;
		memcpy(mask, t->shown, n);
		filter_at_least(mask, t->snap, v, least.at.value);
		for (uint32_t node = 0; node < n; node++)
			passed[node] |= mask[node];
	}
	memcpy(t->shown, passed, n);
	return 0;
}

/* What a row is chosen by: its time, on the side that has more. */
static double size_of(const struct tree *t, uint32_t node)
{
	double v = at(t->sides[0].time, node);

	return t->n_sides > 1 ? fmax(v, at(t->sides[1].time, node)) : v;
}

/* Hide all but the rows with the most time: those above have as much or more, and come first. */
static int keep_largest(struct tree *t)
{
	const struct snap_node *nodes = snapshot_nodes(t->snap);
	uint32_t n = snapshot_n(t->snap), used = 0;
	_cleanup_(freep) struct walk_entry *entries = malloc(MAX(n, 1u) * sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (is_shown(t, i) && !(t->o->depth && nodes[i].depth >= t->o->depth))
			entries[used++] = (struct walk_entry){i, size_of(t, i), ""};
	qsort(entries, used, sizeof(*entries), walk_compare_keys);
	for (uint32_t i = t->o->tree_rows; i < used; i++)
		t->shown[entries[i].node] = 0;
	t->n_more = used - MIN(used, t->o->tree_rows);
	return 0;
}

static void mask_sides(struct tree *t)
{
	for (unsigned i = 0; i < t->n_sides; i++)
		derive_masks(t->sides[i].derive, NULL, t->shown, (enum totals)t->o->totals);
}

/* The names that a mask leaves; NULL: all. */
static int choose_names(struct tree *t, const uint8_t *mask)
{
	uint32_t time;

	t->shown = filter_all(t->snap);
	if (!t->shown)
		return -ENOMEM;
	if (mask) {
		memcpy(t->shown, mask, snapshot_n(t->snap));
		mask_sides(t);
	}
	time = derive_time(session(t));
	for (unsigned i = 0; i < t->n_sides; i++)
		t->sides[i].time = derive_used(t->sides[i].derive, time, true);
	return 0;
}

static int filter_values(struct tree *t)
{
	int r = filter_out_unasked(t->shown, t->snap, asked_rows(t));

	if (r < 0 || t->o->least.value == 0)
		return r;
	r = filter_least(t); /* hides rows only: they still count in the values of others */
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
	qsort(entries, used, sizeof(*entries), walk_compare_keys);
	begin_names(t);
	for (uint32_t i = 0; i < used && t->names; i++)
		see_row(t, entries[i].node);
	if (t->names)
		name_table_tell_apart(t->names);
	out_puts(t->out, "\nSorted by ");
	put_name(t->out, t->columns.v[0].title, 0, t->o->ascii);
	out_putc(t->out, '\n');
	for (uint32_t i = 0; i < used; i++)
		put_row(t, entries[i].node);
	return 0;
}

/* Who has not read the manual takes the mark for a part of the name. */
static void put_guessed(const struct tree *t)
{
	if (t->any_guessed)
		out_puts(t->out, "(~ some calls may belong elsewhere)\n");
	if (t->any_estimated)
		out_puts(t->out, ESTIMATED_LINE);
}

/* Rates of the whole, where most of it may have nothing to do with them. */
static void put_parts(struct tree *t)
{
	char text[HUMAN_MAX];
	unsigned n = 0;

	if (t->n_sides > 1 || t->o->totals == TOTALS_UPSTREAM)
		return;
	for (size_t i = 0; i < t->columns.n; i++) {
		double part =
			derive_rate_part(t->sides[0].derive, &t->columns.v[i].spec.derived, 0);

		if (isnan(part))
			continue;
		human_percent(text, part);
		out_puts(t->out, n++ ? ", " : "(ROOT: ");
		put_name(t->out, t->columns.v[i].title, 0, t->o->ascii);
		out_printf(t->out, " over %s %%", text);
	}
	if (n)
		out_puts(t->out, " of its time)\n");
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
	int r = t->o->columns ? report_columns_add_words(&t->columns, session(t), t->o->columns)
			      : columns_default(t);

	for (size_t i = 0; i < t->columns.n; i++)
		t->columns.v[i].width += t->n_sides - 1;
	if (!t->o->columns)
		t->n_omitted += report_columns_narrow(&t->columns, t->o->width);
	for (unsigned i = 0; i < t->n_sides && r == 0; i++) {
		t->sides[i].terms =
			calloc(MAX(t->columns.n, (size_t)1), sizeof(*t->sides[i].terms));
		r = t->sides[i].terms ? 0 : -ENOMEM;
	}
	return r;
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

static int tree_make(struct tree *t, const uint8_t *mask)
{
	int r = add_side(t, t->snap);

	if (r == 0 && t->o->before)
		r = add_side(t, t->o->before);
	if (r == 0)
		r = choose_names(t, mask);
	if (r == 0)
		r = tree_columns(t);
	if (r == 0)
		r = filter_values(t);
	for (size_t i = 0; i < t->columns.n && r == 0; i++)
		make_room(t, i);
	if (r == 0 && t->o->tree_rows)
		r = keep_largest(t);
	return r < 0 ? r : sorting_parse(&t->sorting, session(t), t->o->sort) < 0 ? -EINVAL : 0;
}

static void tree_done(struct tree *t)
{
	while (t->n_sides) {
		struct side *side = &t->sides[--t->n_sides];

		free(side->terms);
		free(side->present);
		derive_free(side->derive);
	}
	report_columns_done(&t->columns);
	name_table_free(t->names);
	free(t->shown);
	buf_done(&t->scratch);
	buf_done(&t->omitted);
}

/* Names that nobody knows by heart, as those of hardware metrics, are told: -m wants them. */
static void put_narrow(struct tree *t)
{
	static const char head[] = "(of this profile: ";

	put_omitted(t->out, t->n_omitted);
	if (!t->omitted.len)
		return;
	buf_putc(&t->omitted, ')');
	out_puts(t->out, head);
	put_wrapped(t->out, buf_str(&t->omitted), strlen(head),
		    MAX(t->o->width, strlen(head) + NAME_ROOM));
	out_putc(t->out, '\n');
}

int report_tree(struct snapshot *snap, const uint8_t *mask, const struct report_options *o,
		struct out *out)
{
	struct tree t = {.snap = snap, .o = o, .out = out};
	int r = tree_make(&t, mask);

	if (r == 0) {
		put_header(out, &t.columns, 0, o);
		r = put_tree(&t);
		if (r == 0 && t.n_more)
			out_printf(out, "(%u more)\n", t.n_more);
	}
	if (r == 0 && o->print_sorted && t.columns.n)
		r = put_sorted(&t);
	if (r == 0) {
		put_narrow(&t);
		put_guessed(&t);
		put_parts(&t);
		put_why(&t);
	}
	tree_done(&t);
	return r;
}
