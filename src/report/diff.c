/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/human.h"
#include "base/shown.h"
#include "base/util.h"
#include "format/json_writer.h"
#include "report/table.h"

#define VALUE_WIDTH   8
#define DELTA_WIDTH   9
#define PERCENT_WIDTH 8
#define STATUS_WIDTH  8
#define FACT_MOST     1000 /* columns of what was run, where no width limits it */
#define MARKDOWN_ROWS 100  /* comments on pull requests are limited in size */

struct printer {
	const struct diff *d;
	const struct diff_print *p;
	struct out *out;
	uint32_t *ids; /* what gets a line, in order */
	uint32_t n, n_left_out;
	uint32_t n_elsewhere; /* whose change is told where it arises */
	bool several;         /* a side has several runs */
	size_t value_width, delta_width;
	struct buf name;
	struct session *frames; /* one for each name of the comparison, so that names can differ */
	uint32_t *nodes;        /* of it, by node of the comparison */
	struct frame_names *names;
};

/* ---- which rows ---- */

double diff_least(const struct diff *d, const struct diff_print *p)
{
	const struct diff_value *total = diff_total(d);
	double whole = 0;
	unsigned side;

	for (side = 0; side < DIFF_N_SIDES; side++)
		if (total->side[side].n)
			whole = fmax(whole, fabs(total->side[side].median));
	return fmax(p->least, p->threshold * whole);
}

bool diff_is_shown(const struct diff *d, const struct diff_print *p, uint32_t id)
{
	const struct diff_node *n = diff_node(d, id);

	if (p->depth && n->depth > p->depth)
		return false;
	if ((p->threshold > 0 || p->least > 0) && !(fabs(n->value.delta) >= diff_least(d, p)))
		return false;
	return p->all || n->value.status != DIFF_SAME;
}

static uint32_t tree_next(const struct diff *d, uint32_t id)
{
	if (diff_node(d, id)->first_child != DIFF_NONE)
		return diff_node(d, id)->first_child;
	while (id != DIFF_NONE && diff_node(d, id)->next_sibling == DIFF_NONE)
		id = diff_node(d, id)->parent;
	return id == DIFF_NONE ? id : diff_node(d, id)->next_sibling;
}

/* The nodes that are shown and those above them, in the order of the tree. */
static int choose_tree(struct printer *x)
{
	uint32_t n = diff_n(x->d), id;
	bool *keep = calloc(n, sizeof(*keep));

	x->ids = malloc(n * sizeof(*x->ids));
	if (!keep || !x->ids) {
		free(keep);
		return -ENOMEM;
	}
	for (id = n; id-- > 1;) {
		keep[id] |= diff_is_shown(x->d, x->p, id);
		keep[diff_node(x->d, id)->parent] |= keep[id];
	}
	for (id = tree_next(x->d, 0); id != DIFF_NONE; id = tree_next(x->d, id))
		if (keep[id])
			x->ids[x->n++] = id;
	free(keep);
	return 0;
}

static int choose_flat(struct printer *x)
{
	uint32_t n = diff_n(x->d) - 1, i;

	x->ids = diff_sorted(x->d);
	if (!x->ids)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		uint32_t id = x->ids[i];

		if (!diff_is_shown(x->d, x->p, id))
			continue;
		if (x->p->all || x->p->format == DIFF_JSON || diff_is_cause(x->d, id))
			x->ids[x->n++] = id;
		else
			x->n_elsewhere++;
	}
	return 0;
}

static int choose(struct printer *x)
{
	int r = x->p->tree ? choose_tree(x) : choose_flat(x);
	unsigned rows = x->p->rows;

	if (!rows && x->p->format == DIFF_MARKDOWN)
		rows = MARKDOWN_ROWS;
	if (rows && x->n > rows) {
		x->n_left_out = x->n - rows;
		x->n = rows;
	}
	return r;
}

/* ---- values ---- */

static size_t format_value(const struct diff *d, double v, bool sign, char out[COLUMN_TEXT + 1])
{
	bool has_sign = sign && (v < 0 || v > 0);

	*out = v < 0 ? '-' : '+';
	column_print(diff_column(d), NULL, sign ? fabs(v) : v, true, out + has_sign);
	return strlen(out);
}

static void put_value(struct printer *x, double v, bool sign, size_t width)
{
	char text[COLUMN_TEXT + 1];

	format_value(x->d, v, sign, text);
	put_right(x->out, text, width);
}

