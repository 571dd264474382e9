/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/merge.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"

/* Ids of the input, and what they are in the target. */
struct id_map {
	uint32_t *to;
	size_t n;
};

enum map_id {
	MAP_STRINGS, MAP_METRICS, MAP_MODULES, MAP_FRAMES, MAP_NODES, MAP_PROCESSES, MAP_DEVICES,
	MAP_LANES, MAP_EPOCHS, MAP_SETS, MAP_N
};

struct merge {
	struct session *into;
	struct idindex rows, hists;
	struct idindex names; /* nodes by parent and name, when only names count */
	bool by_name;
	uint32_t *last_row; /* of each node of the target */
	size_t cap_last_row, n_last_row;
	/* The input at hand. */
	const struct session *from;
	const struct merge_options *options;
	const struct snapshot *view; /* whose tree comes over, groups as nodes; NULL: the input's */
	group_name_fn *group_name;
	void *group_ctx;
	struct id_map maps[MAP_N];
	uint32_t process; /* that it stands for, or SESSION_NONE */
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

/* Bring all elements of one kind over. */
static int add_all(struct merge *m, int map, size_t n, int (*add)(struct merge *, uint32_t))
{
	size_t i;
	int r = map >= 0 ? map_begin(m, (enum map_id)map, n) : 0;

	for (i = 0; i < n && r == 0; i++)
		r = add(m, (uint32_t)i);
	return r;
}

/* Strings come over when something refers to them. */
static int map_string(struct merge *m, uint32_t id, uint32_t *ret)
{
	struct id_map *x = &m->maps[MAP_STRINGS];

	*ret = 0;
	if (id >= x->n) /* such as the name that a (module, offset) frame does not have */
		return 0;
	if (x->to[id] == SESSION_NONE)
		x->to[id] = strtab_add(m->into->strings, strtab_str(m->from->strings, id),
				       strtab_len(m->from->strings, id));
	*ret = x->to[id];
	return x->to[id] == SESSION_NONE ? -ENOMEM : 0;
}

/* Bring the n string ids of an element over. */
static int map_strings(struct merge *m, uint32_t **ids, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++)
		r = map_string(m, *ids[i], ids[i]);
	return r;
}

/* ---- what is already there ---- */

static bool row_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_row *a = &((const struct session *)ctx)->rows[id], *b = key;

	return a->node == b->node && a->lane == b->lane && a->epoch == b->epoch && a->set == b->set;
}

static uint64_t row_hash(const struct session_row *r)
{
	return hash_u64(hash_pair(r->node, r->lane) ^ hash_pair(r->set, r->epoch) << 1);
}

static bool hist_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_hist *a = &((const struct session *)ctx)->hists[id], *b = key;

	return a->node == b->node && a->device == b->device && a->process == b->process;
}

static uint64_t hist_hash(const struct session_hist *h)
{
	return hash_u64(hash_pair(h->node, h->device) ^ h->process);
}

/* Room in last_row for each node of the target. */
static int last_row_grow(struct merge *m)
{
	size_t n = m->into->n_nodes;

	if (array_reserve((void **)&m->last_row, &m->cap_last_row, n, sizeof(*m->last_row)) < 0)
		return -ENOMEM;
	while (m->n_last_row < n)
		m->last_row[m->n_last_row++] = SESSION_NONE;
	return 0;
}

static int index_present(struct merge *m)
{
	const struct session *s = m->into;
	size_t i;
	uint32_t row;

	if (last_row_grow(m) < 0)
		return -ENOMEM;
	for (i = 0; i < s->n_nodes; i++)
		for (row = s->nodes[i].first_row; row != SESSION_NONE; row = s->rows[row].next)
			m->last_row[i] = row;
	for (i = 0; i < s->n_rows; i++)
		if (idindex_add(&m->rows, row_hash(&s->rows[i]), (uint32_t)i) < 0)
			return -ENOMEM;
	for (i = 0; i < s->n_hists; i++)
		if (idindex_add(&m->hists, hist_hash(&s->hists[i]), (uint32_t)i) < 0)
			return -ENOMEM;
	return 0;
}

struct merge *merge_new(struct session *into)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->into = into;
	return index_present(m) < 0 ? merge_free(m) : m;
}

