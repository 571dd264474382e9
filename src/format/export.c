/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/export.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/column.h"
#include "core/metadata.h"
#include "core/nested.h"
#include "format/json_writer.h"

/* ---- columns ---- */

/* The weight of a node's own value in a mean: that of its rows, as in a report. */
static double weight_of(const struct session *s, uint32_t node, uint32_t metric)
{
	const struct metric *m = metric_table_get(s->metrics, metric);
	double sum = 0;

	if (m->add != METRIC_WMEAN)
		return 1;
	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id)) {
		const struct session_row *row = &s->rows[id];
		uint32_t at = session_row_place(s, row, metric);

		if (at != SESSION_NONE && s->present[at])
			sum += session_row_weight(s, row, m->weight, s->values, s->present);
	}
	return sum;
}

/* A NaN is a value of the node itself, and absent for the sums that it would be part of. */
static void fill_own(const struct session *s, struct export_column *c)
{
	const struct metric *m = metric_table_get(s->metrics, c->metric);

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (!session_value(s, i, c->metric, &c->own[i]))
			continue;
		c->inclusive[i] = c->own[i];
		c->has[i] = EXPORT_OWN;
		if (m->type != METRIC_F64 || !isnan(c->own[i].f64))
			c->has[i] |= EXPORT_INCLUSIVE;
	}
}

static void add_up(const struct session *s, struct export_column *c, double *weights)
{
	const struct metric *m = metric_table_get(s->metrics, c->metric);

	if (m->scope != METRIC_INCLUSIVE || m->type == METRIC_TEXT)
		return;
	for (uint32_t i = 0; i < s->n_nodes; i++)
		weights[i] = c->has[i] & EXPORT_INCLUSIVE ? weight_of(s, i, c->metric) : 0;
	for (uint32_t i = (uint32_t)s->n_nodes; i-- > 1;) {
		uint32_t p = s->nodes[i].parent;

		if (!(c->has[i] & EXPORT_INCLUSIVE))
			continue;
		c->inclusive[p] = c->has[p] & EXPORT_INCLUSIVE
					  ? metric_combine(m, c->inclusive[p], weights[p],
							   c->inclusive[i], weights[i])
					  : c->inclusive[i];
		weights[p] += weights[i];
		c->has[p] |= EXPORT_INCLUSIVE;
	}
}

static void column_done(struct export_column *c)
{
	free(c->own);
	free(c->inclusive);
	free(c->has);
}

/* 0 or -ENOMEM. */
static int column_init(const struct session *s, uint32_t metric, double *weights,
		       struct export_column *c)
{
	c->metric = metric;
	c->own = calloc(s->n_nodes, sizeof(*c->own));
	c->inclusive = calloc(s->n_nodes, sizeof(*c->inclusive));
	c->has = calloc(s->n_nodes, 1);
	if (!c->own || !c->inclusive || !c->has) {
		column_done(c);
		return -ENOMEM;
	}
	fill_own(s, c);
	add_up(s, c, weights);
	return 0;
}

uint8_t *export_occurring(const struct session *s)
{
	uint8_t *occurs = calloc(metric_table_count(s->metrics) + 1, 1);

	for (size_t i = 0; occurs && i < s->n_rows; i++) {
		const struct session_set *set = &s->sets[s->rows[i].set];

		for (uint32_t k = 0; k < set->n; k++)
			occurs[set->metrics[k]] |= s->present[s->rows[i].values + k];
	}
	return occurs;
}

int export_columns(const struct session *s, struct export_column **ret, size_t *ret_n)
{
	uint32_t n_metrics = metric_table_count(s->metrics);
	struct export_column *columns = calloc(n_metrics + 1, sizeof(*columns));
	_cleanup_(freep) double *weights = calloc(s->n_nodes, sizeof(*weights));
	_cleanup_(freep) uint8_t *occurs = export_occurring(s);
	int r = columns && weights && occurs ? 0 : -ENOMEM;
	size_t n = 0;

	for (uint32_t i = 0; r == 0 && i < n_metrics; i++) {
		if (!occurs[i])
			continue;
		r = column_init(s, i, weights, &columns[n]);
		n += r == 0;
	}
	if (r < 0) {
		export_columns_free(columns, n);
		return r;
	}
	*ret = columns;
	*ret_n = n;
	return 0;
}

void export_columns_free(struct export_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		column_done(&columns[i]);
	free(columns);
}

void export_put_value(struct out *out, const struct session *s, uint32_t metric,
		      union metric_value v)
{
	const struct metric *m = metric_table_get(s->metrics, metric);
	char text[JSON_NUMBER_MAX];