static void make_room(struct printer *x, const struct diff_value *v)
{
	char text[COLUMN_TEXT + 1];

	for (unsigned side = 0; side < DIFF_N_SIDES; side++) {
		x->value_width =
			MAX(x->value_width, format_value(x->d, v->side[side].min, false, text));
		x->value_width =
			MAX(x->value_width, format_value(x->d, v->side[side].median, false, text));
	}
	x->delta_width = MAX(x->delta_width, format_value(x->d, v->delta, true, text));
}

/* Widths of the columns. Numbers in a fixed unit may have any length. */
static void measure(struct printer *x)
{
	x->value_width = VALUE_WIDTH;
	x->delta_width = DELTA_WIDTH;
	if (diff_column(x->d)->form != FORM_PLAIN)
		return;
	make_room(x, diff_total(x->d));
	for (uint32_t i = 0; i < x->n; i++)
		make_room(x, &diff_node(x->d, x->ids[i])->value);
}

static void format_ratio(char out[HUMAN_MAX], const struct diff_value *v)
{
	char times[HUMAN_MAX];

	if (v->status == DIFF_NEW || v->status == DIFF_GONE)
		snprintf(out, HUMAN_MAX, "%s", diff_status_word((enum diff_status)v->status));
	else if (isnan(v->ratio) || isinf(v->ratio))
		snprintf(out, HUMAN_MAX, "-");
	else if (fabs(v->ratio) >= 99.995) {
		human_count(times, round(fabs(v->ratio)));
		snprintf(out, HUMAN_MAX, "%c%.*sx", v->ratio < 0 ? '-' : '+', HUMAN_MAX - 3, times);
	} else
		snprintf(out, HUMAN_MAX, v->ratio == 0 ? "%.1f" : "%+.1f", v->ratio * 100);
}

/* Does a value differ, but by no more than the runs of one side do? */
static bool is_noise(const struct printer *x, const struct diff_value *v)
{
	return x->several && v->status == DIFF_SAME && v->delta != 0 && !isnan(v->delta);
}

static const char *status_word(const struct printer *x, const struct diff_value *v)
{
	return is_noise(x, v) ? "noise" : diff_status_word((enum diff_status)v->status);
}

/* The values of both sides (two each where there are several runs) and the change. */
static void put_values(struct printer *x, const struct diff_value *v, const char *between)
{
	unsigned side;
	char ratio[HUMAN_MAX];

	for (side = 0; side < DIFF_N_SIDES; side++) {
		const struct diff_range *r = &v->side[side];

		if (x->several) {
			put_value(x, r->n ? r->min : NAN, false, x->value_width);
			out_puts(x->out, between);
		}
		put_value(x, r->n ? r->median : NAN, false, x->value_width);
		out_puts(x->out, between);
	}
	put_value(x, v->delta, true, x->delta_width);
	out_puts(x->out, between);
	format_ratio(ratio, v);
	put_right(x->out, ratio, PERCENT_WIDTH);
	out_puts(x->out, between);
}

/* ---- names ---- */

/* Readable names, of both sides together: those that are alike get longer. */
static int make_names(struct printer *x)
{
	uint32_t n = diff_n(x->d);

	x->frames = session_new();
	x->nodes = malloc(n * sizeof(*x->nodes));
	if (!x->frames || !x->nodes)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++) {
		uint32_t name = strtab_adds(x->frames->strings, diff_name(x->d, id));
		uint32_t frame =
			session_frame_intern(x->frames, (enum frame_kind)diff_node(x->d, id)->kind,
					     name, SESSION_NONE, 0);

		if (name == STRTAB_NONE || frame == SESSION_NONE)
			return -ENOMEM;
		x->nodes[id] = session_node_intern(x->frames, SESSION_ROOT, frame);
		if (x->nodes[id] == SESSION_NONE)
			return -ENOMEM;
	}
	x->names = frame_names_new(x->frames, x->p->naming, false);
	return x->names ? 0 : -ENOMEM;
}

static const char *shown_name(const struct printer *x, uint32_t id)
{
	return frame_names_get(x->names, x->nodes[id], (enum name_mode)x->p->names);
}

/* The name in the tree, or the whole path in a list. */
static const char *name_of(struct printer *x, uint32_t id)
{
	const char *path[64];
	uint32_t n = 0, i;

	buf_clear(&x->name);
	if (x->p->tree || id == 0) {
		buf_printf(&x->name, "%*s", 2 * MIN((int)diff_node(x->d, id)->depth, 40), "");
		buf_puts(&x->name, shown_name(x, id));
		return buf_str(&x->name);
	}
	for (i = id; i && n < ARRAY_SIZE(path); i = diff_node(x->d, i)->parent)
		path[n++] = shown_name(x, i);
	if (i)
		buf_puts(&x->name, x->p->ascii ? "... > " : "\xe2\x80\xa6 \xe2\x80\xba ");
	put_path(&x->name, path, n, x->p->ascii);
	return buf_str(&x->name);
}