struct merge *merge_free(struct merge *m)
{
	unsigned i;

	if (!m)
		return NULL;
	for (i = 0; i < MAP_N; i++)
		free(m->maps[i].to);
	idindex_done(&m->rows);
	idindex_done(&m->hists);
	idindex_done(&m->names);
	free(m->last_row);
	free(m);
	return NULL;
}

/* ---- what things are ---- */

static int add_metric(struct merge *m, uint32_t id)
{
	struct metric copy = *metric_table_get(m->from->metrics, id);

	/* What weighs a mean may come later in the table: it is looked for by its name. */
	if (copy.weight != METRIC_NONE) {
		const struct metric *weight = metric_table_get(m->from->metrics, copy.weight);
		struct metric w = *weight;

		w.weight = METRIC_NONE;
		copy.weight = metric_table_add(m->into->metrics, &w);
		if (copy.weight == METRIC_NONE)
			return -ENOMEM;
	}
	m->maps[MAP_METRICS].to[id] = metric_table_add(m->into->metrics, &copy);
	return m->maps[MAP_METRICS].to[id] == METRIC_NONE ? -ENOMEM : 0;
}

static int add_module(struct merge *m, uint32_t id)
{
	struct session_module module = m->from->modules[id];
	uint32_t *strings[] = {&module.build_id, &module.path};

	if (map_strings(m, strings, ARRAY_SIZE(strings)) < 0)
		return -ENOMEM;
	m->maps[MAP_MODULES].to[id] = session_module_intern(m->into, &module);
	return m->maps[MAP_MODULES].to[id] == SESSION_NONE ? -ENOMEM : 0;
}

static int add_frame(struct merge *m, uint32_t id)
{
	struct session_frame f = m->from->frames[id];
	uint32_t *strings[] = {&f.name, &f.symbol, &f.file}, to;

	if (map_strings(m, strings, ARRAY_SIZE(strings)) < 0)
		return -ENOMEM;
	to = session_frame_intern(m->into, (enum frame_kind)f.kind, f.name,
				  mapped(m, MAP_MODULES, f.module), f.offset);
	if (to == SESSION_NONE)
		return -ENOMEM;
	if ((f.symbol || f.file) && !m->into->frames[to].symbol && !m->into->frames[to].file)
		session_frame_symbol(m->into, to, f.symbol, f.file, f.line);
	m->maps[MAP_FRAMES].to[id] = to;
	return 0;
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

	if (!f->symbol && f->module != SESSION_NONE) /* an address is known by itself */
		return session_node_intern(m->into, parent, frame);
	id = idindex_find(&m->names, hash, name_equal, m->into, &key);
	if (id != IDINDEX_NONE)
		return id;
	id = session_node_append(m->into, parent, frame);
	if (id != SESSION_NONE && idindex_add(&m->names, hash, id) < 0)
		return SESSION_NONE;
	return id;
}

static int add_node(struct merge *m, uint32_t id)
{
	const struct session_node *n = &m->from->nodes[id];
	uint32_t parent = mapped(m, MAP_NODES, n->parent), frame = mapped(m, MAP_FRAMES, n->frame);

	if (id == SESSION_ROOT) /* roots are one, whatever they are called */
		m->maps[MAP_NODES].to[id] = SESSION_ROOT;
	else if (m->by_name)
		m->maps[MAP_NODES].to[id] = node_by_name(m, parent, frame);
	else
		m->maps[MAP_NODES].to[id] = session_node_intern(m->into, parent, frame);
	return m->maps[MAP_NODES].to[id] == SESSION_NONE ? -ENOMEM : 0;
}

/* A group has no frame in the input: it gets one of its name. */
static uint32_t view_frame(struct merge *m, const struct snap_node *n, uint32_t id)
{
	char name[256];

	if (n->session_node != SESSION_NONE)
		return mapped(m, MAP_FRAMES, m->from->nodes[n->session_node].frame);
	m->group_name(m->group_ctx, id, name, sizeof(name));
	return session_frame_intern(m->into, (enum frame_kind)n->kind,
				    strtab_adds(m->into->strings, name), SESSION_NONE, 0);
}

