/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The key "proton" of a Hatchet file: what only we know. docs/formats.md describes it. */
#include "format/hatchet_extra.h"

#include <math.h>
#include <string.h>

#include "format/hatchet_kind.h"

/* ---- what only we know of a node ---- */

static bool value_is_plain(const struct session *s, const struct metric *m, union metric_value v)
{
	if (m->type == METRIC_TEXT)
		return utf8_valid(strtab_str(s->strings, v.text), strtab_len(s->strings, v.text));
	return m->type != METRIC_F64 || isfinite(v.f64);
}

/* Would a reader make this row of the metrics alone? (See rows_from_metrics() in the reader.) */
static bool row_is_plain(const struct hwrite *w, const struct session_row *row, bool first)
{
	const struct session_lane *lane = session_lane_at(w->s, row->lane);
	const struct session_set *set = &w->s->sets[row->set];
	const uint8_t *present = &w->s->present[row->values];
	uint32_t last = 0;

	if (row->epoch || row->lane >= w->s->n_lanes || lane->process != SESSION_NONE ||
	    lane->context || lane->stream || lane->thread)
		return false;
	if (row->set == SET_KERNEL)
		return first && (present[0] || present[1]) && !present[2] && !present[3];
	for (uint32_t k = 0; k < set->n; k++) {
		const struct metric *m = hwrite_metric(w, set->metrics[k]);

		if (set->metrics[k] <= METRIC_TIME_MAX || (k && set->metrics[k] <= last) ||
		    !present[k])
			return false;
		if (!value_is_plain(w->s, m, w->s->values[row->values + k]))
			return false;
		last = set->metrics[k];
	}
	return set->n > 0;
}

static bool rows_are_plain(const struct hwrite *w, uint32_t node)
{
	const struct session *s = w->s;
	uint32_t first = session_first_row(s, node), second;

	if (first == SESSION_NONE)
		return true;
	second = session_next_row(s, first);
	if (node == SESSION_ROOT || w->renumbered || !row_is_plain(w, &s->rows[first], true))
		return false;
	if (second == SESSION_NONE)
		return true;
	return s->rows[first].set == SET_KERNEL && session_next_row(s, second) == SESSION_NONE &&
	       s->rows[second].lane == s->rows[first].lane &&
	       row_is_plain(w, &s->rows[second], false);
}

static void write_row(struct hwrite *w, const struct session_row *row)
{
	const struct session_set *set = &w->s->sets[row->set];
	uint32_t n = set->n;

	while (n && !w->s->present[row->values + n - 1])
		n--;
	jsonw_array_flat(&w->json);
	jsonw_u64(&w->json, row->lane);
	jsonw_u64(&w->json, row->epoch);
	jsonw_u64(&w->json, row->set);
	for (uint32_t k = 0; k < n; k++) {
		if (w->s->present[row->values + k])
			fields_write_value(&w->fields, hwrite_metric(w, set->metrics[k]),
					   w->s->values[row->values + k]);
		else
			jsonw_null(&w->json);
	}
	jsonw_array_end(&w->json);
}

static void write_rows(struct hwrite *w, uint32_t node)
{
	const struct session *s = w->s;

	jsonw_key_array(&w->json, "rows");
	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id))
		write_row(w, &s->rows[id]);
	jsonw_array_end(&w->json);
	w->tables = true;
}

static void write_hist(struct hwrite *w, const struct session_hist *hist)
{
	jsonw_object_flat(&w->json);
	fields_write_hist(&w->json, "durations", &hist->hist);
	if (hist->device != SESSION_NONE)
		jsonw_key_u64(&w->json, "device", hist->device);
	if (hist->process != SESSION_NONE)
		jsonw_key_u64(&w->json, "process", hist->process);
	jsonw_object_end(&w->json);
}

static void write_hists(struct hwrite *w, uint32_t node)
{
	jsonw_key_array(&w->json, "histograms");
	for (uint32_t i = hist_chains_first(&w->hists, node); i != SESSION_NONE;
	     i = w->hists.next[i])
		write_hist(w, &w->s->hists[i]);
	jsonw_array_end(&w->json);
	w->tables = true;
}

static unsigned hints_of(const struct hwrite *w, uint32_t node)
{
	const struct session *s = w->s;
	unsigned hints = 0;

	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id)) {
		const struct session_set *set = &s->sets[s->rows[id].set];

		if (session_lane_at(s, s->rows[id].lane)->device < s->n_devices)
			hints |= HINT_DEVICE;
		for (uint32_t k = 0; k < set->n; k++) {
			const char *name;

			if (!s->present[s->rows[id].values + k])
				continue;
			name = hwrite_metric(w, set->metrics[k])->name;
			hints |= hatchet_hint(name, strlen(name));
		}
	}
	return hints;
}

