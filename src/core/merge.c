/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/merge.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"
#include "core/alike.h"
#include "core/parted.h"
#include "core/row_tables.h"

/* By id of the input: the id of the same thing in the target. */
struct id_map {
	uint32_t *to;
	size_t n;
};

enum map_id {
	MAP_STRINGS,
	MAP_METRICS,
	MAP_MODULES,
	MAP_FRAMES,
	MAP_NODES,
	MAP_PROCESSES,
	MAP_DEVICES,
	MAP_LANES,
	MAP_EPOCHS,
	MAP_SETS,
	MAP_N
};

struct merge {
	struct session *into;
	struct idindex names; /* nodes by parent and name, when only names count */
	bool by_name;
	const uint8_t *folds; /* by node of the input: it is called by its pattern; NULL: none is */
	const uint32_t *to;   /* by node of the input: which one it is; NULL: itself */
	const uint8_t *parted; /* by node: a part of what is below it is left out; NULL: none is */
	const uint8_t *host; /* by node that is another one: it gets time on the host; NULL: none */
	const uint32_t *
		above; /* by node of the input that is itself: its parent instead; NULL: as it is */
	const uint8_t *rows; /* by row of the input: it is taken; NULL: all are */
	const uint8_t
		*taken[TABLE_N]; /* … by row of a table; NULL: as its part of a session says */
	/* The input at hand. */
	const struct session *from;
	const struct merge_options *options;
	/* Take this tree, with its groups as nodes. NULL: take the tree of the input. */
	const struct snapshot *view;
	group_name_fn *group_name;
	void *group_ctx;
	struct id_map maps[MAP_N];
	uint32_t process; /* made for an input that names none, or SESSION_NONE */
	size_t n_rows_before;
};

static uint32_t mapped(const struct merge *m, enum map_id map, uint32_t id)
{
	return id < m->maps[map].n ? m->maps[map].to[id] : SESSION_NONE;
}

static int map_begin(struct merge *m, enum map_id map, size_t n)
{
	struct id_map *x = &m->maps[map];
	uint32_t *to = malloc(MAX(n, (size_t)1) * sizeof(*to));

	if (!to)
		return -ENOMEM;
	memset(to, 0xff, MAX(n, (size_t)1) * sizeof(*to));
	free(x->to);
	x->to = to;
	x->n = n;
	return 0;
}

/* Map all elements of one kind. add: the id in the target of an element, which is made when it is
 * new; SESSION_NONE: out of memory. */
static int map_all(struct merge *m, enum map_id map, size_t n,
		   uint32_t (*add)(struct merge *, uint32_t))
{
	int r = map_begin(m, map, n);

	for (size_t i = 0; i < n && r == 0; i++) {
		m->maps[map].to[i] = add(m, (uint32_t)i);
		r = m->maps[map].to[i] == SESSION_NONE ? -ENOMEM : 0;
	}
	return r;
}

/* Add all elements of a kind that nothing refers to. */
static int add_all(struct merge *m, size_t n, int (*add)(struct merge *, uint32_t))
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = add(m, (uint32_t)i);
	return r;
}

/* The target's id of a string, copied when first asked for: unused strings are not copied. */
static int map_string(struct merge *m, uint32_t id, uint32_t *ret)
{
	struct id_map *x = &m->maps[MAP_STRINGS];

	*ret = 0;
	if (id >= x->n) /* a (module, offset) frame has no name, for example */
		return 0;
	if (x->to[id] == SESSION_NONE)
		x->to[id] = strtab_add(m->into->strings, strtab_str(m->from->strings, id),
				       strtab_len(m->from->strings, id));
	*ret = x->to[id];
	return x->to[id] == SESSION_NONE ? -ENOMEM : 0;
}

/* Replace n string ids of the input by those of the target. */
static int map_strings(struct merge *m, uint32_t **ids, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++)
		r = map_string(m, *ids[i], ids[i]);
	return r;
}

struct merge *merge_new(struct session *into)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (m)
		m->into = into;
	return m;
}

struct merge *merge_free(struct merge *m)
{
	unsigned i;

	if (!m)
		return NULL;
	for (i = 0; i < MAP_N; i++)
		free(m->maps[i].to);
	idindex_done(&m->names);
	free(m);
	return NULL;
}