static int add_view_node(struct merge *m, uint32_t id)
{
	const struct snap_node *n = snapshot_node(m->view, id);
	uint32_t *to = &m->maps[MAP_NODES].to[id], frame;

	*to = SESSION_ROOT;
	if (n->parent == SNAP_NONE)
		return 0;
	frame = view_frame(m, n, id);
	*to = frame == SESSION_NONE
		      ? SESSION_NONE
		      : session_node_intern(m->into, mapped(m, MAP_NODES, n->parent), frame);
	return *to == SESSION_NONE ? -ENOMEM : 0;
}

static int add_nodes(struct merge *m)
{
	return m->view ? add_all(m, MAP_NODES, snapshot_n(m->view), add_view_node)
		       : add_all(m, MAP_NODES, m->from->n_nodes, add_node);
}

static int add_device(struct merge *m, uint32_t id)
{
	struct session_device d = m->from->devices[id];
	uint32_t *strings[] = {&d.type, &d.name, &d.arch, &d.uuid, &d.driver, &d.host};

	if (map_strings(m, strings, ARRAY_SIZE(strings)) < 0)
		return -ENOMEM;
	m->maps[MAP_DEVICES].to[id] = session_device_intern(m->into, &d);
	return m->maps[MAP_DEVICES].to[id] == SESSION_NONE ? -ENOMEM : 0;
}

static int add_epoch(struct merge *m, uint32_t id)
{
	struct session_epoch e = m->from->epochs[id];

	if (map_string(m, e.name, &e.name) < 0)
		return -ENOMEM;
	if (!e.phase && m->options->phase >= 0)
		e.phase = (uint32_t)m->options->phase;
	m->maps[MAP_EPOCHS].to[id] = session_epoch_intern(m->into, &e);
	return m->maps[MAP_EPOCHS].to[id] == SESSION_NONE ? -ENOMEM : 0;
}

static int add_set(struct merge *m, uint32_t id)
{
	const struct session_set *set = &m->from->sets[id];
	uint32_t *metrics = malloc(MAX(set->n, 1u) * sizeof(*metrics)), i;

	if (!metrics)
		return -ENOMEM;
	for (i = 0; i < set->n; i++)
		metrics[i] = mapped(m, MAP_METRICS, set->metrics[i]);
	m->maps[MAP_SETS].to[id] = session_set_intern(m->into, metrics, set->n);
	free(metrics);
	return m->maps[MAP_SETS].to[id] == SESSION_NONE ? -ENOMEM : 0;
}

/* ---- processes and lanes ---- */

/* A number that is the same whenever this input is read, for a process without one of its own. */
static uint64_t instance_of(const struct merge *m, uint32_t process)
{
	const char *name = m->options->name ? m->options->name : "";

	return hash_u64(hash_bytes(name, strlen(name)) + process) | 1;
}

/* A process that an earlier input told of too: its counts only grow, so the larger ones are later.
 */
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

static int add_process(struct merge *m, uint32_t id)
{
	struct session_process p = m->from->processes[id];
	uint32_t *strings[] = {&p.exe, &p.cmdline, &p.host}, to;
	size_t before = m->into->n_processes;

	if (map_strings(m, strings, ARRAY_SIZE(strings)) < 0)
		return -ENOMEM;
	if (!p.instance)
		p.instance = instance_of(m, id + 1);
	if (p.rank < 0)
		p.rank = m->options->rank;
	to = session_process_add(m->into, p.instance);
	if (to == SESSION_NONE)
		return -ENOMEM;
	if (to >= before)
		m->into->processes[to] = p;
	else
		process_update(&m->into->processes[to], &p);
	m->maps[MAP_PROCESSES].to[id] = to;
	return 0;
}

/* The process that a file without any stands for. */
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

static int add_lane(struct merge *m, uint32_t id)
{
	struct session_lane l = m->from->lanes[id];

	l.process = mapped(m, MAP_PROCESSES, l.process);
	l.device = mapped(m, MAP_DEVICES, l.device);
	if (l.process == SESSION_NONE) {
		if (m->process == SESSION_NONE && add_own_process(m) < 0)
			return -ENOMEM;
		l.process = m->process;
	}
	m->maps[MAP_LANES].to[id] = session_lane_intern(m->into, &l);
	return m->maps[MAP_LANES].to[id] == SESSION_NONE ? -ENOMEM : 0;
}