/* Which of the keys in a node's "proton" (or in one of its parts) have something to say. */
struct extra {
	bool kind, name, frame, parent, rows, hists;
};

static bool extra_of(const struct hwrite *w, const struct part *part, bool folded,
		     struct extra *ret)
{
	const struct session *s = w->s;
	const struct session_frame *f = &s->frames[s->nodes[part->node].frame];
	size_t len;
	const char *name = hwrite_raw_name(s, part->node, &len);
	enum frame_kind guess = part->node == SESSION_ROOT
					? FRAME_ROOT
					: hatchet_guess_kind(name, len, hints_of(w, part->node));

	*ret = (struct extra){
		.kind = folded || f->kind != guess,
		.name = !hwrite_frame_is_listed(f) && (!len || !utf8_valid(name, len)),
		.frame = w->frame_index[s->nodes[part->node].frame] != 0,
		.parent = part->parent != 0,
		.rows = folded || !rows_are_plain(w, part->node),
		.hists = hist_chains_first(&w->hists, part->node) != SESSION_NONE,
	};
	/* The reader guesses from what stands in for the name. */
	ret->kind = ret->kind || ret->name;
	return ret->kind || ret->frame || ret->parent || ret->rows || ret->hists;
}

static void write_extra(struct hwrite *w, const struct part *part, const struct extra *extra)
{
	uint32_t frame = w->s->nodes[part->node].frame;

	if (extra->frame) {
		jsonw_key_u64(&w->json, "frame", w->frame_index[frame] - 1);
		w->tables = true;
	}
	if (extra->hists)
		write_hists(w, part->node);
	if (extra->kind)
		jsonw_key_text(&w->json, "kind", frame_kind_word(w->s->frames[frame].kind));
	if (extra->name) {
		size_t len;
		const char *name = hwrite_raw_name(w->s, part->node, &len);

		jsonw_key(&w->json, "name_hex");
		jsonw_hex(&w->json, name, len);
	}
	if (extra->parent)
		jsonw_key_u64(&w->json, "parent", part->parent);
	if (extra->rows)
		write_rows(w, part->node);
}

static void write_parts(struct hwrite *w, const struct part *parts, uint32_t n)
{
	struct extra extra;

	jsonw_key_array(&w->json, "parts");
	for (uint32_t i = 0; i < n; i++) {
		extra_of(w, &parts[i], true, &extra);
		jsonw_object_flat(&w->json);
		write_extra(w, &parts[i], &extra);
		jsonw_object_end(&w->json);
	}
	jsonw_array_end(&w->json);
}

void hwrite_node_extra(struct hwrite *w, const struct part *parts, uint32_t n)
{
	struct extra extra;

	if (n == 1 && !extra_of(w, &parts[0], false, &extra))
		return;
	jsonw_key(&w->json, "proton");
	jsonw_object_flat(&w->json);
	if (n == 1)
		write_extra(w, &parts[0], &extra);
	else
		write_parts(w, parts, n);
	jsonw_object_end(&w->json);
}

/* ---- what only we know of the whole ---- */

static bool lanes_are_plain(const struct session *s)
{
	for (size_t i = 0; i < s->n_lanes; i++) {
		const struct session_lane *l = &s->lanes[i];

		if (l->process != SESSION_NONE || l->context || l->stream || l->thread)
			return false;
	}
	return true;
}

static bool devices_are_plain(const struct session *s)
{
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct session_device *d = &s->devices[i];

		if (d->name || d->uuid || d->driver || d->host || d->memory_bytes || d->index < 0)
			return false;
	}
	return true;
}

static bool metric_equal(const struct metric *a, const struct metric *b)
{
	return a->type == b->type && a->scope == b->scope && a->add == b->add &&
	       a->weight == b->weight && !strcmp(a->unit, b->unit);
}

static bool metrics_are_plain(const struct hwrite *w)
{
	struct metric guess;

	for (uint32_t i = METRIC_N_BUILTIN; i < metric_table_count(w->s->metrics); i++) {
		const struct metric *m = hwrite_metric(w, i);

		metric_guess(m->name, (enum metric_type)m->type, &guess);
		if (!w->occurs[i] || !metric_equal(m, &guess))
			return false;
	}
	return true;
}

/* Dimensions are looked at one by one: a file of upstream's has some of their rows, too. */
static bool tables_are_plain(const struct session *s)
{
	for (unsigned i = 0; i < TABLE_N; i++)
		if (row_tables[i].part != PART_DIMENSION && s->tables[i].n)
			return false;
	return !s->n_processes && !s->n_modules;
}