	if (m->type == METRIC_U64)
		out_printf(out, "%llu", (unsigned long long)v.u64);
	else if (m->type == METRIC_F64 && isfinite(v.f64))
		out_put(out, text, json_format_f64(text, v.f64));
}

/* ---- weights ---- */

uint32_t export_metric(const struct session *s, const struct write_options *options)
{
	const char *name = options ? options->metric : NULL;
	uint32_t id = name ? column_metric(s, name) : derive_time(s);

	return export_weighs(s, id) ? id : METRIC_NONE;
}

bool export_has_values(const struct session *s, uint32_t metric)
{
	uint32_t part;

	for (size_t i = 0; derive_part(metric, i, &part); i++)
		if (session_has_values(s, part))
			return true;
	return false;
}

bool export_weighs(const struct session *s, uint32_t metric)
{
	const struct metric *m = derive_metric(s, metric);

	return m && m->type != METRIC_TEXT && metric_add_plain(m->add) == METRIC_SUM;
}

static double own_weight(struct export_stacks *x, uint32_t node)
{
	union metric_value v;
	double w = 0;
	uint32_t part;

	if (x->hidden[node])
		return 0;
	for (size_t i = 0; derive_part(x->metric, i, &part); i++)
		if (session_value(x->s, node, part, &v))
			w += metric_number(metric_table_get(x->s->metrics, part), v);
	x->n_left_out += w < 0 || isinf(w);
	return isfinite(w) && w > 0 ? w : 0;
}

/* The host's time of a scope has that of the scopes in it: what is left is its own. */
static int without_nested(const struct session *s, double *own)
{
	size_t n = s->n_nodes;
	_cleanup_(freep) uint32_t *parents = malloc(n * sizeof(*parents));
	_cleanup_(freep) double *elapsed = malloc(n * sizeof(*elapsed));
	int r = parents && elapsed ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < n; i++) {
		parents[i] = s->nodes[i].parent;
		elapsed[i] = own[i] > 0 ? own[i] : NAN;
	}
	if (r == 0)
		r = nested_own(parents, elapsed, (uint32_t)n, own);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		own[i] = fmax(own[i], 0); /* fmax() takes NaN for 0 */
	return r;
}

void export_put_weight(struct out *out, double v)
{
	char text[JSON_NUMBER_MAX];
	size_t len = json_format_f64(text, v);

	if (len > 2 && !memcmp(text + len - 2, ".0", 2))
		len -= 2;
	out_put(out, text, len);
}

/* ---- names ---- */

int export_names_init(struct export_names *names, const struct session *s,
		      const struct write_options *options)
{
	bool raw = !options || options->names == NAME_RAW;

	*names = (struct export_names){.s = s, .mode = raw ? NAME_RAW : options->names};
	names->names = frame_names_new(s, raw ? NULL : options->naming, false);
	return names->names ? 0 : -ENOMEM;
}

void export_names_done(struct export_names *names)
{
	names->names = frame_names_free(names->names);
}

static const char *never_empty(const char *name)
{
	return *name ? name : "<unnamed>";
}

const char *export_raw_name(const struct session *s, uint32_t node)
{
	return never_empty(session_node_name(s, node));
}

const char *export_name(struct export_names *names, uint32_t node)
{
	return never_empty(frame_names_get(names->names, node, names->mode));
}

int export_path(const struct session *s, uint32_t node, struct export_path *path)
{
	size_t n = 0;

	for (uint32_t i = node; i != SESSION_ROOT; i = s->nodes[i].parent)
		n++;
	n += node == SESSION_ROOT;
	if (ARRAY_ROOM(path->nodes, path->cap, n) < 0)
		return -ENOMEM;
	path->n = n;
	do {
		path->nodes[--n] = node;
		node = s->nodes[node].parent;
	} while (n > 0);
	return 0;
}

int export_stacks_init(struct export_stacks *x, const struct session *s,
		       const struct write_options *options)
{
	int r = export_stacks_weigh(x, s, export_metric(s, options), options);

	return r < 0 ? r : export_names_init(&x->names, s, options);
}