/* ---- values ---- */

/* A value in the target's terms; false: it has none (a text where numbers are, or the reverse). */
static int map_value(struct merge *m, uint32_t metric, union metric_value *v, bool *ret_known)
{
	const struct metric *a = metric_table_get(m->from->metrics, metric);
	const struct metric *b = metric_table_get(m->into->metrics, mapped(m, MAP_METRICS, metric));

	*ret_known = (a->type == METRIC_TEXT) == (b->type == METRIC_TEXT);
	if (!*ret_known)
		return 0;
	if (a->type == METRIC_TEXT)
		return map_string(m, v->text, &v->text);
	if (a->type == METRIC_U64 && b->type == METRIC_F64)
		v->f64 = (double)v->u64;
	else if (a->type == METRIC_F64 && b->type == METRIC_U64)
		v->u64 = v->f64 >= 0 && v->f64 < 0x1p64 ? (uint64_t)v->f64 : 0;
	return 0;
}

static double weight_of(const struct session *s, const struct session_row *r, uint32_t weight)
{
	const struct session_set *set = &s->sets[r->set];
	uint32_t i;

	for (i = 0; i < set->n; i++)
		if (set->metrics[i] == weight && s->present[r->values + i])
			return metric_number(metric_table_get(s->metrics, weight),
					     s->values[r->values + i]);
	return 1;
}

/* The target has a value here: the metric's own rule says what both make. */
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

