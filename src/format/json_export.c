/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Everything that a session holds, as one JSON document for other programs: docs/formats.md and
 * data/proton-profile.schema.json describe it. One node a line. */
#include "format/json_profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/held.h"
#include "core/idle.h"
#include "core/made_from.h"
#include "core/traffic.h"
#include "format/asked.h"
#include "format/fields.h"
#include "format/json_writer.h"

struct exporter {
	const struct session *s;
	struct json_writer json;
	struct fields_writer fields;
	struct hist_chains hists;
	struct asked rates;
};

static void key_index(struct exporter *x, const char *key, uint32_t v)
{
	jsonw_key(&x->json, key);
	if (v == SESSION_NONE)
		jsonw_null(&x->json);
	else
		jsonw_u64(&x->json, v);
}

static void write_value(struct exporter *x, uint32_t metric, union metric_value v)
{
	const struct metric *m = metric_table_get(x->s->metrics, metric);

	jsonw_key(&x->json, m->name);
	if (m->type == METRIC_F64)
		jsonw_f64(&x->json, v.f64); /* null when it is no number */
	else
		fields_write_value(&x->fields, m, v);
}

/* Does an earlier row of the node have the metric? Then it was written already. */
static bool seen_before(const struct session *s, uint32_t node, uint32_t row, uint32_t k)
{
	uint32_t metric = s->sets[s->rows[row].set].metrics[k];

	for (uint32_t id = session_first_row(s, node); id != row; id = session_next_row(s, id)) {
		uint32_t at = session_row_place(s, &s->rows[id], metric);

		if (at != SESSION_NONE && s->present[at])
			return true;
	}
	return false;
}

/* Own values of the node, over all its rows. */
static void write_metrics(struct exporter *x, uint32_t node)
{
	const struct session *s = x->s;
	union metric_value v;

	jsonw_key_object(&x->json, "metrics");
	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id)) {
		const struct session_set *set = &s->sets[s->rows[id].set];

		for (uint32_t k = 0; k < set->n; k++) {
			if (!s->present[s->rows[id].values + k] || seen_before(s, node, id, k))
				continue;
			if (session_value(s, node, set->metrics[k], &v))
				write_value(x, set->metrics[k], v);
		}
	}
	jsonw_object_end(&x->json);
}

static void write_row(struct exporter *x, const struct session_row *row)
{
	const struct session *s = x->s;
	const struct session_lane *lane = session_lane_at(s, row->lane);
	const struct session_set *set = &s->sets[row->set];

	jsonw_object(&x->json);
	key_index(x, "lane", row->lane);
	key_index(x, "process", lane->process);
	key_index(x, "device", lane->device);
	jsonw_key_u64(&x->json, "context", lane->context);
	key_index(x, "stream", lane->stream);
	jsonw_key_u64(&x->json, "thread", lane->thread);
	jsonw_key_u64(&x->json, "epoch", row->epoch);
	jsonw_key_object(&x->json, "metrics");
	for (uint32_t k = 0; k < set->n; k++)
		if (s->present[row->values + k])
			write_value(x, set->metrics[k], s->values[row->values + k]);
	jsonw_object_end(&x->json);
	jsonw_object_end(&x->json);
}

static void write_rows(struct exporter *x, uint32_t node)
{
	const struct session *s = x->s;

	jsonw_key_array(&x->json, "rows");
	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id))
		write_row(x, &s->rows[id]);
	jsonw_array_end(&x->json);
}

static void write_hist(struct exporter *x, const struct session_hist *hist)
{
	jsonw_object(&x->json);
	key_index(x, "device", hist->device);
	key_index(x, "process", hist->process);
	fields_write_hist(&x->json, "buckets", &hist->hist);
	jsonw_object_end(&x->json);
}

static void write_hists(struct exporter *x, uint32_t node)
{
	uint32_t first = hist_chains_first(&x->hists, node);

	if (first == SESSION_NONE)
		return;
	jsonw_key_array(&x->json, "histograms");
	for (uint32_t i = first; i != SESSION_NONE; i = x->hists.next[i])
		write_hist(x, &x->s->hists[i]);
	jsonw_array_end(&x->json);
}