/* ---- metrics, frames and nodes ---- */

/* Inputs disagree about a metric: the first one counts, and a note tells the reader so. */
static int note_differs(struct merge *m, const char *name, const char *what)
{
	_cleanup_(buf_done) struct buf text = {0};

	buf_printf(&text, "files differ on '%s': %s", name, what);
	return text.error ? -ENOMEM
			  : session_note(m->into, SESSION_NONE, NOTE_WARNING, buf_str(&text));
}

static int compare_metric(struct merge *m, const struct metric *a, const struct metric *b)
{
	static const char *const scopes[] = {
		[METRIC_INCLUSIVE] = "the first says inclusive, which counts",
		[METRIC_EXCLUSIVE] = "the first says exclusive, which counts",
		[METRIC_PROPERTY] = "the first says property, which counts",
	};
	static const char *const rules[METRIC_N_ADDS] = {
		[METRIC_SUM] = "the first says that it adds up, which counts",
		[METRIC_MIN] = "the first says minimum, which counts",
		[METRIC_MAX] = "the first says maximum, which counts",
		[METRIC_LAST] = "the first says the last value, which counts",
		[METRIC_WMEAN] = "the first says mean, which counts",
		[METRIC_GAUGE] = "the first says what there is now, which counts",
		[METRIC_PEAK] = "the first says the peak, which counts",
	};

	static const char *const types[] = {
		"the first has numbers, texts of others are left out",
		"the first has texts, numbers of others are left out",
	};

	if ((a->type == METRIC_TEXT) != (b->type == METRIC_TEXT))
		return note_differs(m, a->name, types[a->type == METRIC_TEXT]);
	if (a->scope != b->scope)
		return note_differs(m, a->name, scopes[a->scope]);
	return a->add != b->add ? note_differs(m, a->name, rules[a->add]) : 0;
}

static uint32_t add_metric(struct merge *m, uint32_t id)
{
	struct metric copy = *metric_table_get(m->from->metrics, id);
	uint32_t n = metric_table_count(m->into->metrics), to;

	/* The metric that weighs a mean may have a higher id than the mean: add it now. */
	if (copy.weight != METRIC_NONE) {
		const struct metric *weight = metric_table_get(m->from->metrics, copy.weight);
		struct metric w = *weight;

		w.weight = METRIC_NONE;
		copy.weight = session_metric_add(m->into, &w);
		if (copy.weight == METRIC_NONE)
			return METRIC_NONE;
	}
	to = session_metric_add(m->into, &copy);
	if (to < n && compare_metric(m, metric_table_get(m->into->metrics, to), &copy) < 0)
		return METRIC_NONE;
	return to;
}

static uint32_t add_module(struct merge *m, uint32_t id)
{
	struct session_module module = m->from->modules[id];
	uint32_t *strings[] = {&module.build_id, &module.path};

	if (map_strings(m, strings, ARRAY_SIZE(strings)) < 0)
		return SESSION_NONE;
	return session_module_intern(m->into, &module);
}

static uint32_t add_frame(struct merge *m, uint32_t id)
{
	struct session_frame f = m->from->frames[id];
	uint32_t *strings[] = {&f.name, &f.symbol, &f.file}, to;

	if (map_strings(m, strings, ARRAY_SIZE(strings)) < 0)
		return SESSION_NONE;
	to = session_frame_intern(m->into, (enum frame_kind)f.kind, f.name,
				  mapped(m, MAP_MODULES, f.module), f.offset);
	if (to == SESSION_NONE)
		return SESSION_NONE;
	if ((f.symbol || f.file) && !m->into->frames[to].symbol && !m->into->frames[to].file)
		session_frame_symbol(m->into, to, f.symbol, f.file, f.line);
	return to;
}

struct name_key {
	uint32_t parent, name;
};

/* What a frame is called, as a string of the target. */
static uint32_t name_of_frame(const struct session *s, uint32_t frame)
{
	const struct session_frame *f = &s->frames[frame];

	return f->symbol ? f->symbol : f->name;
}

static bool name_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session *s = ctx;
	const struct name_key *k = key;

	return s->nodes[id].parent == k->parent && name_of_frame(s, s->nodes[id].frame) == k->name;
}