/* Is there nothing that a file of upstream's could not say as well? */
static bool session_is_plain(const struct hwrite *w)
{
	const struct session *s = w->s;
	const struct session_epoch *e = s->epochs;

	return !w->tables && tables_are_plain(s) && s->n_epochs == 1 && !e->name && !e->index &&
	       !e->phase && !s->n_hists && !s->start_ns && !s->end_ns && !s->source &&
	       fields_losses_none(s->losses) && lanes_are_plain(s) && devices_are_plain(s) &&
	       metrics_are_plain(w);
}

static void write_u64_key(struct hwrite *w, const char *key, uint64_t v)
{
	if (v)
		jsonw_key_u64(&w->json, key, v);
}

static void write_listed_frame(struct hwrite *w, const struct session_frame *f)
{
	jsonw_object_flat(&w->json);
	if (f->file)
		fields_key_string(&w->fields, "file", f->file);
	write_u64_key(w, "line", f->line);
	if (f->module != SESSION_NONE)
		jsonw_key_u64(&w->json, "module", f->module);
	if (f->name)
		fields_key_string(&w->fields, "name", f->name);
	write_u64_key(w, "offset", f->offset);
	if (f->symbol)
		fields_key_string(&w->fields, "symbol", f->symbol);
	jsonw_object_end(&w->json);
}

static void write_listed_frames(struct hwrite *w)
{
	if (!w->n_listed)
		return;
	jsonw_key_array(&w->json, "frames");
	for (size_t i = 0; i < w->s->n_frames; i++)
		if (w->frame_index[i])
			write_listed_frame(w, &w->s->frames[i]);
	jsonw_array_end(&w->json);
}

static void write_metric_table(struct hwrite *w)
{
	uint32_t n = metric_table_count(w->s->metrics);

	if (n == METRIC_N_BUILTIN)
		return;
	jsonw_key_array(&w->json, "metrics");
	for (uint32_t i = METRIC_N_BUILTIN; i < n; i++)
		fields_write_metric(&w->fields, hwrite_metric(w, i));
	jsonw_array_end(&w->json);
}

static void write_sets(struct hwrite *w)
{
	jsonw_key_array(&w->json, "sets");
	for (size_t i = 0; i < w->s->n_sets; i++) {
		jsonw_array_flat(&w->json);
		for (uint32_t k = 0; k < w->s->sets[i].n; k++)
			jsonw_strings(&w->json, hwrite_metric(w, w->s->sets[i].metrics[k])->name);
		jsonw_array_end(&w->json);
	}
	jsonw_array_end(&w->json);
}

static void write_root_keys(struct hwrite *w, const struct part *root, const struct extra *extra)
{
	jsonw_key(&w->json, "root");
	jsonw_object_flat(&w->json);
	write_extra(w, root, extra);
	jsonw_object_end(&w->json);
}

static void write_end_ns(struct hwrite *w)
{
	write_u64_key(w, "end_ns", w->s->end_ns);
}

static void write_start_ns(struct hwrite *w)
{
	write_u64_key(w, "start_ns", w->s->start_ns);
}

static void write_losses(struct hwrite *w)
{
	if (fields_losses_none(w->s->losses))
		return;
	jsonw_key(&w->json, "losses");
	fields_write_losses(&w->fields, w->s->losses);
}

static void write_source(struct hwrite *w)
{
	if (w->s->source)
		fields_key_string(&w->fields, "source", w->s->source);
}

static void write_version(struct hwrite *w)
{
	jsonw_key_u64(&w->json, "version", 1);
}

/* Tables whose keys come before `key` and were not written yet. */
static void write_tables(struct hwrite *w, const char *key, unsigned *next)
{
	for (; *next < TABLE_N && strcmp(row_tables[*next].key, key) < 0; ++*next)
		if (hwrite_has_table(w, (enum table_id) * next))
			fields_write_table(&w->fields, (enum table_id) * next);
}

/* In alphabetical order, as everything in these files. extra: of the root, NULL = none. */
static void write_session_keys(struct hwrite *w, const struct part *root, const struct extra *extra)
{
	static const struct {
		const char *key;
		void (*write)(struct hwrite *w);
	} others[] = {
		{"end_ns", write_end_ns},
		{"frames", write_listed_frames},
		{"losses", write_losses},
		{"metrics", write_metric_table},
		{"root", NULL},
		{"sets", write_sets},
		{"source", write_source},
		{"start_ns", write_start_ns},
		{"version", write_version},
	};
	unsigned next = 0;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		write_tables(w, others[i].key, &next);
		if (others[i].write)
			others[i].write(w);
		else if (extra)
			write_root_keys(w, root, extra);
	}
}

void hwrite_root_extra(struct hwrite *w, const struct part *root)
{
	struct extra extra;
	bool own = extra_of(w, root, false, &extra);

	w->fields.node_numbers = w->numbers;
	if (!own && session_is_plain(w))
		return;
	jsonw_key_object(&w->json, "proton");
	write_session_keys(w, root, own ? &extra : NULL);
	jsonw_object_end(&w->json);
}