static int copy_values(struct merge *m, const struct session_row *from, uint32_t row)
{
	const struct session_set *set = &m->from->sets[from->set];
	uint32_t pass, i;

	/* Weighted means first, while their weights are still those of before. */
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < set->n; i++) {
			const struct session_row *to = &m->into->rows[row];
			union metric_value v = m->from->values[from->values + i];
			bool mean = metric_table_get(m->into->metrics,
						     m->into->sets[to->set].metrics[i])
					    ->add == METRIC_WMEAN;
			bool known;

			if (!m->from->present[from->values + i] || mean == (pass == 1))
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

static void row_key(const struct merge *m, uint32_t id, struct session_row *ret)
{
	const struct session_row *from = &m->from->rows[id];

	ret->node = mapped(m, MAP_NODES, m->view ? snapshot_row_node(m->view, id) : from->node);
	ret->lane = mapped(m, MAP_LANES, from->lane);
	ret->epoch = mapped(m, MAP_EPOCHS, from->epoch);
	ret->set = mapped(m, MAP_SETS, from->set);
}

static int add_row(struct merge *m, uint32_t id)
{
	struct session_row key;
	uint64_t hash;
	uint32_t row;

	row_key(m, id, &key);
	if (key.node == SESSION_NONE)
		return 0;
	hash = row_hash(&key);
	row = idindex_find(&m->rows, hash, row_equal, m->into, &key);
	if (row == IDINDEX_NONE) {
		row = session_row_append(m->into, m->last_row[key.node], &key);
		if (row == SESSION_NONE || idindex_add(&m->rows, hash, row) < 0)
			return -ENOMEM;
		m->last_row[key.node] = row;
	}
	return copy_values(m, &m->from->rows[id], row);
}

static int add_hist(struct merge *m, uint32_t id)
{
	struct session_hist h = m->from->hists[id];
	uint32_t there;
	unsigned b;

	h.node = mapped(m, MAP_NODES, h.node);
	h.device = mapped(m, MAP_DEVICES, h.device);
	h.process = mapped(m, MAP_PROCESSES, h.process);
	if (h.process == SESSION_NONE)
		h.process = m->process;
	if (h.node == SESSION_NONE)
		return 0;
	there = idindex_find(&m->hists, hist_hash(&h), hist_equal, m->into, &h);
	if (there == IDINDEX_NONE &&
	    idindex_add(&m->hists, hist_hash(&h), (uint32_t)m->into->n_hists) < 0)
		return -ENOMEM;
	for (b = 0; there != IDINDEX_NONE && b < HIST_BUCKETS; b++)
		if (__builtin_add_overflow(h.n[b], m->into->hists[there].n[b], &h.n[b]))
			h.n[b] = UINT32_MAX;
	return session_hist_set(m->into, h.node, h.device, h.process, h.n);
}

/* ---- the rest ---- */

static int add_note(struct merge *m, uint32_t id)
{
	const struct session_note *n = &m->from->notes[id];

	return session_note(m->into, mapped(m, MAP_PROCESSES, n->process),
			    (enum note_level)n->level, strtab_str(m->from->strings, n->text));
}

static int add_sample(struct merge *m, uint32_t id)
{
	struct session_sample sample = m->from->samples[id];

	sample.device = mapped(m, MAP_DEVICES, sample.device);
	sample.metric = mapped(m, MAP_METRICS, sample.metric);
	return sample.metric == METRIC_NONE ? 0 : session_sample_add(m->into, &sample);
}

static int add_interval(struct merge *m, uint32_t id)
{
	struct session_interval interval = m->from->intervals[id];

	interval.node = mapped(m, MAP_NODES, interval.node);
	interval.lane = mapped(m, MAP_LANES, interval.lane);
	return interval.node == SESSION_NONE ? 0 : session_interval_add(m->into, &interval);
}

static int add_clock(struct merge *m, uint32_t id)
{
	struct session_clock clock = m->from->clocks[id];

	clock.process = mapped(m, MAP_PROCESSES, clock.process);
	if (map_string(m, clock.name, &clock.name) < 0)
		return -ENOMEM;
	return session_clock_add(m->into, &clock);
}

static int add_use(struct merge *m, uint32_t id)
{
	struct session_use use = m->from->uses[id];

	use.process = mapped(m, MAP_PROCESSES, use.process);
	use.device = mapped(m, MAP_DEVICES, use.device);
	return use.process == SESSION_NONE || use.device == SESSION_NONE
		       ? 0
		       : session_use_set(m->into, &use);
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

/* Do rows of a process that was there before this input come with an epoch that it had, too? Asked
 * when lanes and epochs are mapped and nothing else is. */
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

/* Every row must have a lane and an epoch, as all readers see to. */
static int add_lanes(struct merge *m)
{
	int r = add_all(m, MAP_LANES, m->from->n_lanes, add_lane);
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
	    (r = add_all(m, MAP_PROCESSES, f->n_processes, add_process)) < 0 ||
	    (r = add_all(m, MAP_DEVICES, f->n_devices, add_device)) < 0 ||
	    (r = add_all(m, MAP_EPOCHS, f->n_epochs, add_epoch)) < 0 || (r = add_lanes(m)) < 0)
		return r;
	return is_twice(m, n_before) ? -EEXIST : 0;
}

static int add_tree(struct merge *m)
{
	const struct session *f = m->from;
	int r;

	if ((r = add_all(m, MAP_METRICS, metric_table_count(f->metrics), add_metric)) < 0 ||
	    (r = add_all(m, MAP_SETS, f->n_sets, add_set)) < 0 ||
	    (r = add_all(m, MAP_MODULES, f->n_modules, add_module)) < 0 ||
	    (r = add_all(m, MAP_FRAMES, f->n_frames, add_frame)) < 0 ||
	    (r = add_nodes(m)) < 0)
		return r;
	return last_row_grow(m);
}

static int add_values(struct merge *m)
{
	const struct session *f = m->from;
	int r;

	/* What is of nodes as they are, and not of rows, has no place among groups. */
	if ((r = add_all(m, -1, f->n_rows, add_row)) < 0 ||
	    (!m->view && (r = add_all(m, -1, f->n_hists, add_hist)) < 0) ||
	    (!m->view && (r = add_all(m, -1, f->n_intervals, add_interval)) < 0) ||
	    (r = add_all(m, -1, f->n_notes, add_note)) < 0 ||
	    (r = add_all(m, -1, f->n_samples, add_sample)) < 0 ||
	    (r = add_all(m, -1, f->n_clocks, add_clock)) < 0 ||
	    (r = add_all(m, -1, f->n_uses, add_use)) < 0)
		return r;
	return add_session(m);
}

static const struct merge_options plain = {NULL, -1, -1};

void merge_by_name(struct merge *m)
{
	m->by_name = true;
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

int merge_add_view(struct merge *m, const struct snapshot *view, group_name_fn *group_name, void *ctx)
{
	int r;

	m->view = view;
	m->group_name = group_name;
	m->group_ctx = ctx;
	r = merge_add(m, snapshot_session(view), NULL);
	m->view = NULL;
	return r;
}

int session_merge(struct session *into, const struct session *from,
		  const struct merge_options *options)
{
	struct merge *m = merge_new(into);
	int r = m ? merge_add(m, from, options) : -ENOMEM;

	merge_free(m);
	return r;
}

/* ---- file names ---- */

/* The number behind a word in a name that begins at a separator: "rank3", "rank_3". -1: none. */
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

/* ---- over ranks ---- */

struct spreader {
	const struct session *s;
	const struct metric *metric;
	uint32_t id;
	uint32_t *rank_of; /* process → number of its rank, dense */
	uint32_t *process; /* rank → one of its processes; n_processes: rows of no process */
	uint32_t n_ranks;
	double total; /* of the rank at hand */
	uint32_t *rows; /* ids, rank by rank */
	size_t *begin;  /* rank → first of its rows; one more than ranks */
	double *values; /* of one rank, by node */
	uint8_t *has;
	const uint8_t *counted; /* by row; NULL: all are */
};

static uint32_t rank_of_row(const struct spreader *x, uint32_t row)
{
	const struct session *s = x->s;
	uint32_t lane = s->rows[row].lane;
	uint32_t process = lane < s->n_lanes ? s->lanes[lane].process : SESSION_NONE;

	return x->rank_of[MIN(process, (uint32_t)s->n_processes)];
}

static bool rank_equal(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct session *)ctx)->processes[id].rank == *(const int32_t *)key;
}

