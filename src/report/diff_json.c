/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "format/json_writer.h"

static const char *const side_keys[DIFF_N_SIDES] = {"a", "b"};

static void json_number(struct json_writer *w, const char *key, double v)
{
	jsonw_key(w, key);
	if (isfinite(v))
		jsonw_f64(w, v);
	else
		jsonw_null(w);
}

/* null: no run of the side has a value. */
static void json_range(struct json_writer *w, const char *key, const struct diff_range *r)
{
	jsonw_key(w, key);
	if (!r->n) {
		jsonw_null(w);
		return;
	}
	jsonw_object(w);
	jsonw_key_u64(w, "runs", r->n);
	json_number(w, "min", r->min);
	json_number(w, "median", r->median);
	json_number(w, "max", r->max);
	jsonw_object_end(w);
}

static void json_value(struct json_writer *w, const struct diff_value *v)
{
	unsigned side;

	jsonw_key_text(w, "status", diff_status_word((enum diff_status)v->status));
	for (side = 0; side < DIFF_N_SIDES; side++)
		json_range(w, side_keys[side], &v->side[side]);
	json_number(w, "delta", v->delta);
	json_number(w, "ratio", v->ratio);
}

/* Frame by frame from the root, which is left out; raw names, for programs. */
static int json_path(struct diff_printer *x, struct json_writer *w, uint32_t id)
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

static void json_files(struct diff_printer *x, struct json_writer *w, const char *key,
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
static void json_facts(struct diff_printer *x, struct json_writer *w)
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

static void json_metric(struct json_writer *w, const struct diff_metric *m)
{
	jsonw_key_text(w, "metric", m->name);
	jsonw_key_text(w, "unit", m->unit);
	jsonw_key(w, "exclusive");
	jsonw_bool(w, m->exclusive);
}

/* Of a node, or of the root the whole: what the first metric has, and what each further one has. */
static void json_values(struct diff_printer *x, struct json_writer *w, uint32_t id)
{
	json_value(w, diff_line_value(x, id, 0));
	if (diff_n_metrics(x->d) == 1)
		return;
	jsonw_key_array(w, "others");
	for (size_t m = 1; m < diff_n_metrics(x->d); m++) {
		jsonw_object(w);
		json_value(w, diff_line_value(x, id, m));
		jsonw_object_end(w);
	}
	jsonw_array_end(w);
}

static void json_others(struct diff_printer *x, struct json_writer *w)
{
	jsonw_key_array(w, "others");
	for (size_t m = 1; m < diff_n_metrics(x->d); m++) {
		jsonw_object(w);
		json_metric(w, diff_metric(x->d, m));
		jsonw_object_end(w);
	}
	jsonw_array_end(w);
}

static void json_text(struct json_writer *w, const char *key, const char *text)
{
	if (text) {
		jsonw_key_text(w, key, text);
	} else {
		jsonw_key(w, key);
		jsonw_null(w);
	}
}

/* The expressions, and what they leave of the time of each side; null: there are none. */
static void json_filter(struct diff_printer *x, struct json_writer *w)
{

	jsonw_key(w, "filter");
	if (!x->p->include && !x->p->exclude) {
		jsonw_null(w);
		return;
	}
	jsonw_object(w);
	json_text(w, "include", x->p->include);
	json_text(w, "exclude", x->p->exclude);
	for (unsigned side = 0; side < DIFF_N_SIDES; side++) {
		jsonw_key_object(w, side_keys[side]);
		json_number(w, "time_ns", diff_fact(x->d, side, DIFF_TIME)->median);
		json_number(w, "left_ns", diff_fact(x->d, side, DIFF_LEFT)->median);
		jsonw_object_end(w);
	}
	jsonw_object_end(w);
}

/* What values are divided by, and how often it was called; null: by nothing. */
static void json_per(struct diff_printer *x, struct json_writer *w)
{
	jsonw_key(w, "per");
	if (!x->p->per) {
		jsonw_null(w);
		return;
	}
	jsonw_object(w);
	jsonw_key_text(w, "name", x->p->per);
	for (unsigned side = 0; side < DIFF_N_SIDES; side++)
		json_range(w, side_keys[side], diff_fact(x->d, side, DIFF_CALLS));
	jsonw_object_end(w);
}

static void json_head(struct diff_printer *x, struct json_writer *w)
{
	jsonw_key_text(w, "schema", "proton-diff");
	jsonw_key_u64(w, "version", 1);
	json_metric(w, diff_metric(x->d, 0));
	json_others(x, w);
	json_files(x, w, "a", DIFF_A);
	json_files(x, w, "b", DIFF_B);
	json_facts(x, w);
	if (x->p->graphs_differ)
		jsonw_key_text(w, "graphs", "by nodes and whole");
	json_filter(x, w);
	jsonw_key_text(w, "group", group_word(x->p->group));
	jsonw_key(w, "flat");
	jsonw_bool(w, x->p->flat);
	json_per(x, w);
}

static int json_node(struct diff_printer *x, struct json_writer *w, uint32_t id)
{
	int r;

	jsonw_object(w);
	r = json_path(x, w, id);
	jsonw_key_text(w, "kind", frame_kind_word(diff_node(x->d, id)->kind));
	json_values(x, w, id);
	jsonw_object_end(w);
	return r;
}

int diff_print_json(struct diff_printer *x)
{
	struct json_writer w;
	int r = 0;

	jsonw_init(&w, x->out, false);
	jsonw_object(&w);
	json_head(x, &w);
	jsonw_key_object(&w, "total");
	json_values(x, &w, 0);
	jsonw_object_end(&w);
	jsonw_key_array(&w, "nodes");
	for (uint32_t i = 0; i < x->n && r == 0; i++)
		r = json_node(x, &w, x->ids[i]);
	jsonw_array_end(&w);
	jsonw_object_end(&w);
	out_putc(x->out, '\n');
	return r;
}