/* Cut a path at its front: its end is what matters. */
static const char *cut_front(const struct printer *x, const char *name, size_t room)
{
	size_t width = name_width(name), left;
	const char *end = name + strlen(name);
	struct shown s = {0};

	if (!room || width <= room || x->p->tree)
		return name;
	for (left = room > 4 ? room - 4 : 0; width > left && name < end; width -= s.columns)
		name = shown_next(name, end, &s);
	return name + strspn(name, " ");
}

/* ---- text ---- */

static void put_title(struct printer *x, const char *text, size_t width)
{
	put_right(x->out, text, width);
	out_puts(x->out, " ");
}

/* What was run is not the same: a line that says so. False: it is, or nobody knows. */
static bool put_fact(struct printer *x, enum run_fact fact)
{
	const struct run_facts *facts = x->p->facts;
	size_t room = x->p->width ? MAX(x->p->width / 2, 40) - 20 : FACT_MOST;

	if (!run_facts_differ(&facts[DIFF_A], &facts[DIFF_B], fact))
		return false;
	out_printf(x->out, "B: %s: ", run_fact_words(fact));
	put_name(x->out, facts[DIFF_B].text[fact], room, x->p->ascii);
	out_puts(x->out, " (A: ");
	put_name(x->out, facts[DIFF_A].text[fact], room, x->p->ascii);
	out_puts(x->out, ")\n");
	return true;
}

/* The same in Markdown, where it is no more than text either. */
static bool put_fact_as_code(struct printer *x, enum run_fact fact)
{
	const struct run_facts *facts = x->p->facts;

	if (!run_facts_differ(&facts[DIFF_A], &facts[DIFF_B], fact))
		return false;
	out_printf(x->out, "> B: %s: ", run_fact_words(fact));
	put_code(x->out, facts[DIFF_B].text[fact], FACT_MOST);
	out_puts(x->out, " (A: ");
	put_code(x->out, facts[DIFF_A].text[fact], FACT_MOST);
	out_puts(x->out, ")  \n");
	return true;
}

static void text_header(struct printer *x)
{
	static const char names[] = "AB";
	const char *delta = x->p->ascii ? "DIFF" : "\xce\x94";
	const char *percent = x->p->ascii ? "DIFF%" : "\xce\x94%";
	unsigned side, i;
	char title[8];

	for (side = 0; side < DIFF_N_SIDES; side++)
		for (i = 0; i < x->p->n_files[side]; i++) {
			out_printf(x->out, "%c  ", names[side]);
			put_name(x->out, x->p->files[side][i], 0, x->p->ascii);
			out_putc(x->out, '\n');
		}
	for (i = 0; i < RUN_FACT_N; i++)
		put_fact(x, (enum run_fact)i);
	put_name(x->out, diff_metric(x->d), 0, x->p->ascii);
	out_printf(x->out, ", %s%s\n\n", diff_is_exclusive(x->d) ? "exclusive" : "inclusive",
		   x->several ? "; changed: the runs of A and of B do not overlap" : "");
	for (side = 0; side < DIFF_N_SIDES; side++) {
		if (x->several) {
			snprintf(title, sizeof(title), "%c MIN", names[side]);
			put_title(x, title, x->value_width);
		}
		snprintf(title, sizeof(title), "%c%s", names[side], x->several ? " MED" : "");
		put_title(x, title, x->value_width);
	}
	put_title(x, delta, x->delta_width);
	put_title(x, percent, PERCENT_WIDTH);
	out_puts(x->out, " STATUS   NAME\n");
}

/* Growth is red, shrinking is green. The sign says the same to those who do not see colours. */
static const char *color_of(const struct printer *x, const struct diff_value *v)
{
	if (!x->p->color || v->status == DIFF_SAME || !(v->delta > 0 || v->delta < 0))
		return "";
	return v->delta > 0 ? "\033[31m" : "\033[32m";
}