/* Number the ranks in order of appearance; what belongs to no process comes last. */
static int ranks_number(struct spreader *x)
{
	const struct session *s = x->s;
	struct idindex index = {0};
	uint32_t i, first;
	int r = 0;

	for (i = 0; i < s->n_processes && r == 0; i++) {
		int32_t rank = s->processes[i].rank;

		first = rank < 0 ? IDINDEX_NONE
				 : idindex_find(&index, hash_u64((uint64_t)rank), rank_equal, s,
						&rank);
		if (first != IDINDEX_NONE) {
			x->rank_of[i] = x->rank_of[first];
			continue;
		}
		if (rank >= 0)
			r = idindex_add(&index, hash_u64((uint64_t)rank), i);
		x->process[x->n_ranks] = i;
		x->rank_of[i] = x->n_ranks++;
	}
	x->process[x->n_ranks] = SESSION_NONE;
	x->rank_of[s->n_processes] = x->n_ranks++;
	idindex_done(&index);
	return r;
}

/* Sort the rows by rank: counted, then placed. */
static void rows_by_rank(struct spreader *x)
{
	size_t i, at = 0, n;

	for (i = 0; i < x->s->n_rows; i++)
		x->begin[rank_of_row(x, (uint32_t)i)]++;
	for (i = 0; i <= x->n_ranks; i++) {
		n = x->begin[i];
		x->begin[i] = at;
		at += n;
	}
	for (i = 0; i < x->s->n_rows; i++)
		x->rows[x->begin[rank_of_row(x, (uint32_t)i)]++] = (uint32_t)i;
	for (i = x->n_ranks; i > 0; i--)
		x->begin[i] = x->begin[i - 1];
	x->begin[0] = 0;
}

static void row_take(struct spreader *x, const struct session_row *r)
{
	const struct session_set *set = &x->s->sets[r->set];
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		if (set->metrics[i] != x->id || !x->s->present[r->values + i])
			continue;
		x->values[r->node] += metric_number(x->metric, x->s->values[r->values + i]);
		x->has[r->node] = 1;
	}
}

/* One rank: its own values, rolled up, into what is known of all ranks. A parent's id is smaller
 * than its children's. */
