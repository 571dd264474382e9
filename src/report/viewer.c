/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/viewer.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "core/derive.h"
#include "core/pair.h"
#include "report/table.h"
#include "report/walk.h"

#define METRICS_MAX 64
#define SORTED_NAME 100 /* characters of a name in the flat list */

/* The profile, or the one that it is compared with. */
struct side {
	struct snapshot *snap;
	struct derive *derive;
	uint8_t *present, *counted; /* by node; present: only where two sides are compared */
	const double *values[METRICS_MAX];
};

struct viewer {
	struct snapshot *snap;
	const struct viewer_options *o;
	struct out *out;
	struct side sides[2]; /* the profile first */
	unsigned n_sides;
	uint8_t *shown;
	struct derived metrics[METRICS_MAX];
	const char *words[METRICS_MAX];
	size_t word_lens[METRICS_MAX];
	unsigned n_metrics;
	struct walk walk;
	struct buf scratch;
};

static const char *name_of(struct viewer *v, uint32_t node)
{
	return name_format(snapshot_name(v->snap, node, NAME_RAW), (enum name_format)v->o->format,
			   false, &v->scratch);
}

/* ---- values ---- */

static int parse_metrics(struct viewer *v, const char **ret_word)
{
	const struct session *s = snapshot_session(v->snap);
	const char *words = v->o->metrics;
	int r;

	do {
		size_t len = column_word_len(s, words);

		*ret_word = words;
		if (v->n_metrics == METRICS_MAX)
			return -EINVAL;
		r = derive_parse(s, words, len, &v->metrics[v->n_metrics]);
		if (r < 0)
			return r;
		if (v->metrics[v->n_metrics].metric == METRIC_CPU_TIME) /* as the file has it */
			v->metrics[v->n_metrics].inclusive = false;
		v->words[v->n_metrics] = words;
		v->word_lens[v->n_metrics++] = len;
		words += len;
	} while (*words++);
	return 0;
}

static int load_values(struct viewer *v, struct side *side)
{
	derive_masks(side->derive, side->counted, v->shown, TOTALS_UPSTREAM);
	for (unsigned i = 0; i < v->n_metrics; i++) {
		side->values[i] = derive_column(side->derive, &v->metrics[i]);
		if (!side->values[i])
			return -ENOMEM;
	}
	return 0;
}

static int add_side(struct viewer *v, struct snapshot *snap)
{
	struct side *side = &v->sides[v->n_sides++];

	side->snap = snap;
	side->derive = derive_new(snap, v->o->peaks);
	side->counted = filter_all(snap);
	if (v->o->before)
		side->present = pair_present(snapshot_session(snap));
	if (!side->derive || !side->counted || (v->o->before && !side->present))
		return -ENOMEM;
	filter_empty(side->counted, snap, side->present);
	return 0;
}

/* A node that reaches the threshold on one side is shown. */
static int filter_values(struct viewer *v)
{
	uint32_t n = snapshot_n(v->snap);
	_cleanup_(freep) uint8_t *passed = calloc(1, MAX(n, 1u)), *mask = malloc(MAX(n, 1u));
	int r = passed && mask ? 0 : -ENOMEM;

	for (unsigned i = 0; i < v->n_sides && r == 0; i++) {
		memcpy(mask, v->shown, n);
		r = load_values(v, &v->sides[i]);
		if (r == 0)
			filter_at_least(mask, v->snap, v->sides[i].values[0], v->o->threshold);
		for (uint32_t node = 0; node < n && r == 0; node++)
			passed[node] |= mask[node];
	}
	if (r == 0)
		memcpy(v->shown, passed, n);
	return r;
}

static int filter(struct viewer *v)
{
	uint32_t n = snapshot_n(v->snap);
	int r = 0;

	v->shown = calloc(1, MAX(n, 1u));
	if (!v->shown)
		return -ENOMEM;
	for (unsigned i = 0; i < v->n_sides; i++)
		for (uint32_t node = 0; node < n; node++)
			v->shown[node] |= v->sides[i].counted[node];
	if (v->o->include)
		r = filter_include(v->shown, v->snap, v->o->include, NULL);
	if (r == 0 && v->o->exclude)
		r = filter_exclude(v->shown, v->snap, v->o->exclude, NULL);
	/* The threshold applies to values from before it filters anything. */
	if (r == 0 && v->o->threshold != 0)
		r = filter_values(v);
	for (unsigned i = 0; i < v->n_sides && r == 0; i++)
		r = load_values(v, &v->sides[i]);
	return r == 0 && !v->shown[0] ? -ENODATA : r;
}