static void text_row(struct printer *x, uint32_t id, const struct diff_value *v)
{
	size_t columns = (x->several ? 4 : 2) * (x->value_width + 1) + x->delta_width + 1 +
			 PERCENT_WIDTH + 1 + STATUS_WIDTH + 2;
	size_t room = !x->p->width ? 0 : x->p->width > columns + 8 ? x->p->width - columns - 1 : 8;
	const char *color = color_of(x, v), *name = name_of(x, id),
		   *shown = cut_front(x, name, room);

	out_puts(x->out, color);
	put_values(x, v, " ");
	out_puts(x->out, *color ? "\033[m " : " ");
	put_left(x->out, status_word(x, v), STATUS_WIDTH);
	out_putc(x->out, ' ');
	if (shown != name)
		out_puts(x->out, x->p->ascii ? "... " : "\xe2\x80\xa6 ");
	put_name(x->out, shown, room, x->p->ascii);
	out_putc(x->out, '\n');
}

/* "3 changed, 1 new, 0 gone, 96 same", and of several runs ", 12 noise". */
static void put_counts(struct printer *x)
{
	static const uint8_t order[] = {DIFF_CHANGED, DIFF_NEW, DIFF_GONE, DIFF_SAME};
	uint32_t counts[DIFF_N_STATUS] = {0}, noise = 0, i;

	for (i = 1; i < diff_n(x->d); i++) {
		const struct diff_value *v = &diff_node(x->d, i)->value;

		if (is_noise(x, v))
			noise++;
		else if (!isnan(v->delta))
			counts[v->status]++;
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		out_printf(x->out, "%s%u %s", i ? ", " : "", counts[order[i]],
			   diff_status_word((enum diff_status)order[i]));
	if (x->several)
		out_printf(x->out, ", %u noise", noise);
	if (x->n_left_out)
		out_printf(x->out, "; %u more lines", x->n_left_out);
	if (x->n_elsewhere)
		out_printf(x->out, "; %u follow%s from these (--all)", x->n_elsewhere,
			   x->n_elsewhere == 1 ? "s" : "");
	out_putc(x->out, '\n');
}

static void print_text(struct printer *x)
{
	uint32_t i;

	text_header(x);
	text_row(x, 0, diff_total(x->d));
	for (i = 0; i < x->n; i++)
		text_row(x, x->ids[i], &diff_node(x->d, x->ids[i])->value);
	out_putc(x->out, '\n');
	put_counts(x);
}

/* ---- markdown ---- */

static void markdown_row(struct printer *x, uint32_t id, const struct diff_value *v)
{
	out_puts(x->out, "| ");
	put_values(x, v, " | ");
	put_left(x->out, status_word(x, v), STATUS_WIDTH);
	out_puts(x->out, " | ");
	put_code(x->out, name_of(x, id), 0);
	out_puts(x->out, " |\n");
}

static void print_markdown(struct printer *x)
{
	const struct diff_value *total = diff_total(x->d);
	char ratio[HUMAN_MAX];
	bool any = false;
	uint32_t i;

	for (i = 0; i < RUN_FACT_N; i++)
		any |= put_fact_as_code(x, (enum run_fact)i);
	out_puts(x->out, any ? "\n" : "");
	format_ratio(ratio, total);
	out_puts(x->out, "**");
	put_name(x->out, diff_metric(x->d), 0, x->p->ascii);
	out_printf(x->out, "**, %s: ", diff_is_exclusive(x->d) ? "exclusive" : "inclusive");
	put_value(x, total->side[DIFF_A].median, false, 0);
	out_puts(x->out, " → ");
	put_value(x, total->side[DIFF_B].median, false, 0);
	out_puts(x->out, " (");
	put_value(x, total->delta, true, 0);
	out_printf(x->out, ", %s%s, %s)\n\n", ratio,
		   strspn(ratio, "+-") && ratio[1] && !strchr(ratio, 'x') ? " %" : "",
		   status_word(x, total));
	out_puts(x->out,
		 x->several ? "| A min | A | B min | B | Δ | Δ% | status | path |\n"
			      "|--:|--:|--:|--:|--:|--:|:--|:--|\n"
			    : "| A | B | Δ | Δ% | status | path |\n|--:|--:|--:|--:|:--|:--|\n");
	markdown_row(x, 0, total);
	for (i = 0; i < x->n; i++)
		markdown_row(x, x->ids[i], &diff_node(x->d, x->ids[i])->value);
	out_putc(x->out, '\n');
	put_counts(x);
}

/* ---- json ---- */

static void json_number(struct json_writer *w, const char *key, double v)
{
	jsonw_key(w, key);
	if (isfinite(v))
		jsonw_f64(w, v);
	else
		jsonw_null(w);
}

static void json_value(struct json_writer *w, const struct diff_value *v)
{
	static const char *const sides[] = {"a", "b"};
	unsigned side;

	jsonw_key_text(w, "status", diff_status_word((enum diff_status)v->status));
	for (side = 0; side < DIFF_N_SIDES; side++) {
		const struct diff_range *r = &v->side[side];

		jsonw_key(w, sides[side]);
		if (!r->n) {
			jsonw_null(w);
			continue;
		}
		jsonw_object(w);
		jsonw_key_u64(w, "runs", r->n);
		json_number(w, "min", r->min);
		json_number(w, "median", r->median);
		json_number(w, "max", r->max);
		jsonw_object_end(w);
	}
	json_number(w, "delta", v->delta);
	json_number(w, "ratio", v->ratio);
}

/* Frame by frame from the root, which is left out; raw names, for programs. */
static int json_path(struct printer *x, struct json_writer *w, uint32_t id)
{
	uint32_t n = 0, i, *path;

	for (i = id; i; i = diff_node(x->d, i)->parent)
		n++;
	path = malloc(MAX(n, 1u) * sizeof(*path));
	if (!path)
		return -ENOMEM;
	for (i = id, n = 0; i; i = diff_node(x->d, i)->parent)
		path[n++] = i;
	jsonw_key(w, "path");
	jsonw_array_flat(w);
	while (n-- > 0)
		jsonw_strings(w, diff_name(x->d, path[n]));
	jsonw_array_end(w);
	free(path);
	return 0;
}

static void json_files(struct printer *x, struct json_writer *w, const char *key,
		       enum diff_side side)
{
	unsigned i;

	jsonw_key(w, key);
	jsonw_array(w);
	for (i = 0; i < x->p->n_files[side]; i++)
		jsonw_strings(w, x->p->files[side][i]);
	jsonw_array_end(w);
}

/* What was run, where both sides know it and it is not the same. */
static void json_facts(struct printer *x, struct json_writer *w)
{
	const struct run_facts *facts = x->p->facts;

	jsonw_key_object(w, "runs_differ");
	for (unsigned i = 0; i < RUN_FACT_N; i++) {
		if (!run_facts_differ(&facts[DIFF_A], &facts[DIFF_B], (enum run_fact)i))
			continue;
		jsonw_key_object(w, run_fact_key((enum run_fact)i));
		jsonw_key_text(w, "a", facts[DIFF_A].text[i]);
		jsonw_key_text(w, "b", facts[DIFF_B].text[i]);
		jsonw_object_end(w);
	}
	jsonw_object_end(w);
}

static int print_json(struct printer *x)
{
	struct json_writer w;
	uint32_t i;
	int r = 0;

	jsonw_init(&w, x->out, false);
	jsonw_object(&w);
	jsonw_key_text(&w, "schema", "proton-diff");
	jsonw_key_u64(&w, "version", 1);
	jsonw_key_text(&w, "metric", diff_metric(x->d));
	jsonw_key_text(&w, "unit", diff_unit(x->d));
	jsonw_key(&w, "exclusive");
	jsonw_bool(&w, diff_is_exclusive(x->d));
	json_files(x, &w, "a", DIFF_A);
	json_files(x, &w, "b", DIFF_B);
	json_facts(x, &w);
	jsonw_key_object(&w, "total");
	json_value(&w, diff_total(x->d));
	jsonw_object_end(&w);
	jsonw_key_array(&w, "nodes");
	for (i = 0; i < x->n && r == 0; i++) {
		jsonw_object(&w);
		r = json_path(x, &w, x->ids[i]);
		jsonw_key_text(&w, "kind", frame_kind_word(diff_node(x->d, x->ids[i])->kind));
		json_value(&w, &diff_node(x->d, x->ids[i])->value);
		jsonw_object_end(&w);
	}
	jsonw_array_end(&w);
	jsonw_object_end(&w);
	out_putc(x->out, '\n');
	return r;
}

int diff_print(const struct diff *d, const struct diff_print *p, struct out *out)
{
	struct printer x = {.d = d, .p = p, .out = out};
	int r;

	x.several = diff_n_runs(d, DIFF_A) > 1 || diff_n_runs(d, DIFF_B) > 1;
	r = choose(&x);
	if (r == 0)
		r = make_names(&x);
	if (r == 0)
		measure(&x);
	if (r == 0 && p->format == DIFF_JSON)
		r = print_json(&x);
	else if (r == 0 && p->format == DIFF_MARKDOWN)
		print_markdown(&x);
	else if (r == 0)
		print_text(&x);
	free(x.ids);
	free(x.nodes);
	frame_names_free(x.names);
	session_free(x.frames);
	buf_done(&x.name);
	return r;
}
