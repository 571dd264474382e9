/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Hatchet JSON, byte for byte in the shape of Triton's Proton.
 *
 *   session nodes ── siblings of equal name folded ──> written nodes ──> struct out
 *                                                        └ "proton": what only we know
 *
 * A written node is made of one or more session nodes, its parts. No recursion: a stack of levels,
 * whose parts and groups live in one pool that grows and shrinks with it. */
#include "format/hatchet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/by_line.h"
#include "format/export.h"
#include "format/hatchet_extra.h"
#include "format/hatchet_kind.h"

/* A level of a node is indented by 8 blanks in some eight lines. A tree with more levels over all
 * its nodes is written without, as upstream writes its phase files: nobody reads a megabyte of blanks. */
#define LEVELS_INDENTED 16384

struct level {
	size_t base; /* of this level in the pool */
	uint32_t n_parts;
	bool grouped;
	uint32_t child;    /* not grouped: the next child */
	size_t group, end; /* grouped: the next group in the pool */
};

/* Is the tree small enough? Walked by its links alone. */
static bool is_indented(const struct session *s)
{
	uint32_t node = SESSION_ROOT;
	size_t depth = 0, levels = 0;

	while (levels <= LEVELS_INDENTED) {
		levels += depth;
		if (s->nodes[node].first_child != SESSION_NONE) {
			node = s->nodes[node].first_child;
			depth++;
			continue;
		}
		while (node != SESSION_ROOT && s->nodes[node].next_sibling == SESSION_NONE) {
			node = s->nodes[node].parent;
			depth--;
		}
		if (node == SESSION_ROOT)
			return true;
		node = s->nodes[node].next_sibling;
	}
	return false;
}

/* ---- the values of a node ---- */

static void add_value(struct hwrite *w, const struct session_row *row, uint32_t metric,
		      union metric_value v)
{
	const struct metric *m = hwrite_metric(w, metric);
	double weight = m->add == METRIC_WMEAN ? session_row_weight(w->s, row, m->weight,
								    w->s->values, w->s->present)
					       : 1;

	if (w->present[metric])
		v = metric_combine(m, w->values[metric], w->weights[metric], v, weight);
	else
		w->weights[metric] = 0;
	w->present[metric] = 1;
	w->values[metric] = v;
	w->weights[metric] += weight;
}

static void add_row(struct hwrite *w, const struct session_row *row)
{
	const struct session *s = w->s;
	const struct session_set *set = &s->sets[row->set];
	uint32_t device = session_lane_at(s, row->lane)->device;

	for (uint32_t k = 0; k < set->n; k++) {
		if (!s->present[row->values + k])
			continue;
		add_value(w, row, set->metrics[k], s->values[row->values + k]);
		if (device < s->n_devices && set->metrics[k] == METRIC_TIME)
			w->device_time[device] += s->values[row->values + k].u64;
	}
}

/* The device that a node counts for: the one where it spent most, since upstream has one only. */
static uint32_t add_rows(struct hwrite *w, uint32_t node, uint32_t best)
{
	const struct session *s = w->s;

	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id)) {
		uint32_t device = session_lane_at(s, s->rows[id].lane)->device;

		add_row(w, &s->rows[id]);
		w->host_asked = w->host_asked || export_host_is_asked(s, &s->rows[id]);
		if (device >= s->n_devices)
			continue;
		if (best == SESSION_NONE || w->device_time[device] > w->device_time[best])
			best = device;
	}
	return best;
}

static void clear_device_times(struct hwrite *w, uint32_t node)
{
	const struct session *s = w->s;

	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id)) {
		uint32_t device = session_lane_at(s, s->rows[id].lane)->device;

		if (device < s->n_devices)
			w->device_time[device] = 0;
	}
}

/* Readers sum up what the root lists, and nothing else. Upstream itself lists only what it
 * measures, and cannot sum up what users add. */
static bool is_on_root(const struct hwrite *w, uint32_t metric)
{
	const struct metric *m = hwrite_metric(w, metric);

	return export_adds_up(m) &&
	       (w->present[metric] ||
		(w->occurs[metric] && (!w->plain || hatchet_is_measured(m->name))));
}

/* As upstream writes it, that is null for a NaN. The word "nan" is for our own key alone. */
static void write_value(struct hwrite *w, uint32_t metric)
{
	const struct metric *m = hwrite_metric(w, metric);

	if (m->type == METRIC_F64)
		jsonw_f64(&w->json, w->values[metric].f64);
	else if (m->type == METRIC_U64)
		jsonw_u64(&w->json, w->values[metric].u64);
	else
		jsonw_string(&w->json, strtab_str(w->s->strings, w->values[metric].text),
			     strtab_len(w->s->strings, w->values[metric].text));
}