int export_stacks_weigh(struct export_stacks *x, const struct session *s, uint32_t metric,
			const struct write_options *options)
{
	*x = (struct export_stacks){.s = s, .metric = metric};
	if (!export_weighs(s, metric))
		return -EINVAL;
	x->hidden = metadata_nodes(s);
	x->own = malloc(s->n_nodes * sizeof(*x->own));
	if (!x->own || !x->hidden)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_nodes; i++)
		x->own[i] = own_weight(x, i);
	if (options && options->notes)
		options->notes->n_left_out += x->n_left_out;
	if (options && options->notes && !export_has_values(s, metric))
		options->notes->no_values = derive_metric(s, metric)->name;
	x->notes = options ? options->notes : NULL;
	return x->metric == METRIC_CPU_TIME ? without_nested(s, x->own) : 0;
}

int export_stacks_sum_up(struct export_stacks *x)
{
	x->total = malloc(x->s->n_nodes * sizeof(*x->total));
	if (!x->total)
		return -ENOMEM;
	memcpy(x->total, x->own, x->s->n_nodes * sizeof(*x->total));
	for (size_t i = x->s->n_nodes; i-- > 1;) {
		double *up = &x->total[x->s->nodes[i].parent];

		*up = export_sum(*up, x->total[i]);
	}
	return 0;
}

void export_stacks_done(struct export_stacks *x)
{
	free(x->own);
	free(x->total);
	free(x->whole);
	free(x->hidden);
	free(x->path.nodes);
	export_names_done(&x->names);
}

/* 0; -ENOMEM; -EINVAL: it does not add up, and is left out. */
static int add_weights(struct export_weights *x, const struct session *s, uint32_t metric,
		       const struct write_options *options)
{
	struct export_stacks *new;
	int r;

	if (ARRAY_ROOM(x->v, x->cap, x->n + 1) < 0)
		return -ENOMEM;
	new = &x->v[x->n];
	*new = (struct export_stacks){0};
	r = export_stacks_weigh(new, s, metric, options);
	if (r < 0)
		export_stacks_done(new);
	else
		x->n++;
	return r;
}

int export_weights_init(struct export_weights *x, const struct session *s,
			const struct write_options *options)
{
	_cleanup_(freep) uint8_t *has = export_occurring(s);
	uint32_t n = metric_table_count(s->metrics);
	int r = 0;

	*x = (struct export_weights){0};
	if (!has)
		return -ENOMEM;
	if (options && options->metric)
		return add_weights(x, s, export_metric(s, options), options);
	for (uint32_t i = 0; i < n && r != -ENOMEM; i++)
		if (has[i])
			r = add_weights(x, s, i, options);
	if (r != -ENOMEM && x->n == 0)
		r = add_weights(x, s, METRIC_TIME, options); /* of which there is none */
	return r == -ENOMEM || x->n == 0 ? r : 0;
}

int export_weights_round(struct export_weights *x, uint64_t most)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < x->n; i++)
		r = export_stacks_round(&x->v[i], most);
	return r;
}

void export_weights_done(struct export_weights *x)
{
	while (x->n)
		export_stacks_done(&x->v[--x->n]);
	free(x->v);
	*x = (struct export_weights){0};
}

uint32_t *export_frame_nodes(const struct session *s, const uint8_t *hidden)
{
	uint32_t *nodes = malloc((s->n_frames + 1) * sizeof(*nodes));

	if (!nodes)
		return NULL;
	memset(nodes, 0xff, s->n_frames * sizeof(*nodes));
	for (uint32_t i = (uint32_t)s->n_nodes; i-- > 0;)
		if (!hidden[i])
			nodes[s->nodes[i].frame] = i;
	return nodes;
}

size_t export_text_next(const char **p, const char *end, const char **ret)
{
	const char *at = *p;

	if (at == end)
		return 0;
	if (!(*at & 0x80)) { /* nearly always */
		*p = at + 1;
		*ret = at;
		return 1;
	}
	for (size_t n = 2; n <= 4 && n <= (size_t)(end - at); n++) {
		if (!utf8_valid(at, n))
			continue;
		*p = at + n;
		*ret = at;
		return n;
	}
	*p = at + 1;
	*ret = "\xef\xbf\xbd";
	return 3;
}

void export_put_text(struct buf *out, const char *text, size_t len)
{
	const char *end = text + len, *c;
	size_t n;

	if (utf8_valid(text, len)) { /* nearly always */
		buf_put(out, text, len);
		return;
	}
	while ((n = export_text_next(&text, end, &c)) > 0)
		buf_put(out, c, n);
}

bool export_host_is_asked(const struct session *s, const struct session_row *row)
{
	uint32_t at = session_row_place(s, row, METRIC_CPU_TIME);

	return at != SESSION_NONE && s->present[at] &&
	       session_row_place(s, row, METRIC_CPU_COUNT) == SESSION_NONE;
}