/* Has any frame that is shown a value of a metric? */
static bool has_value(const struct viewer *v, unsigned metric)
{
	for (unsigned i = 0; i < v->n_sides; i++)
		for (uint32_t node = 0; node < snapshot_n(v->snap); node++)
			if (v->shown[node] && !isnan(v->sides[i].values[metric][node]))
				return true;
	return false;
}

/* A column without any value says nothing, and reads as if it did. */
static int check_values(const struct viewer *v, const char **ret_word)
{
	for (unsigned i = 0; i < v->n_metrics; i++)
		if (!has_value(v, i)) {
			*ret_word = v->words[i];
			return -ENXIO;
		}
	return 0;
}

static double value_of(const struct viewer *v, unsigned metric, uint32_t node)
{
	double value = v->sides[0].values[metric][node];

	return v->n_sides == 1 ? value : pair_delta(v->sides[1].values[metric][node], value);
}

/* ---- tree ---- */

/* Words cannot be subtracted: show the profile's word, or if it has none the other side's. */
static void put_word(struct viewer *v, unsigned metric, uint32_t node)
{
	const struct side *side = &v->sides[0];

	if (isnan(side->values[metric][node]) && v->n_sides > 1)
		side = &v->sides[1];
	if (isnan(side->values[metric][node]))
		out_puts(v->out, "nan");
	else if (derived_word(&v->metrics[metric], 0))
		out_puts(v->out, derived_word(&v->metrics[metric], side->values[metric][node]));
	else
		put_name(v->out,
			 strtab_str(snapshot_session(side->snap)->strings,
				    (uint32_t)side->values[metric][node]),
			 0, false);
}

static void put_value(struct viewer *v, unsigned metric, uint32_t node)
{
	const struct session *s = snapshot_session(v->snap);
	const struct derived *m = &v->metrics[metric];
	double value = value_of(v, metric, node);
	const struct metric *raw = metric_table_get(s->metrics, m->metric);

	if (isnan(value) && node == 0 && m->op == DERIVED_VALUE && m->plain && m->inclusive)
		out_puts(v->out, "0.000"); /* Triton's files have a zero there for each metric */
	else if (derived_word(m, 0) || (raw && raw->type == METRIC_TEXT))
		put_word(v, metric, node);
	else if (isnan(value))
		out_puts(v->out, "nan");
	else
		out_printf(v->out, "%.3f", value);
}

/* Mark a path that only one side has. */
static void put_sided(struct viewer *v, uint32_t node)
{
	if (v->n_sides == 1 || v->sides[0].counted[node] == v->sides[1].counted[node])
		return;
	out_puts(v->out, v->sides[0].counted[node] ? " \xe2\x97\x80 " : " \xe2\x96\xb6 ");
}

static void put_row(void *ctx, uint32_t node)
{
	struct viewer *v = ctx;

	for (size_t i = 0; i < v->walk.n_levels; i++) {
		bool last = walk_level_is_last(&v->walk.levels[i]);

		if (i + 1 < v->walk.n_levels)
			out_puts(v->out, last ? "   " : "\xe2\x94\x82  ");
		else
			out_puts(v->out,
				 last ? "\xe2\x94\x94\xe2\x94\x80 " : "\xe2\x94\x9c\xe2\x94\x80 ");
	}
	for (unsigned i = 0; i < v->n_metrics; i++) {
		put_value(v, i, node);
		out_putc(v->out, ' ');
	}
	put_name(v->out, name_of(v, node), 0, false);
	put_sided(v, node);
	out_putc(v->out, '\n');
}

static bool take(void *ctx, uint32_t node, struct walk_entry *ret)
{
	struct viewer *v = ctx;

	ret->name = snapshot_name(v->snap, node, NAME_RAW);
	return v->shown[node];
}

static int put_tree(struct viewer *v)
{
	if (v->o->depth < 1)
		return 0;
	v->walk = (struct walk){.snap = v->snap,
				.depth = (size_t)v->o->depth,
				.take = take,
				.compare = walk_compare_names,
				.put = put_row,
				.ctx = v,
				.error = &v->out->error};
	return walk_tree(&v->walk);
}

/* ---- flat list ---- */