/* The child of this name, whatever it is; made when absent. */
static uint32_t node_by_name(struct merge *m, uint32_t parent, uint32_t frame)
{
	const struct session_frame *f = &m->into->frames[frame];
	struct name_key key = {parent, name_of_frame(m->into, frame)};
	uint64_t hash = hash_pair(key.parent, key.name);
	uint32_t id;

	if (!f->symbol && f->module != SESSION_NONE) /* an address without a name */
		return session_node_intern(m->into, parent, frame);
	id = idindex_find(&m->names, hash, name_equal, m->into, &key);
	if (id != IDINDEX_NONE)
		return id;
	id = session_node_append(m->into, parent, frame);
	if (id != SESSION_NONE && idindex_add(&m->names, hash, id) < 0)
		return SESSION_NONE;
	return id;
}

#define PATTERN_MAX 4096

/* A frame of the same kind, called "iter #". */
static uint32_t pattern_frame(struct merge *m, uint32_t id)
{
	char name[PATTERN_MAX];
	uint32_t string;

	alike_pattern(session_node_name(m->from, id), name, sizeof(name));
	string = strtab_adds(m->into->strings, name);
	return string == STRTAB_NONE ? SESSION_NONE
				     : session_frame_intern(m->into, session_node_kind(m->from, id),
							    string, SESSION_NONE, 0);
}

static uint32_t add_node(struct merge *m, uint32_t id)
{
	const struct session_node *n = &m->from->nodes[id];
	uint32_t parent = mapped(m, MAP_NODES, m->above ? m->above[id] : n->parent);
	uint32_t frame = mapped(m, MAP_FRAMES, n->frame);

	if (id == SESSION_ROOT) /* all roots are the same node, whatever their names */
		return SESSION_ROOT;
	if (m->folds && m->folds[id])
		frame = pattern_frame(m, id);
	if (frame == SESSION_NONE)
		return SESSION_NONE;
	if (m->to && !m->above) /* siblings of one name stay apart */
		return session_node_append(m->into, parent, frame);
	return m->by_name ? node_by_name(m, parent, frame)
			  : session_node_intern(m->into, parent, frame);
}

/* A part of the nodes. Those above come first. */
static int add_kept_nodes(struct merge *m)
{
	uint32_t n = (uint32_t)m->from->n_nodes;
	int r = map_begin(m, MAP_NODES, n);

	for (uint32_t i = 0; i < n && r == 0; i++) {
		uint32_t to = m->to[i], *id = &m->maps[MAP_NODES].to[i];

		if (to == SESSION_NONE)
			continue;
		*id = to == i ? add_node(m, i) : mapped(m, MAP_NODES, to);
		r = *id == SESSION_NONE ? -ENOMEM : 0;
	}
	return r;
}

/* A group has no frame in the input: make one from its name. */
static uint32_t view_frame(struct merge *m, const struct snap_node *n, uint32_t id)
{
	char name[256];

	if (n->session_node != SESSION_NONE)
		return mapped(m, MAP_FRAMES, m->from->nodes[n->session_node].frame);
	m->group_name(m->group_ctx, id, name, sizeof(name));
	return session_frame_intern(m->into, (enum frame_kind)n->kind,
				    strtab_adds(m->into->strings, name), SESSION_NONE, 0);
}

static uint32_t add_view_node(struct merge *m, uint32_t id)
{
	const struct snap_node *n = snapshot_node(m->view, id);
	uint32_t frame;

	if (n->parent == SNAP_NONE)
		return SESSION_ROOT;
	frame = view_frame(m, n, id);
	return frame == SESSION_NONE
		       ? SESSION_NONE
		       : session_node_intern(m->into, mapped(m, MAP_NODES, n->parent), frame);
}

static int add_nodes(struct merge *m)
{
	if (m->to)
		return add_kept_nodes(m);
	return m->view ? map_all(m, MAP_NODES, snapshot_n(m->view), add_view_node)
		       : map_all(m, MAP_NODES, m->from->n_nodes, add_node);
}

static uint32_t add_device(struct merge *m, uint32_t id)
{
	struct session_device d = m->from->devices[id];
	uint32_t *strings[] = {&d.type, &d.name, &d.arch, &d.uuid, &d.driver, &d.host};

	if (map_strings(m, strings, ARRAY_SIZE(strings)) < 0)
		return SESSION_NONE;
	return session_device_intern(m->into, &d);
}