static void write_device_column(struct hwrite *w, const struct given *c, uint32_t device)
{
	const struct device_key *d;

	if (device == SESSION_NONE)
		return;
	d = &w->devices[device];
	jsonw_key_text(&w->json, c->key, c->metric == COLUMN_DEVICE_ID ? d->id : d->type);
}

static bool is_left_out(const struct hwrite *w, uint32_t metric)
{
	return w->host_if_asked &&
	       (metric == METRIC_CPU_COUNT || (metric == METRIC_CPU_TIME && !w->host_asked));
}

/* Has the node, or the root any other one, samples of code? */
static bool has_code(const struct hwrite *w, bool root)
{
	for (uint32_t i = METRIC_PC_SAMPLES; w->plain && i <= METRIC_STALLED_OTHER; i++)
		if (w->present[i] || (root && w->occurs[i]))
			return true;
	return false;
}

static bool has_column(const struct hwrite *w, const struct given *c, bool root)
{
	if (is_left_out(w, c->metric))
		return false;
	if (w->has_code && metric_is_of_their_code(c->metric))
		return true;
	return root ? is_on_root(w, c->metric) : w->present[c->metric];
}

static void write_whole(struct hwrite *w, const struct given *c, const char *key)
{
	jsonw_key(&w->json, key);
	if (w->present[c->metric])
		write_value(w, c->metric);
	else
		jsonw_u64(&w->json, 0);
}

/* A list, up to the last element that the node has. */
static void write_list(struct hwrite *w, const struct given *c, uint32_t n)
{
	uint32_t next = 0;

	while (n && !w->present[c[n - 1].metric])
		n--;
	if (!n)
		return;
	jsonw_key_array(&w->json, c->key);
	for (uint32_t i = 0; i < n; i++) {
		if (!w->present[c[i].metric] || c[i].element < next)
			continue;
		for (; next < c[i].element; next++)
			jsonw_null(&w->json);
		write_value(w, c[i].metric);
		next++;
	}
	jsonw_array_end(&w->json);
}

/* The columns of one key: of several values that a node has the first goes by it. */
static void write_columns(struct hwrite *w, const struct given *c, uint32_t n, uint32_t device,
			  bool root)
{
	bool taken = false;

	if (c->metric == COLUMN_DEVICE_ID || c->metric == COLUMN_DEVICE_TYPE) {
		write_device_column(w, c, device);
		return;
	}
	for (; n && c->element == GIVEN_WHOLE; c++, n--) {
		if (!has_column(w, c, root))
			continue;
		write_whole(w, c, taken ? hwrite_metric(w, c->metric)->name : c->key);
		taken = true;
	}
	if (!taken)
		write_list(w, c, n);
	for (; taken && n; c++, n--)
		if (w->present[c->metric])
			write_whole(w, c, hwrite_metric(w, c->metric)->name);
}

static void write_metrics(struct hwrite *w, const struct part *parts, uint32_t n)
{
	uint32_t device = SESSION_NONE, i;
	bool empty = true, root = parts[0].node == SESSION_ROOT;
	uint32_t run;

	w->host_asked = false;
	for (i = 0; i < n; i++) {
		empty = empty && session_first_row(w->s, parts[i].node) == SESSION_NONE;
		device = add_rows(w, parts[i].node, device);
	}
	w->has_code = has_code(w, root);
	if (w->has_code &&
	    !w->present[METRIC_TIME]) /* upstream tells of devices where work is timed */
		device = SESSION_NONE;
	jsonw_key_object(&w->json, "metrics");
	for (i = 0; i < w->columns.n && (!empty || root); i += run) {
		run = given_run(&w->columns, i);
		write_columns(w, &w->columns.given[i], run, device, root);
	}
	jsonw_object_end(&w->json);
	if (empty)
		return;
	memset(w->present, 0, metric_table_count(w->s->metrics));
	for (i = 0; i < n; i++)
		clear_device_times(w, parts[i].node);
}

/* ---- the tree ---- */

static uint32_t name_key(const struct session *s, uint32_t node)
{
	uint32_t frame = s->nodes[node].frame;
	const struct session_frame *f = &s->frames[frame];

	if (f->symbol)
		return f->symbol;
	return f->module == SESSION_NONE ? f->name : strtab_count(s->strings) + frame;
}