/* Four digits, at least one behind the point, an exponent from 1000 on: Python's "{:.4}". */
static void put_four_digits(struct out *out, double value)
{
	char text[32];
	int exponent;

	if (isnan(value) || isinf(value)) {
		out_puts(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	snprintf(text, sizeof(text), "%.3e", value);
	exponent = value == 0 ? 0 : atoi(strchr(text, 'e') + 1);
	if (exponent == 3) { /* %g would still write 1023 */
		char *digits_end = strchr(text, 'e'), *p = digits_end;

		while (p[-1] == '0')
			p--;
		if (p[-1] == '.')
			p--;
		memmove(p, digits_end, strlen(digits_end) + 1);
	} else {
		snprintf(text, sizeof(text), "%.4g", value);
	}
	out_puts(out, text);
	if (!strpbrk(text, ".e"))
		out_puts(out, ".0");
}

static void put_sorted_row(struct viewer *v, const struct walk_entry *e)
{
	const char *name = name_of(v, e->node), *p = name;
	size_t width = 0;

	while (*p && width < SORTED_NAME)
		for (width++, p++; ((unsigned char)*p & 0xc0) == 0x80;)
			p++;
	put_shown(v->out, name, (size_t)(p - name));
	if (*p) {
		out_puts(v->out, "...");
		width += 3;
	}
	out_spaces(v->out, 106 - width);
	put_four_digits(v->out, e->key);
	out_putc(v->out, '\n');
}

static int put_sorted(struct viewer *v)
{
	uint32_t n = snapshot_n(v->snap), used = 0;
	_cleanup_(freep) struct walk_entry *entries = malloc(MAX(n, 1u) * sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (v->shown[i])
			entries[used++] = (struct walk_entry){i, value_of(v, 0, i), ""};
	qsort(entries, used, sizeof(*entries), walk_compare_keys);
	out_puts(v->out, "Sorted kernels by metric ");
	put_shown(v->out, v->words[0], v->word_lens[0]);
	out_puts(v->out, v->metrics[0].op != DERIVED_UTIL ? " (inc)\n" : "\n");
	/* Upstream leaves out the first one, which as a rule is the root. */
	for (uint32_t i = 1; i < used; i++)
		put_sorted_row(v, &entries[i]);
	return 0;
}

int viewer_text(struct snapshot *snap, const struct viewer_options *options, struct out *out,
		const char **ret_word)
{
	struct viewer v = {.snap = snap, .o = options, .out = out};
	int r = parse_metrics(&v, ret_word);

	if (r < 0)
		return r;
	r = add_side(&v, snap);
	if (r == 0 && options->before)
		r = add_side(&v, options->before);
	if (r == 0)
		r = filter(&v);
	if (r == 0)
		r = check_values(&v, ret_word);
	if (r == 0)
		r = put_tree(&v);
	if (r == 0) {
		out_putc(out, '\n');
		if (options->print_sorted)
			r = put_sorted(&v);
	}
	while (v.n_sides) {
		struct side *side = &v.sides[--v.n_sides];

		free(side->present);
		free(side->counted);
		derive_free(side->derive);
	}
	free(v.shown);
	buf_done(&v.scratch);
	return r;
}

/* ---- list ---- */

static bool has_values(const struct session *s, uint32_t metric)
{
	union metric_value value;

	for (uint32_t node = 0; node < s->n_nodes; node++)
		if (session_value(s, node, metric, &value))
			return true;
	return false;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The name without its unit, in lower case. */
static void put_metric(struct out *out, const char *name)
{
	size_t len = metric_bare_len(name);
	_cleanup_(buf_done) struct buf lower = {0};

	for (size_t i = 0; i < len; i++)
		buf_putc(&lower,
			 (char)((unsigned char)name[i] < 0x80 ? tolower(name[i]) : name[i]));
	out_puts(out, "- ");
	put_shown(out, buf_str(&lower), lower.len);
	out_putc(out, '\n');
}

/* By name: the order of the keys in a file. */
static int list_scope(const struct session *s, bool inclusive, struct out *out)
{
	uint32_t n = metric_table_count(s->metrics), used = 0;
	_cleanup_(freep) const char **names = malloc((n + 2) * sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct metric *m = metric_table_get(s->metrics, i);

		if ((m->scope == METRIC_INCLUSIVE) == inclusive && has_values(s, i))
			names[used++] = m->name;
	}
	if (!inclusive && s->n_devices) {
		names[used++] = "device_id";
		names[used++] = "device_type";
	}
	qsort(names, used, sizeof(*names), compare_words);
	for (uint32_t i = 0; i < used; i++)
		put_metric(out, names[i]);
	return 0;
}

int viewer_list(const struct session *s, struct out *out)
{
	int r;

	out_puts(out, "Available inclusive metrics:\n");
	r = list_scope(s, true, out);
	out_puts(out, "Available exclusive metrics:\n- name\n");
	return r < 0 ? r : list_scope(s, false, out);
}