static uint32_t add_epoch(struct merge *m, uint32_t id)
{
	struct session_epoch e = m->from->epochs[id];

	if (map_string(m, e.name, &e.name) < 0)
		return SESSION_NONE;
	if (!e.phase && m->options->phase >= 0)
		e.phase = (uint32_t)m->options->phase;
	return session_epoch_intern(m->into, &e);
}

static uint32_t add_set(struct merge *m, uint32_t id)
{
	const struct session_set *set = &m->from->sets[id];
	_cleanup_(freep) uint32_t *metrics = malloc(MAX(set->n, 1u) * sizeof(*metrics));

	if (!metrics)
		return SESSION_NONE;
	for (uint32_t i = 0; i < set->n; i++)
		metrics[i] = mapped(m, MAP_METRICS, set->metrics[i]);
	return session_set_intern(m->into, metrics, set->n);
}

/* ---- processes and lanes ---- */

/* An instance number for a process that has none; the same each time the input is read. */
static uint64_t instance_of(const struct merge *m, uint32_t process)
{
	const char *name = m->options->name ? m->options->name : "";

	return hash_u64(hash_bytes(name, strlen(name)) + process) | 1;
}

/* An earlier input has this process too. Its counts only grow, so the larger ones are newer. */
static void process_update(struct session_process *to, const struct session_process *p)
{
	unsigned i;

	for (i = 0; i < LOSS_N; i++)
		to->losses[i] = MAX(to->losses[i], p->losses[i]);
	to->n_launches = MAX(to->n_launches, p->n_launches);
	to->n_records = MAX(to->n_records, p->n_records);
	to->own_cpu_ns = MAX(to->own_cpu_ns, p->own_cpu_ns);
	to->last_ns = MAX(to->last_ns, p->last_ns);
	to->end = MAX(to->end, p->end);
}

static uint32_t add_process(struct merge *m, uint32_t id)
{
	struct session_process p = m->from->processes[id];
	uint32_t *strings[] = {&p.exe, &p.cmdline, &p.host}, to;
	size_t before = m->into->n_processes;

	if (map_strings(m, strings, ARRAY_SIZE(strings)) < 0)
		return SESSION_NONE;
	if (!p.instance)
		p.instance = instance_of(m, id + 1);
	if (p.rank < 0)
		p.rank = m->options->rank;
	to = session_process_add(m->into, p.instance);
	if (to < before)
		process_update(&m->into->processes[to], &p);
	else if (to != SESSION_NONE)
		m->into->processes[to] = p;
	return to;
}

/* Make the process that an input without processes stands for. */
static int add_own_process(struct merge *m)
{
	const char *name = m->options->name ? m->options->name : "";
	size_t before = m->into->n_processes;
	uint32_t exe = strtab_adds(m->into->strings, name), to;

	to = session_process_add(m->into, instance_of(m, 0));
	if (exe == STRTAB_NONE || to == SESSION_NONE)
		return -ENOMEM;
	if (to >= before) {
		m->into->processes[to].exe = exe;
		m->into->processes[to].rank = m->options->rank;
		m->into->processes[to].end = PROCESS_ENDED;
	}
	m->process = to;
	return 0;
}

static uint32_t add_lane(struct merge *m, uint32_t id)
{
	struct session_lane l = m->from->lanes[id];

	l.process = mapped(m, MAP_PROCESSES, l.process);
	l.device = mapped(m, MAP_DEVICES, l.device);
	if (l.process == SESSION_NONE && !m->folds && !m->to) {
		if (m->process == SESSION_NONE && add_own_process(m) < 0)
			return SESSION_NONE;
		l.process = m->process;
	}
	return session_lane_intern(m->into, &l);
}

/* ---- values ---- */

/* Convert a value to the type that the metric has in the target. *ret_known is false when that is
 * not possible: one is a text, the other a number. */
static int map_value(struct merge *m, uint32_t metric, union metric_value *v, bool *ret_known)
{
	const struct metric *a = metric_table_get(m->from->metrics, metric);
	const struct metric *b = metric_table_get(m->into->metrics, mapped(m, MAP_METRICS, metric));

	*ret_known = metric_convert((enum metric_type)a->type, (enum metric_type)b->type, v);
	return *ret_known && a->type == METRIC_TEXT ? map_string(m, v->text, &v->text) : 0;
}