static bool rank_take(struct spreader *x, uint32_t rank, struct spread *spread)
{
	const struct session *s = x->s;
	bool any = false;
	size_t i;

	x->total = 0;
	memset(x->values, 0, s->n_nodes * sizeof(*x->values));
	memset(x->has, 0, s->n_nodes);
	for (i = x->begin[rank]; i < x->begin[rank + 1]; i++)
		if (!x->counted || x->counted[x->rows[i]])
			row_take(x, &s->rows[x->rows[i]]);
	for (i = s->n_nodes; i-- > 0;) {
		struct spread *to = &spread[i];
		double v = x->values[i];

		if (!x->has[i])
			continue;
		if (!i || x->metric->scope != METRIC_INCLUSIVE)
			x->total += v;
		if (i && x->metric->scope == METRIC_INCLUSIVE) {
			x->values[s->nodes[i].parent] += v;
			x->has[s->nodes[i].parent] = 1;
		}
		to->min = to->n ? MIN(to->min, v) : v;
		if (!to->n || v > to->max) {
			to->max = v;
			to->slowest = x->process[rank];
		}
		to->sum += v;
		to->n++;
		any = true;
	}
	return any;
}

static int spreader_init(struct spreader *x)
{
	size_t n = x->s->n_processes + 2;

	x->rank_of = calloc(n, sizeof(*x->rank_of));
	x->process = calloc(n, sizeof(*x->process));
	x->begin = calloc(n + 1, sizeof(*x->begin));
	x->rows = calloc(x->s->n_rows + 1, sizeof(*x->rows));
	x->values = calloc(x->s->n_nodes, sizeof(*x->values));
	x->has = calloc(x->s->n_nodes, 1);
	if (!x->rank_of || !x->process || !x->begin || !x->rows || !x->values || !x->has)
		return -ENOMEM;
	return ranks_number(x);
}

static void spreader_done(struct spreader *x)
{
	free(x->rank_of);
	free(x->process);
	free(x->begin);
	free(x->rows);
	free(x->values);
	free(x->has);
}

int ranks_init(struct ranks *ranks, const struct session *s, uint32_t metric,
	       const uint8_t *counted)
{
	struct spreader x = {.s = s,
			     .metric = metric_table_get(s->metrics, metric),
			     .id = metric,
			     .counted = counted};
	uint32_t rank;
	int r;

	*ranks = (struct ranks){0};
	if (!x.metric || x.metric->add != METRIC_SUM || x.metric->type == METRIC_TEXT ||
	    x.metric->scope == METRIC_PROPERTY)
		return -EINVAL;
	ranks->spread = calloc(s->n_nodes, sizeof(*ranks->spread));
	ranks->totals = calloc(s->n_processes + 1, sizeof(*ranks->totals));
	r = ranks->spread && ranks->totals ? spreader_init(&x) : -ENOMEM;
	if (r == 0)
		rows_by_rank(&x);
	for (rank = 0; r == 0 && rank < x.n_ranks; rank++)
		if (rank_take(&x, rank, ranks->spread))
			ranks->totals[ranks->n++] = (struct rank_total){x.process[rank], x.total};
	spreader_done(&x);
	if (r < 0)
		ranks_done(ranks);
	return r;
}

void ranks_done(struct ranks *ranks)
{
	free(ranks->spread);
	free(ranks->totals);
	*ranks = (struct ranks){0};
}

double spread_lost(const struct spread *x)
{
	return x->n ? (x->max - spread_mean(x)) * x->n : -1;
}

void rank_name(const struct session *s, uint32_t process, char *out, size_t size)
{
	const struct session_process *p = &s->processes[process];
	const char *exe, *base;

	if (process >= s->n_processes) {
		snprintf(out, size, "-");
	} else if (p->rank >= 0) {
		snprintf(out, size, "%d", p->rank);
	} else if (p->pid) {
		snprintf(out, size, "pid %u", p->pid);
	} else {
		exe = strtab_str(s->strings, p->exe);
		base = strrchr(exe, '/');
		snprintf(out, size, "%s", base ? base + 1 : exe);
	}
}

static int compare_lost(const void *a, const void *b)
{
	const struct spread_row *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost < y->lost ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

struct spread_row *ranks_sorted(const struct ranks *ranks, const struct session *s, uint32_t *ret_n)
{
	struct spread_row *rows = malloc(s->n_nodes * sizeof(*rows));
	uint32_t i, n = 0;

	if (!rows)
		return NULL;
	for (i = 1; i < s->n_nodes; i++)
		if (ranks->spread[i].n)
			rows[n++] = (struct spread_row){spread_lost(&ranks->spread[i]), i};
	qsort(rows, n, sizeof(*rows), compare_lost);
	*ret_n = n;
	return rows;
}