static int pool_push(struct hwrite *w, struct part part)
{
	if (ARRAY_ROOM(w->pool, w->pool_cap, w->pool_n + 1) < 0)
		return -ENOMEM;
	w->pool[w->pool_n++] = part;
	return 0;
}

/* Do two children of these parts have the same name? */
static bool has_namesakes(struct hwrite *w, const struct level *level)
{
	const struct session *s = w->s;

	w->mark++;
	for (uint32_t i = 0; i < level->n_parts; i++) {
		uint32_t c = s->nodes[w->pool[level->base + i].node].first_child;

		for (; c != SESSION_NONE; c = s->nodes[c].next_sibling) {
			uint32_t key = name_key(s, c);

			if (w->seen[key] == w->mark)
				return true;
			w->seen[key] = w->mark;
		}
	}
	return false;
}

/* Number the groups of the children in order of first appearance; their sizes go to the pool. */
static int count_groups(struct hwrite *w, const struct level *level, uint32_t *ret_n)
{
	const struct session *s = w->s;
	size_t first = w->pool_n;
	uint32_t n = 0;

	w->mark++;
	for (uint32_t i = 0; i < level->n_parts; i++) {
		uint32_t c = s->nodes[w->pool[level->base + i].node].first_child;

		for (; c != SESSION_NONE; c = s->nodes[c].next_sibling) {
			uint32_t key = name_key(s, c);

			if (w->seen[key] != w->mark) {
				w->seen[key] = w->mark;
				w->group_of[key] = n++;
				if (pool_push(w, (struct part){0, 0}) < 0)
					return -ENOMEM;
			}
			w->pool[first + w->group_of[key]].node++;
		}
	}
	*ret_n = n;
	return 0;
}

/* The children of a level as groups in the pool: n groups of {size, first}, then their parts. */
static int group_children(struct hwrite *w, struct level *level)
{
	const struct session *s = w->s;
	size_t groups = w->pool_n;
	uint32_t n, at = 0;
	int r = count_groups(w, level, &n);

	if (r < 0)
		return r;
	for (uint32_t g = 0; g < n; g++) {
		w->pool[groups + g].parent = at;
		at += w->pool[groups + g].node;
		w->pool[groups + g].node = 0;
	}
	if (ARRAY_ROOM(w->pool, w->pool_cap, w->pool_n + at) < 0)
		return -ENOMEM;
	w->pool_n += at;
	for (uint32_t i = 0; i < level->n_parts; i++) {
		uint32_t c = s->nodes[w->pool[level->base + i].node].first_child;

		for (; c != SESSION_NONE; c = s->nodes[c].next_sibling) {
			struct part *g = &w->pool[groups + w->group_of[name_key(s, c)]];

			w->pool[groups + n + g->parent + g->node++] = (struct part){c, i};
		}
	}
	level->grouped = true;
	level->group = groups;
	level->end = groups + n;
	return 0;
}

/* Open a written node, whose parts are the last n of the pool. */
static int open_node(struct hwrite *w, size_t base, uint32_t n)
{
	struct level *level;
	int r = 0;

	if (ARRAY_ROOM(w->levels, w->cap_levels, w->n_levels + 1) < 0)
		return -ENOMEM;
	level = &w->levels[w->n_levels++];
	*level = (struct level){.base = base, .n_parts = n};
	level->child = w->s->nodes[w->pool[base].node].first_child;
	for (uint32_t i = 0; i < n && w->numbers; i++)
		w->numbers[w->pool[base + i].node] = w->n_numbers++;
	if (n > 1 || has_namesakes(w, level))
		r = group_children(w, level);
	jsonw_object(&w->json);
	jsonw_key_array(&w->json, "children");
	return r;
}

static void write_frame(struct hwrite *w, uint32_t node)
{
	size_t len;
	const char *name = hwrite_name(w->s, node, &len);

	jsonw_key_object(&w->json, "frame");
	jsonw_key(&w->json, "name");
	jsonw_string(&w->json, name, len);
	jsonw_key_text(&w->json, "type", "function");
	jsonw_object_end(&w->json);
}

static void close_node(struct hwrite *w)
{
	const struct level *level = &w->levels[--w->n_levels];
	const struct part *parts = &w->pool[level->base];

	jsonw_array_end(&w->json);
	write_frame(w, parts[0].node);
	write_metrics(w, parts, level->n_parts);
	if (!w->plain && parts[0].node == SESSION_ROOT)
		hwrite_root_extra(w, parts);
	else if (!w->plain)
		hwrite_node_extra(w, parts, level->n_parts);
	jsonw_object_end(&w->json);
	w->pool_n = level->base;
}