static double weight_of(const struct session *s, const struct session_row *r, uint32_t weight)
{
	return session_row_weight(s, r, weight, s->values, s->present);
}

/* The target has a value here already: combine both by the metric's rule. */
static union metric_value value_add(const struct merge *m, const struct session_row *from,
				    const struct session_row *to, uint32_t i, union metric_value v)
{
	uint32_t id = m->into->sets[to->set].metrics[i];
	const struct metric *metric = metric_table_get(m->into->metrics, id);
	uint32_t from_id = m->from->sets[from->set].metrics[i];
	double wa = 1, wb = 1;

	if (metric->add == METRIC_WMEAN) {
		wa = weight_of(m->into, to, metric->weight);
		wb = weight_of(m->from, from, metric_table_get(m->from->metrics, from_id)->weight);
	}
	return metric_combine(metric, m->into->values[to->values + i], wa, v, wb);
}

/* Does another node get a value of this node? What describes a node stays with it. */
static bool is_given(const struct merge *m, uint32_t node, uint32_t metric)
{
	const struct metric *x = metric_table_get(m->from->metrics, metric);

	if (m->parted && m->parted[node] && parted_metric(m->from, metric))
		return false;
	if (!m->to || m->above || m->to[node] == node)
		return true;
	if (metric == METRIC_CPU_TIME)
		return m->host && m->host[node];
	return x->scope == METRIC_INCLUSIVE && x->type != METRIC_TEXT;
}

static bool gives_any(const struct merge *m, const struct session_row *from)
{
	const struct session_set *set = &m->from->sets[from->set];

	for (uint32_t i = 0; i < set->n; i++)
		if (m->from->present[from->values + i] && is_given(m, from->node, set->metrics[i]))
			return true;
	return false;
}

static int copy_values(struct merge *m, const struct session_row *from, uint32_t row)
{
	const struct session_set *set = &m->from->sets[from->set];
	uint32_t pass, i;

	/* Weighted means first: their weights in the target must not be added to yet. */
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < set->n; i++) {
			const struct session_row *to = &m->into->rows[row];
			union metric_value v = m->from->values[from->values + i];
			bool mean = metric_table_get(m->into->metrics,
						     m->into->sets[to->set].metrics[i])
					    ->add == METRIC_WMEAN;
			bool known;

			if (!m->from->present[from->values + i] || mean == (pass == 1) ||
			    !is_given(m, from->node, set->metrics[i]))
				continue;
			if (map_value(m, set->metrics[i], &v, &known) < 0)
				return -ENOMEM;
			if (!known)
				continue;
			if (m->into->present[to->values + i])
				v = value_add(m, from, to, i, v);
			session_row_set(m->into, row, i, v);
		}
	}
	return 0;
}

static int add_row(struct merge *m, uint32_t id)
{
	const struct session_row *from = &m->from->rows[id];
	uint32_t node = m->view ? snapshot_row_node(m->view, id) : from->node, row;

	node = mapped(m, MAP_NODES, node);
	if (node == SESSION_NONE || (m->rows && !m->rows[id]) ||
	    (m->to && m->to[from->node] != from->node && !gives_any(m, from)))
		return 0;
	row = session_row_intern(m->into, node, mapped(m, MAP_LANES, from->lane),
				 mapped(m, MAP_EPOCHS, from->epoch),
				 mapped(m, MAP_SETS, from->set));
	return row == SESSION_NONE ? -ENOMEM : copy_values(m, from, row);
}

static int add_hist(struct merge *m, uint32_t id)
{
	const struct session_hist *from = &m->from->hists[id];
	uint32_t node = mapped(m, MAP_NODES, from->node);
	uint32_t process = mapped(m, MAP_PROCESSES, from->process);
	struct hist *into;

	if (node == SESSION_NONE)
		return 0;
	into = session_hist_of(m->into, node, mapped(m, MAP_DEVICES, from->device),
			       process == SESSION_NONE ? m->process : process);
	return into ? hist_merge(into, &from->hist) : -ENOMEM;
}

/* ---- the rest ---- */

/* Each names what an id of the input is in the target. 1, 0: the row is none there, or -ENOMEM. */
typedef int name_fn(struct merge *m, const struct field *field, uint32_t *id);