/* Where the code of a frame is, if that is known. */
static void write_place(struct exporter *x, const struct session_frame *f)
{
	if (f->module != SESSION_NONE) {
		jsonw_key_u64(&x->json, "module", f->module);
		jsonw_key_u64(&x->json, "offset", f->offset);
	}
	if (f->symbol) {
		fields_key_string(&x->fields, "raw", f->name);
		fields_key_string(&x->fields, "symbol", f->symbol);
	}
	if (f->file)
		fields_key_string(&x->fields, "file", f->file);
	if (f->line)
		jsonw_key_u64(&x->json, "line", f->line);
}

static void write_name(struct exporter *x, uint32_t node)
{
	const struct session_frame *f = &x->s->frames[x->s->nodes[node].frame];

	if (f->symbol || f->module == SESSION_NONE) {
		fields_key_string(&x->fields, "name", f->symbol ? f->symbol : f->name);
		return;
	}
	jsonw_key_text(&x->json, "name", session_node_name(x->s, node));
}

/* The file whose code allocates there. */
static void write_allocator(struct exporter *x, uint32_t node)
{
	const char *file = x->s->frames[x->s->nodes[node].frame].kind == FRAME_ALLOC
				   ? held_allocator(session_node_name(x->s, node))
				   : NULL;

	if (file)
		jsonw_key_text(&x->json, "allocator", file);
}

/* null: generated code launched it, and does not say from what it was made. */
static void write_made_from(struct exporter *x, uint32_t node)
{
	const char *text = made_from(x->s, node);

	if (text && *text) {
		jsonw_key_text(&x->json, "source_nodes", text);
	} else if (text) {
		jsonw_key(&x->json, "source_nodes");
		jsonw_null(&x->json);
	}
}

/* What tables have by these names. The key is absent where all of them are. */
#define RATES "byte/s,flop/s,util,bound,source"

static void write_rates(struct exporter *x, uint32_t node)
{
	bool is_open = false;

	for (size_t i = 0; i < x->rates.n; i++) {
		const struct asked_column *c = &x->rates.columns[i];
		double v = asked_value(&x->rates, i, node);

		if (isnan(v))
			continue;
		if (!is_open)
			jsonw_key_object(&x->json, "rates");
		is_open = true;
		jsonw_key(&x->json, c->title);
		if (c->spec.form == FORM_WORD)
			jsonw_strings(&x->json, asked_word(&x->rates, i, node));
		else
			jsonw_f64(&x->json, v);
	}
	if (is_open)
		jsonw_object_end(&x->json);
}

static int make_rates(struct exporter *x, const struct write_options *options)
{
	struct write_options o = {.metric = RATES, .peaks = options ? options->peaks : NULL};

	return asked_make(&x->rates, x->s, &o);
}

static void write_node(struct exporter *x, uint32_t node)
{
	const struct session_frame *f = &x->s->frames[x->s->nodes[node].frame];

	jsonw_object_flat(&x->json);
	jsonw_key_u64(&x->json, "id", node);
	key_index(x, "parent", x->s->nodes[node].parent);
	jsonw_key_text(&x->json, "kind", frame_kind_word(f->kind));
	write_name(x, node);
	write_allocator(x, node);
	write_made_from(x, node);
	write_place(x, f);
	write_metrics(x, node);
	write_rates(x, node);
	write_rows(x, node);
	write_hists(x, node);
	jsonw_object_end(&x->json);
}

static void write_nodes(struct exporter *x)
{
	jsonw_key_array(&x->json, "nodes");
	for (size_t i = 0; i < x->s->n_nodes; i++)
		write_node(x, (uint32_t)i);
	jsonw_array_end(&x->json);
}

static void write_metric_table(struct exporter *x)
{
	jsonw_key_array(&x->json, "metrics");
	for (uint32_t i = 0; i < metric_table_count(x->s->metrics); i++)
		if (!metric_is_of_sizes(i) || session_has_values(x->s, i))
			fields_write_metric(&x->fields, metric_table_get(x->s->metrics, i));
	jsonw_array_end(&x->json);
}

/* ---- copies, from where to where ---- */

static void write_end(struct exporter *x, const char *key, const struct traffic_end *end)
{
	jsonw_key_object(&x->json, key);
	jsonw_key_text(&x->json, "where", end->is_device ? "device" : "host");
	key_index(x, "device", end->device);
	if (!end->is_device && end->memory != MEMORY_UNKNOWN) {
		jsonw_key_text(&x->json, "memory", memory_kind_word(end->memory));
	} else {
		jsonw_key(&x->json, "memory");
		jsonw_null(&x->json);
	}
	jsonw_object_end(&x->json);
}