/* The parts of the level's next child, pushed; their number, 0 when there is none left. */
static int push_next_child(struct hwrite *w, struct level *level)
{
	struct part g;

	if (!level->grouped) {
		uint32_t c = level->child;

		if (c == SESSION_NONE)
			return 0;
		level->child = w->s->nodes[c].next_sibling;
		return pool_push(w, (struct part){c, 0}) < 0 ? -ENOMEM : 1;
	}
	if (level->group == level->end)
		return 0;
	g = w->pool[level->group++];
	for (uint32_t i = 0; i < g.node; i++)
		if (pool_push(w, w->pool[level->end + g.parent + i]) < 0)
			return -ENOMEM;
	return (int)g.node;
}

static int write_tree(struct hwrite *w)
{
	int r = pool_push(w, (struct part){SESSION_ROOT, 0});

	if (r == 0)
		r = open_node(w, 0, 1);
	while (r >= 0 && w->n_levels) {
		size_t base = w->pool_n;

		r = push_next_child(w, &w->levels[w->n_levels - 1]);
		if (r > 0)
			r = open_node(w, base, (uint32_t)r);
		else if (r == 0)
			close_node(w);
		if (w->json.out->error)
			return w->json.out->error;
	}
	return r;
}

/* ---- the devices ---- */

static int device_compare(const void *a, const void *b)
{
	const struct device_key *x = a, *y = b;
	int r = strcmp(x->type, y->type);

	return r ? r : strcmp(x->id, y->id);
}

/* A device of which only the device_id of a node told is not in upstream's table either. A type
 * that is a key of nodes is left out: readers would take the table for another tree. */
static bool device_is_listed(const struct session_device *d, const char *type)
{
	return !hatchet_is_node_key(type) &&
	       (d->arch || d->num_sms || d->clock_khz || d->memory_clock_khz || d->bus_width_bits);
}

static void write_device(struct hwrite *w, const struct device_key *key)
{
	const struct session_device *d = &w->s->devices[key->device];

	jsonw_key_object(&w->json, key->id);
	jsonw_key_text(&w->json, "arch", strtab_str(w->s->strings, d->arch));
	jsonw_key_u64(&w->json, "bus_width", d->bus_width_bits);
	jsonw_key_u64(&w->json, "clock_rate", d->clock_khz);
	jsonw_key_u64(&w->json, "memory_clock_rate", d->memory_clock_khz);
	jsonw_key_u64(&w->json, "num_sms", d->num_sms);
	jsonw_object_end(&w->json);
}

static void write_devices(struct hwrite *w)
{
	const char *type = NULL;

	qsort(w->devices, w->s->n_devices, sizeof(*w->devices), device_compare);
	jsonw_object(&w->json);
	for (size_t i = 0; i < w->s->n_devices; i++) {
		const struct device_key *key = &w->devices[i];

		if (!device_is_listed(&w->s->devices[key->device], key->type))
			continue;
		if (!type || strcmp(type, key->type)) {
			if (type)
				jsonw_object_end(&w->json);
			type = key->type;
			jsonw_key_object(&w->json, type);
		}
		write_device(w, key);
	}
	if (type)
		jsonw_object_end(&w->json);
	jsonw_object_end(&w->json);
}

static int write_session(const struct session *s, const struct write_options *o, struct out *out)
{
	bool compact = o->compact || !is_indented(s);
	struct hwrite w = {.s = s,
			   .plain = o->plain,
			   .as_given = o->as_given,
			   .host_if_asked = o->host_if_asked,
			   .trace = !o->no_trace};
	int r;

	jsonw_init(&w.json, out, compact);
	w.json.upstream = true;
	w.fields = (struct fields_writer){.session = s, .json = &w.json, .hex = true};
	r = hwrite_init(&w);
	if (r == 0) {
		if (!compact)
			out_putc(out, '\n');
		jsonw_array(&w.json);
		r = write_tree(&w);
		if (r == 0)
			write_devices(&w);
		jsonw_array_end(&w.json);
		if (!compact)
			out_putc(out, '\n');
	}
	hwrite_done(&w);
	return r < 0 ? r : out->error;
}

int hatchet_write(const struct session *s, const struct write_options *options, struct out *out)
{
	static const struct write_options defaults;
	const struct write_options *o = options ? options : &defaults;
	_cleanup_(session_freep) struct session *by_line = NULL;
	int r = 0;

	if (o->plain && session_has_instructions(s))
		r = session_by_line(s, &by_line);
	return r < 0 ? r : write_session(by_line ? by_line : s, o, out);
}