static int name_string(struct merge *m, const struct field *field, uint32_t *id)
{
	int r = map_string(m, *id, id);

	(void)field;
	return r < 0 ? r : 1;
}

static int name_by(const struct merge *m, const struct field *field, enum map_id map, uint32_t *id)
{
	*id = mapped(m, map, *id);
	return *id != SESSION_NONE || !(field->flags & FIELD_NEEDED);
}

static int name_node(struct merge *m, const struct field *field, uint32_t *id)
{
	return name_by(m, field, MAP_NODES, id);
}

static int name_lane(struct merge *m, const struct field *field, uint32_t *id)
{
	return name_by(m, field, MAP_LANES, id);
}

static int name_device(struct merge *m, const struct field *field, uint32_t *id)
{
	return name_by(m, field, MAP_DEVICES, id);
}

static int name_metric(struct merge *m, const struct field *field, uint32_t *id)
{
	return name_by(m, field, MAP_METRICS, id);
}

static int name_process(struct merge *m, const struct field *field, uint32_t *id)
{
	*id = mapped(m, MAP_PROCESSES, *id);
	if (*id == SESSION_NONE && field->flags & FIELD_OWNED)
		*id = m->process;
	return 1;
}

static int name_epoch(struct merge *m, const struct field *field, uint32_t *id)
{
	(void)field;
	*id = *id ? mapped(m, MAP_EPOCHS, *id) : 0;
	return 1;
}

/* Parts are of a stream. */
static int name_part(struct merge *m, const struct field *field, uint32_t *id)
{
	(void)m, (void)field;
	*id = 0;
	return 1;
}

static name_fn *const names[FIELD_N] = {
	[FIELD_STRING] = name_string, [FIELD_WORDS] = name_string,  [FIELD_NODE] = name_node,
	[FIELD_LANE] = name_lane,     [FIELD_EPOCH] = name_epoch,   [FIELD_PROCESS] = name_process,
	[FIELD_DEVICE] = name_device, [FIELD_METRIC] = name_metric, [FIELD_PART] = name_part,
};

static int name_ids(struct merge *m, const struct row_ids *ids, union any_row *row)
{
	int r = 1;

	for (size_t i = 0; i < ids->n && r == 1; i++)
		r = names[ids->v[i]->type](m, ids->v[i], row_id(row, ids->v[i]));
	return r;
}

/* Whose it is the input does not say: beside others it is of each of the input's processes. */
static int add_unrecorded_of_all(struct merge *m, struct session_unrecorded span)
{
	const struct id_map *map = &m->maps[MAP_PROCESSES];
	int r = 0;

	if (m->folds || m->to) /* as add_lane() */
		return session_unrecorded_set(m->into, &span);
	for (size_t i = 0; i < map->n && r == 0; i++) {
		span.process = map->to[i];
		r = session_unrecorded_add(m->into, &span);
	}
	span.process = m->process;
	return r < 0 || m->process == SESSION_NONE ? r : session_unrecorded_add(m->into, &span);
}

static int add_unrecorded(struct merge *m, uint32_t i, const union any_row *row)
{
	return mapped(m, MAP_PROCESSES, m->from->unrecorded[i].process) == SESSION_NONE
		       ? add_unrecorded_of_all(m, row->unrecorded)
		       : session_unrecorded_set(m->into, &row->unrecorded);
}

static int add_table(struct merge *m, enum table_id id)
{
	const struct row_table *t = &row_tables[id];
	/* Of the i-th row of the input, where there is more to it than the table says. */
	static int (*const adds[TABLE_N])(struct merge *, uint32_t, const union any_row *) = {
		[TABLE_UNRECORDED] = add_unrecorded};
	const uint8_t *taken = m->taken[id];
	union any_row row;
	struct row_ids ids;
	int r = 0;

	row_ids(id, &ids);
	for (uint32_t i = 0; i < m->from->tables[id].n && r >= 0; i++) {
		if (taken && !taken[i])
			continue;
		memcpy(&row, row_at(m->from, id, i), t->row_size);
		r = name_ids(m, &ids, &row);
		if (r == 1)
			r = adds[id] ? adds[id](m, i, &row) : session_table_add(m->into, id, &row);
		r = r == -EINVAL ? 0 : r; /* a row that is none */
	}
	return MIN(r, 0);
}