/* Sums of whole numbers, which may be beyond the largest in files of others. */
static void key_sum(struct exporter *x, const char *key, double sum)
{
	jsonw_key_u64(&x->json, key, sum < 0x1p64 ? (uint64_t)sum : UINT64_MAX);
}

static void key_sum_or_null(struct exporter *x, const char *key, double sum)
{
	if (!isnan(sum)) {
		key_sum(x, key, sum);
		return;
	}
	jsonw_key(&x->json, key);
	jsonw_null(&x->json);
}

static void write_pair(struct exporter *x, const struct traffic_pair *p)
{
	jsonw_object_flat(&x->json);
	write_end(x, "from", &p->from);
	write_end(x, "to", &p->to);
	key_sum(x, "count", p->n);
	key_sum_or_null(x, "bytes", p->bytes > 0 ? p->bytes : NAN);
	key_sum(x, "time_ns", p->time_ns);
	jsonw_object_end(&x->json);
}

static void write_traffic(struct exporter *x, const struct traffic *t)
{
	jsonw_key_array(&x->json, "traffic");
	for (size_t i = 0; i < t->n_pairs; i++)
		write_pair(x, &t->pairs[i]);
	jsonw_array_end(&x->json);
}

/* ---- what devices waited for ---- */

static void key_ratio(struct exporter *x, const char *key, double v)
{
	jsonw_key(&x->json, key);
	jsonw_f64(&x->json, v);
}

static void write_idle(struct exporter *x, const struct idle *of)
{
	jsonw_key_array(&x->json, "idle");
	for (uint32_t i = 0; i < x->s->n_devices; i++) {
		const struct idle *d = &of[i];

		if (!idle_is_told(d))
			continue;
		jsonw_object_flat(&x->json);
		key_index(x, "device", i);
#define _(key, title, value) key_sum_or_null(x, #key, value);
		IDLE_NUMBERS(_)
#undef _
#define _(key, title, value) key_ratio(x, #key, value);
		IDLE_RATIOS(_)
#undef _
		jsonw_object_end(&x->json);
	}
	jsonw_array_end(&x->json);
}

/* ---- all of it ---- */

/* All losses, those of processes added up, zeros too: a script need not know which exist. */
static void write_losses(struct exporter *x)
{
	jsonw_key_object(&x->json, "losses");
	for (unsigned i = 0; i < LOSS_N; i++)
		jsonw_key_u64(&x->json, loss_word((enum loss)i), session_loss(x->s, (enum loss)i));
	jsonw_object_end(&x->json);
}

static void write_head(struct exporter *x)
{
	const struct session *s = x->s;

	jsonw_key_text(&x->json, "schema", "proton-profile");
	jsonw_key_u64(&x->json, "version", 1);
	fields_key_string(&x->fields, "source", s->source);
	jsonw_key_u64(&x->json, "start_ns", s->start_ns);
	jsonw_key_u64(&x->json, "end_ns", s->end_ns);
	jsonw_key(&x->json, "ended");
	jsonw_bool(&x->json, s->ended);
}

static int export(const struct session *s, const struct write_options *options, struct out *out)
{
	struct exporter x = {.s = s};
	struct traffic traffic = {0};
	_cleanup_(freep) struct idle *idle = idle_new(s);
	int r = hist_chains_init(&x.hists, s);

	if (r == 0 && !idle && s->n_devices)
		r = -ENOMEM;
	if (r == 0)
		r = traffic_make(&traffic, s, NULL, NULL);
	if (r == 0)
		r = make_rates(&x, options);
	jsonw_init(&x.json, out, options && options->compact);
	x.fields = (struct fields_writer){.session = s, .json = &x.json, .all = true};
	if (r == 0) {
		jsonw_object(&x.json);
		write_head(&x);
		write_losses(&x);
		write_metric_table(&x);
		for (unsigned i = 0; i < TABLE_N; i++)
			fields_write_table(&x.fields, (enum table_id)i);
		write_idle(&x, idle);
		write_traffic(&x, &traffic);
		write_nodes(&x);
		jsonw_object_end(&x.json);
		out_putc(out, '\n');
	}
	traffic_done(&traffic);
	asked_done(&x.rates);
	hist_chains_done(&x.hists);
	return r < 0 ? r : out->error;
}

const struct format format_json = {
	.name = "json",
	.suffix = ".json",
	.names = NAME_RAW,
	.help = "one JSON document with everything, for other programs",
	.detect = json_profile_detect,
	.read = json_profile_read,
	.write = export,
};