/* Has what is made of the input rows of a table? What names a node, not a row, cannot be divided among groups. */
static bool has_table(const struct merge *m, enum table_id id)
{
	const bool of_part[] = {[PART_WHOLE] = false,
				[PART_TRACE] = m->taken[TABLE_INTERVALS] != NULL,
				[PART_ALL] = true,
				[PART_DIMENSION] = false};
	enum table_part part = row_tables[id].part;

	if (part == PART_DIMENSION ||
	    (m->view && (part == PART_TRACE || row_field(id, FIELD_NODE))))
		return false;
	return !m->rows || of_part[part];
}

static int add_tables(struct merge *m)
{
	int r = 0;

	for (unsigned i = 0; i < TABLE_N && r == 0; i++)
		if (has_table(m, (enum table_id)i))
			r = add_table(m, (enum table_id)i);
	return r;
}

static int add_session(struct merge *m)
{
	struct session *s = m->into;
	const struct session *from = m->from;
	unsigned i;

	for (i = 0; i < LOSS_N; i++)
		s->losses[i] += from->losses[i];
	if (from->start_ns && (!s->start_ns || from->start_ns < s->start_ns))
		s->start_ns = from->start_ns;
	s->end_ns = MAX(s->end_ns, from->end_ns);
	s->ended = true;
	return s->source ? 0 : map_string(m, from->source, &s->source);
}

/* Has the input rows of a process and an epoch for which the target has rows already? Lanes and
 * epochs must be mapped, and no row added yet. */
static bool is_twice(const struct merge *m, size_t n_processes_before)
{
	const struct session *s = m->into;
	bool known = m->process < n_processes_before;
	uint8_t *epochs;
	bool twice = false;
	size_t i;

	for (i = 0; i < m->maps[MAP_PROCESSES].n; i++)
		known = known || m->maps[MAP_PROCESSES].to[i] < n_processes_before;
	if (!known) /* the usual case costs nothing */
		return false;
	epochs = calloc(s->n_epochs * n_processes_before, 1);
	if (!epochs)
		return false;
	for (i = 0; i < s->n_rows; i++) {
		uint32_t process = s->lanes[s->rows[i].lane].process;

		if (process < n_processes_before)
			epochs[process * s->n_epochs + s->rows[i].epoch] = 1;
	}
	for (i = 0; i < m->from->n_rows && !twice; i++) {
		uint32_t lane = mapped(m, MAP_LANES, m->from->rows[i].lane);
		uint32_t epoch = mapped(m, MAP_EPOCHS, m->from->rows[i].epoch);
		uint32_t process = lane < s->n_lanes ? s->lanes[lane].process : SESSION_NONE;

		twice = process < n_processes_before && epochs[process * s->n_epochs + epoch];
	}
	free(epochs);
	return twice;
}

/* Refuse an input with a row that has no lane or no epoch. All readers make both. */
static int add_lanes(struct merge *m)
{
	int r = map_all(m, MAP_LANES, m->from->n_lanes, add_lane);
	size_t i;

	for (i = 0; i < m->from->n_rows && r == 0; i++)
		if (m->from->rows[i].lane >= m->from->n_lanes ||
		    m->from->rows[i].epoch >= m->from->n_epochs)
			r = -EINVAL;
	return r;
}

static int add_dimensions(struct merge *m)
{
	const struct session *f = m->from;
	size_t n_before = m->into->n_processes;
	int r;

	if ((r = map_begin(m, MAP_STRINGS, strtab_count(f->strings))) < 0 ||
	    (r = map_all(m, MAP_PROCESSES, f->n_processes, add_process)) < 0 ||
	    (r = map_all(m, MAP_DEVICES, f->n_devices, add_device)) < 0 ||
	    (r = map_all(m, MAP_EPOCHS, f->n_epochs, add_epoch)) < 0 || (r = add_lanes(m)) < 0)
		return r;
	return is_twice(m, n_before) ? -EEXIST : 0;
}

static int add_tree(struct merge *m)
{
	const struct session *f = m->from;
	int r;

	if ((r = map_all(m, MAP_METRICS, metric_table_count(f->metrics), add_metric)) < 0 ||
	    (r = map_all(m, MAP_SETS, f->n_sets, add_set)) < 0 ||
	    (r = map_all(m, MAP_MODULES, f->n_modules, add_module)) < 0 ||
	    (r = map_all(m, MAP_FRAMES, f->n_frames, add_frame)) < 0)
		return r;
	return add_nodes(m);
}

static int add_values(struct merge *m)
{
	const struct session *f = m->from;
	int r = add_all(m, f->n_rows, add_row);

	/* Histograms name a node, not a row: they cannot be divided among groups. */
	if (r == 0 && !m->view && !m->rows)
		r = add_all(m, f->n_hists, add_hist);
	if (r == 0)
		r = add_tables(m);
	return r < 0 ? r : add_session(m);
}

static const struct merge_options plain = {NULL, -1, -1};

void merge_by_name(struct merge *m)
{
	m->by_name = true;
}

void merge_fold(struct merge *m, const uint8_t *folds)
{
	m->folds = folds;
}

void merge_keep(struct merge *m, const uint32_t *to, const uint8_t *host, const uint8_t *parted)
{
	m->parted = parted;
	m->to = to;
	m->host = host;
}

void merge_keep_copies(struct merge *m, const uint8_t *copy_lanes)
{
	m->taken[TABLE_COPY_LANES] = copy_lanes;
}

void merge_arrange(struct merge *m, const uint32_t *to, const uint32_t *above)
{
	m->to = to;
	m->above = above;
}

void merge_rows(struct merge *m, const uint8_t *rows, const uint8_t *intervals)
{
	m->rows = rows;
	m->taken[TABLE_INTERVALS] = intervals;
}

const uint32_t *merge_nodes(const struct merge *m)
{
	return m->maps[MAP_NODES].to;
}

int merge_add_tree(struct merge *m, const struct session *from)
{
	m->from = from;
	m->options = &plain;
	if (map_begin(m, MAP_STRINGS, strtab_count(from->strings)) < 0)
		return -ENOMEM;
	return add_tree(m);
}

int merge_add(struct merge *m, const struct session *from, const struct merge_options *options)
{
	int r;

	m->from = from;
	m->options = options ? options : &plain;
	m->process = SESSION_NONE;
	r = add_dimensions(m);
	if (r == 0)
		r = add_tree(m);
	return r < 0 ? r : add_values(m);
}

int merge_add_view(struct merge *m, const struct snapshot *view, group_name_fn *group_name,
		   void *ctx)
{
	int r;

	m->view = view;
	m->group_name = group_name;
	m->group_ctx = ctx;
	r = merge_add(m, snapshot_session(view), NULL);
	m->view = NULL;
	return r;
}

/* ---- file names ---- */

/* The number after a word, as in "rank3" or "rank_3", where no letter or digit stands before the
 * word. -1: none. */
static int64_t number_behind(const char *name, const char *word, bool separated,
			     const char **ret_at, const char **ret_end)
{
	const char *p = name, *digits;
	char *end;

	for (; (p = strstr(p, word)); p++) {
		if (p > name && isalnum((unsigned char)p[-1]))
			continue;
		digits = p + strlen(word);
		if (separated && (*digits == '_' || *digits == '-'))
			digits++;
		if (!isdigit((unsigned char)*digits) || strspn(digits, "0123456789") > 9)
			continue;
		*ret_at = p;
		*ret_end = digits + strspn(digits, "0123456789");
		if (!isalnum((unsigned char)**ret_end))
			return strtol(digits, &end, 10);
	}
	return -1;
}

void merge_guess(const char *path, char *name, size_t size, struct merge_options *ret)
{
	const char *base = strrchr(path, '/'), *at, *end;
	size_t n = 0;

	base = base ? base + 1 : path;
	*ret = (struct merge_options){name, (int32_t)number_behind(base, "rank", true, &at, &end),
				      -1};
	if (ret->rank < 0)
		ret->rank = (int32_t)number_behind(base, "r", false, &at, &end);
	ret->phase = number_behind(base, "part_", false, &at, &end);
	if (ret->phase >= 0 && at > base && at[-1] == '.') {
		n = MIN((size_t)(at - 1 - path), size - 1);
		memcpy(name, path, n);
		path = end;
	} else {
		ret->phase = -1;
	}
	while (*path && n + 1 < size)
		name[n++] = *path++;
	name[n] = 0;
}
