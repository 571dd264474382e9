/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/session.h"
#include <errno.h>
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"

struct session_private {
	struct idindex frames, nodes, lanes;
	size_t cap_frames, cap_nodes, cap_rows, cap_values, cap_present, cap_lanes, cap_sets,
		cap_epochs, cap_processes, cap_devices, cap_modules, cap_notes, cap_hists,
		cap_samples, cap_intervals, cap_clocks, cap_uses, cap_runs, cap_sensors,
		cap_copy_lanes, cap_unrecorded, cap_configs;
	struct idindex hists, configs, uses, copy_lanes, unrecorded, sets, epochs, devices, modules,
		processes, notes, runs;
	uint32_t *seen_in; /* by metric: value of n_looked_at for the last set that had it */
	size_t cap_seen_in, n_seen_in;
	uint32_t n_looked_at;
	struct idindex rows; /* holds the first n_indexed_rows; filled once a chain is long */
	size_t n_indexed_rows;
	char name[64];        /* of the last (module, offset) frame that was asked for */
	struct strtab *whole; /* session_text() of strings with NUL bytes; made with the first */
};

/* Room for one more element of one of the session's arrays. */
#define ROOM(s, what) (ARRAY_ROOM((s)->what, (s)->p->cap_##what, (s)->n_##what + 1) == 0)

/* Add an element that was not there, to its array and, by its hash, to the index of the same name.
 * Its id, or SESSION_NONE: out of memory. */
#define APPEND(s, what, hash, element)                                                             \
	(ROOM(s, what) && idindex_add(&(s)->p->what, hash, (uint32_t)(s)->n_##what) == 0           \
		 ? ((s)->generation++, (s)->what[(s)->n_##what] = (element),                       \
		    (uint32_t)(s)->n_##what++)                                                     \
		 : SESSION_NONE)

static bool session_seed(struct session *s)
{
	static const uint32_t kernel[] = {METRIC_TIME, METRIC_COUNT, METRIC_TIME_MIN,
					  METRIC_TIME_MAX};
	static const struct session_epoch whole = {0, 0, 0};
	uint32_t name = strtab_adds(s->strings, "ROOT");
	uint32_t frame = session_frame_intern(s, FRAME_ROOT, name, SESSION_NONE, 0);

	return name != STRTAB_NONE && frame != SESSION_NONE &&
	       session_node_append(s, SESSION_NONE, frame) == SESSION_ROOT &&
	       session_set_intern(s, kernel, ARRAY_SIZE(kernel)) == SET_KERNEL &&
	       session_epoch_intern(s, &whole) == 0;
}

struct session *session_new(void)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->p = calloc(1, sizeof(*s->p));
	s->strings = strtab_new();
	s->metrics = metric_table_new();
	if (!s->p || !s->strings || !s->metrics || !session_seed(s))
		return session_free(s);
	return s;
}

static void session_free_arrays(struct session *s)
{
	void *arrays[] = {s->frames,     s->nodes,   s->rows,    s->values,    s->present,
			  s->lanes,      s->sets,    s->epochs,  s->processes, s->devices,
			  s->modules,    s->notes,   s->hists,   s->samples,   s->intervals,
			  s->clocks,     s->uses,    s->runs,    s->sensors,   s->copy_lanes,
			  s->unrecorded, s->configs, s->counters};
	size_t i;

	for (i = 0; i < s->n_sets; i++)
		free(s->sets[i].metrics);
	for (i = 0; i < s->n_hists; i++)
		hist_done(&s->hists[i].hist);
	for (i = 0; i < ARRAY_SIZE(arrays); i++)
		free(arrays[i]);
}

static void session_free_private(struct session_private *p)
{
	struct idindex *indexes[] = {&p->frames,  &p->nodes,      &p->lanes,      &p->hists,
				     &p->uses,    &p->sets,       &p->epochs,     &p->devices,
				     &p->modules, &p->processes,  &p->notes,      &p->runs,
				     &p->rows,    &p->copy_lanes, &p->unrecorded, &p->configs};

	for (size_t i = 0; i < ARRAY_SIZE(indexes); i++)
		idindex_done(indexes[i]);
	free(p->seen_in);
	strtab_free(p->whole);
}

struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	session_free_arrays(s);
	if (s->p)
		session_free_private(s->p);
	free(s->p);
	strtab_free(s->strings);
	metric_table_free(s->metrics);
	free(s);
	return NULL;
}

/* ---- frames and nodes ---- */

static bool frame_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session *s = ctx;
	const struct session_frame *a = &s->frames[id], *b = key;

	return a->kind == b->kind && a->name == b->name && a->module == b->module &&
	       a->offset == b->offset;
}

uint32_t session_frame_intern(struct session *s, enum frame_kind kind, uint32_t name,
			      uint32_t module, uint64_t offset)
{
	struct session_frame f = {.name = name, .module = module, .offset = offset, .kind = kind};
	uint64_t hash = hash_u64(hash_pair(name, (uint32_t)kind) ^ hash_pair(module, 0) ^ offset);
	uint32_t id = idindex_find(&s->p->frames, hash, frame_equal, s, &f);

	return id != IDINDEX_NONE ? id : APPEND(s, frames, hash, f);
}

void session_frame_symbol(struct session *s, uint32_t frame, uint32_t symbol, uint32_t file,
			  uint32_t line)
{
	if (frame >= s->n_frames)
		return;
	s->frames[frame].symbol = symbol;
	s->frames[frame].file = file;
	s->frames[frame].line = line;
	s->generation++;
}

uint32_t session_node_append(struct session *s, uint32_t parent, uint32_t frame)
{
	uint32_t id = (uint32_t)s->n_nodes;

	if (!ROOM(s, nodes))
		return SESSION_NONE;
	s->nodes[id] = (struct session_node){parent,       SESSION_NONE, SESSION_NONE,
					     SESSION_NONE, frame,        SESSION_NONE};
	s->n_nodes++;
	s->generation++;
	if (parent == SESSION_NONE)
		return id;
	if (s->nodes[parent].last_child == SESSION_NONE)
		s->nodes[parent].first_child = id;
	else
		s->nodes[s->nodes[parent].last_child].next_sibling = id;
	s->nodes[parent].last_child = id;
	return id;
}

struct node_key {
	uint32_t parent, frame;
};

static bool node_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session *s = ctx;
	const struct node_key *k = key;

	return s->nodes[id].parent == k->parent && s->nodes[id].frame == k->frame;
}

uint32_t session_node_intern(struct session *s, uint32_t parent, uint32_t frame)
{
	struct node_key key = {parent, frame};
	uint64_t hash = hash_pair(parent, frame);
	uint32_t id;

	if (parent >= s->n_nodes || frame >= s->n_frames)
		return SESSION_NONE;
	id = idindex_find(&s->p->nodes, hash, node_equal, s, &key);
	if (id != IDINDEX_NONE)
		return id;
	if (idindex_add(&s->p->nodes, hash, (uint32_t)s->n_nodes) < 0)
		return SESSION_NONE;
	return session_node_append(s, parent, frame);
}

uint32_t session_node(struct session *s, uint32_t parent, enum frame_kind kind, const char *name)
{
	uint32_t string = strtab_adds(s->strings, name);
	uint32_t frame;

	if (string == STRTAB_NONE)
		return SESSION_NONE;
	frame = session_frame_intern(s, kind, string, SESSION_NONE, 0);
	return frame == SESSION_NONE ? SESSION_NONE : session_node_intern(s, parent, frame);
}

const char *session_text(const struct session *s, uint32_t string)
{
	const char *text = strtab_str(s->strings, string);

	if (!memchr(text, '\0', strtab_len(s->strings, string)))
		return text;
	if (!s->p->whole)
		s->p->whole = strtab_new();
	return s->p->whole ? strtab_whole(s->strings, string, s->p->whole) : text;
}

void session_device_number(const struct session *s, uint32_t device, char out[DEVICE_WORD])
{
	const struct session_device *d = &s->devices[device];
	const char *type = session_text(s, d->type);
	bool gpu = !strcmp(type, "CUDA") || !strcmp(type, "HIP") || !strcmp(type, "ROCM");

	snprintf(out, DEVICE_WORD, "%.20s%d", gpu ? "GPU" : *type ? type : "DEV", d->index);
}

/* What tells a uuid from others: "GPU-" and "MIG-" do not. */
static const char *uuid_digits(const struct session *s, const struct session_device *d)
{
	const char *uuid = session_text(s, d->uuid), *dash = strchr(uuid, '-');

	return dash ? dash + 1 : uuid;
}

static bool reads_alike(const struct session_device *a, const struct session_device *b)
{
	return a->type == b->type && a->host == b->host && a->index == b->index && a->uuid &&
	       b->uuid && a->uuid != b->uuid;
}

void session_device_word(const struct session *s, uint32_t device, char out[DEVICE_WORD])
{
	const struct session_device *d = &s->devices[device];
	const char *digits = uuid_digits(s, d);
	size_t len, n = 0;

	session_device_number(s, device, out);
	for (size_t i = 0; i < s->n_devices; i++) {
		if (!reads_alike(d, &s->devices[i]))
			continue;
		n = MAX(n, (size_t)4);
		while (n < 8 && !strncmp(digits, uuid_digits(s, &s->devices[i]), n))
			n++;
	}
	len = strlen(out);
	if (n && len + 1 + n < DEVICE_WORD)
		snprintf(out + len, DEVICE_WORD - len, ".%.*s", (int)n, digits);
}

const char *session_node_name(const struct session *s, uint32_t node)
{
	const struct session_frame *f = &s->frames[s->nodes[node].frame];
	const char *build_id = "?";

	if (f->symbol)
		return session_text(s, f->symbol);
	if (f->module == SESSION_NONE)
		return session_text(s, f->name);
	if (f->module < s->n_modules)
		build_id = strtab_str(s->strings, s->modules[f->module].build_id);
	snprintf(s->p->name, sizeof(s->p->name), "%.40s+0x%llx", build_id,
		 (unsigned long long)f->offset);
	return s->p->name;
}

enum frame_kind session_node_kind(const struct session *s, uint32_t node)
{
	return (enum frame_kind)s->frames[s->nodes[node].frame].kind;
}

/* ---- metrics ---- */

/* Make a metric of whole numbers one of fractions, with all its values. Not the other way round:
 * that would lose the fractions. */
static void metric_widen(struct session *s, uint32_t metric)
{
	metric_table_widen(s->metrics, metric);
	for (size_t row = 0; row < s->n_rows; row++) {
		uint32_t at = session_row_place(s, &s->rows[row], metric);

		if (at != SESSION_NONE)
			metric_convert(METRIC_U64, METRIC_F64, &s->values[at]);
	}
	s->generation++;
}

bool session_metric_widens(const struct session *s, const struct metric *m)
{
	uint32_t id = metric_table_find(s->metrics, m->name);

	return id != METRIC_NONE && id >= METRIC_N_BUILTIN && m->type == METRIC_F64 &&
	       metric_table_get(s->metrics, id)->type == METRIC_U64;
}

uint32_t session_metric_add(struct session *s, const struct metric *m)
{
	uint32_t n = metric_table_count(s->metrics), id;
	bool widens = session_metric_widens(s, m);

	id = metric_table_add(s->metrics, m);
	if (widens)
		metric_widen(s, id);
	s->generation += id == n;
	return id;
}

/* ---- dimensions ---- */

const struct session_lane session_nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};

static bool lane_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session *s = ctx;
	const struct session_lane *a = &s->lanes[id], *b = key;

	return a->process == b->process && a->device == b->device && a->context == b->context &&
	       a->stream == b->stream && a->thread == b->thread;
}

static uint64_t lane_hash(const struct session_lane *lane)
{
	return hash_u64(hash_pair(lane->process, lane->device) ^
			hash_u64(hash_pair(lane->context, lane->stream) ^ lane->thread));
}

const char *session_stream_word(uint32_t stream, char out[STREAM_WORD])
{
	if (stream == SESSION_NONE)
		snprintf(out, STREAM_WORD, "%s", STREAM_NO_WORD);
	else
		snprintf(out, STREAM_WORD, "stream %" PRIu32, stream);
	return out;
}

uint32_t session_lane_intern(struct session *s, const struct session_lane *lane)
{
	uint64_t hash = lane_hash(lane);
	uint32_t id = idindex_find(&s->p->lanes, hash, lane_equal, s, lane);

	return id != IDINDEX_NONE ? id : APPEND(s, lanes, hash, *lane);
}

const uint8_t use_at_most[USE_N] = {
#define _(number, most) [USE_##number] = USE_##most,
	USE_NUMBERS(_)
#undef _
};

static uint64_t use_hash(const struct session_use *use)
{
	return hash_pair(use->process, use->device);
}

static bool use_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_use *a = &((const struct session *)ctx)->uses[id], *b = key;

	return a->process == b->process && a->device == b->device;
}

static uint64_t copy_lane_hash(const struct session_copy_lane *l)
{
	return hash_pair(hash_pair(l->process, l->device) ^ hash_pair(l->context, l->stream),
			 l->channel ^ (uint32_t)l->direction << 24 ^
				 (uint32_t)l->channel_kind << 16);
}

static bool copy_lane_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_copy_lane *a = &((const struct session *)ctx)->copy_lanes[id];
	const struct session_copy_lane *b = key;

	return a->process == b->process && a->device == b->device && a->context == b->context &&
	       a->stream == b->stream && a->channel == b->channel && a->direction == b->direction &&
	       a->channel_kind == b->channel_kind;
}

static void copy_lanes_move(struct session *s, uint32_t process, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < s->n_copy_lanes; i++) {
		struct session_copy_lane *l = &s->copy_lanes[i];

		if (l->process != process || l->device != from)
			continue;
		l->device = to;
		idindex_add(&s->p->copy_lanes, copy_lane_hash(l), (uint32_t)i);
	}
}

static uint64_t config_hash(const struct session_config *c)
{
	return hash_bytes(&c->of, sizeof(c->of)) ^
	       hash_u64(hash_pair(c->node, c->device) ^ hash_pair(c->process, c->part));
}

static bool config_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_config *a = &((const struct session *)ctx)->configs[id], *b = key;

	return a->node == b->node && a->device == b->device && a->process == b->process &&
	       a->part == b->part && launch_config_equal(&a->of, &b->of);
}

static void configs_move(struct session *s, uint32_t process, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < s->n_configs; i++) {
		struct session_config *c = &s->configs[i];

		if (c->process != process || c->device != from)
			continue;
		c->device = to;
		idindex_add(&s->p->configs, config_hash(c), (uint32_t)i);
	}
}

void session_lanes_move(struct session *s, uint32_t process, uint32_t from, uint32_t to)
{
	size_t i;

	for (i = 0; i < s->n_lanes; i++) {
		if (s->lanes[i].process != process || s->lanes[i].device != from)
			continue;
		s->lanes[i].device = to;
		/* Its old place in the index is never equal again. */
		idindex_add(&s->p->lanes, lane_hash(&s->lanes[i]), (uint32_t)i);
		s->generation++;
		s->lanes_moved++;
	}
	for (i = 0; i < s->n_uses; i++) {
		if (s->uses[i].process != process || s->uses[i].device != from)
			continue;
		s->uses[i].device = to;
		idindex_add(&s->p->uses, use_hash(&s->uses[i]), (uint32_t)i);
	}
	copy_lanes_move(s, process, from, to);
	configs_move(s, process, from, to);
}

static bool set_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_set *a = &((const struct session *)ctx)->sets[id], *b = key;

	return a->n == b->n && !memcmp(a->metrics, b->metrics, a->n * sizeof(*a->metrics));
}

static uint32_t set_new(struct session *s, uint64_t hash, const uint32_t *metrics, uint32_t n)
{
	struct session_set set = {n, malloc(MAX(n, 1u) * sizeof(*metrics))};

	uint32_t id = set.metrics ? APPEND(s, sets, hash, set) : SESSION_NONE;

	if (id == SESSION_NONE)
		free(set.metrics);
	else
		memcpy(set.metrics, metrics, n * sizeof(*metrics));
	return id;
}

/* Do all these metrics exist, and is each there once? Of two, readers might take either value. */
static bool set_is_good(struct session *s, const uint32_t *metrics, uint32_t n)
{
	struct session_private *p = s->p;
	uint32_t n_metrics = metric_table_count(s->metrics), i;

	if (ARRAY_ROOM(p->seen_in, p->cap_seen_in, n_metrics) < 0)
		return false;
	while (p->n_seen_in < n_metrics)
		p->seen_in[p->n_seen_in++] = 0;
	p->n_looked_at++;
	for (i = 0; i < n; i++) {
		if (metrics[i] >= n_metrics || p->seen_in[metrics[i]] == p->n_looked_at)
			return false;
		p->seen_in[metrics[i]] = p->n_looked_at;
	}
	return true;
}

uint32_t session_set_intern(struct session *s, const uint32_t *metrics, uint32_t n)
{
	const struct session_set key = {n, (uint32_t *)metrics};
	uint64_t hash = hash_bytes(metrics, n * sizeof(*metrics));
	uint32_t id = idindex_find(&s->p->sets, hash, set_equal, s, &key);

	if (id != IDINDEX_NONE)
		return id;
	return set_is_good(s, metrics, n) ? set_new(s, hash, metrics, n) : SESSION_NONE;
}

static bool epoch_equal(const void *ctx, uint32_t id, const void *key)
{
	return !memcmp(&((const struct session *)ctx)->epochs[id], key,
		       sizeof(struct session_epoch));
}

uint32_t session_epoch_intern(struct session *s, const struct session_epoch *epoch)
{
	uint64_t hash = hash_bytes(epoch, sizeof(*epoch));
	uint32_t id = idindex_find(&s->p->epochs, hash, epoch_equal, s, epoch);

	return id != IDINDEX_NONE ? id : APPEND(s, epochs, hash, *epoch);
}

/* Are two entries the same device, used by two processes? Same host, type and uuid; where one has
 * no uuid, same host, type and index. */
static bool device_same(const struct session_device *a, const struct session_device *b)
{
	if (a->type != b->type || a->host != b->host)
		return false;
	if (a->uuid && b->uuid)
		return a->uuid == b->uuid;
	return a->index == b->index;
}

static bool device_equal(const void *ctx, uint32_t id, const void *key)
{
	return device_same(&((const struct session *)ctx)->devices[id], key);
}

/* Devices are indexed twice, by uuid and by index, because either may make two the same. */
static uint64_t device_hash(const struct session_device *d, bool by_uuid)
{
	uint64_t where = hash_pair(d->type, d->host);

	return hash_u64(where ^
			(by_uuid ? hash_pair(d->uuid, 1) : hash_pair((uint32_t)d->index, 0)));
}

static uint32_t device_find(const struct session *s, const struct session_device *d)
{
	uint32_t by_index = idindex_find(&s->p->devices, device_hash(d, false), device_equal, s, d);
	uint32_t by_uuid = IDINDEX_NONE;

	if (d->uuid)
		by_uuid = idindex_find(&s->p->devices, device_hash(d, true), device_equal, s, d);
	return MIN(by_index, by_uuid);
}

static int device_index(struct session *s, uint32_t id)
{
	const struct session_device *d = &s->devices[id];
	int r = idindex_add(&s->p->devices, device_hash(d, false), id);

	return r < 0 || !d->uuid ? r : idindex_add(&s->p->devices, device_hash(d, true), id);
}

uint32_t session_device_intern(struct session *s, const struct session_device *device)
{
	uint32_t id = device_find(s, device);
	bool known = id != IDINDEX_NONE, moved;

	/* An entry with a name or an architecture replaces one that was made without them. */
	if (known && !device->name && !device->arch)
		return id;
	if (!known && !ROOM(s, devices))
		return SESSION_NONE;
	id = known ? id : (uint32_t)s->n_devices;
	moved = !known || s->devices[id].uuid != device->uuid ||
		s->devices[id].index != device->index;
	s->devices[id] = *device;
	if (moved && device_index(s, id) < 0)
		return SESSION_NONE;
	s->n_devices += !known;
	s->generation++;
	return id;
}

static bool module_equal(const void *ctx, uint32_t id, const void *key)
{
	return !memcmp(&((const struct session *)ctx)->modules[id], key,
		       sizeof(struct session_module));
}

uint32_t session_module_intern(struct session *s, const struct session_module *module)
{
	uint64_t hash = hash_bytes(module, sizeof(*module));
	uint32_t id = idindex_find(&s->p->modules, hash, module_equal, s, module);

	return id != IDINDEX_NONE ? id : APPEND(s, modules, hash, *module);
}

static bool process_equal(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct session *)ctx)->processes[id].instance == *(const uint64_t *)key;
}

uint32_t session_process_find(const struct session *s, uint64_t instance)
{
	return idindex_find(&s->p->processes, hash_u64(instance), process_equal, s, &instance);
}

uint32_t session_process_add(struct session *s, uint64_t instance)
{
	const struct session_process new = {.instance = instance, .rank = -1};
	uint32_t id = session_process_find(s, instance);

	return id != SESSION_NONE ? id : APPEND(s, processes, hash_u64(instance), new);
}

/* ---- rows ---- */

static uint32_t row_new(struct session *s, uint32_t node, uint32_t lane, uint32_t epoch,
			uint32_t set)
{
	uint32_t n = s->sets[set].n, id = (uint32_t)s->n_rows;

	/* One more than needed: the arrays then exist even when all sets are empty. */
	if (!ROOM(s, rows) || ARRAY_ROOM(s->values, s->p->cap_values, s->n_values + n + 1) < 0 ||
	    ARRAY_ROOM(s->present, s->p->cap_present, s->n_values + n + 1) < 0)
		return SESSION_NONE;
	s->rows[id] =
		(struct session_row){node, lane, epoch, set, SESSION_NONE, (uint32_t)s->n_values};
	memset(s->values + s->n_values, 0, n * sizeof(*s->values));
	memset(s->present + s->n_values, 0, n);
	s->n_values += n;
	s->n_rows++;
	s->generation++;
	return id;
}

/* How far a node's chain is walked. Few nodes run on more lanes than this. Some do, such as a range
 * that a hundred thousand threads enter: their further rows are found by hash. */
#define ROWS_WALKED 16

static bool row_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session *s = ctx;
	const struct session_row *a = &s->rows[id], *b = key;

	/* The index still knows rows that were cut. */
	return id < s->n_rows && a->node == b->node && a->lane == b->lane && a->epoch == b->epoch &&
	       a->set == b->set;
}

static uint64_t row_hash(const struct session_row *r)
{
	return hash_u64(hash_pair(r->node, r->lane) ^ hash_u64(hash_pair(r->set, r->epoch)));
}

/* -ENOMEM, or 0 with *ret_id, SESSION_NONE when there is no such row. */
static int row_find_hashed(struct session *s, const struct session_row *key, uint32_t *ret_id)
{
	struct session_private *p = s->p;

	for (; p->n_indexed_rows < s->n_rows; p->n_indexed_rows++)
		if (idindex_add(&p->rows, row_hash(&s->rows[p->n_indexed_rows]),
				(uint32_t)p->n_indexed_rows) < 0)
			return -ENOMEM;
	*ret_id = idindex_find(&p->rows, row_hash(key), row_equal, s, key);
	return 0;
}

/* Look for a row along its node's chain. As row_find_hashed(). */
static int row_find(struct session *s, const struct session_row *key, uint32_t *ret_id)
{
	uint32_t n = 0;

	for (*ret_id = session_first_row(s, key->node); *ret_id != SESSION_NONE;
	     *ret_id = session_next_row(s, *ret_id)) {
		if (row_equal(s, *ret_id, key))
			return 0;
		if (++n == ROWS_WALKED)
			return row_find_hashed(s, key, ret_id);
	}
	return 0;
}

uint32_t session_row_intern(struct session *s, uint32_t node, uint32_t lane, uint32_t epoch,
			    uint32_t set)
{
	const struct session_row key = {.node = node, .lane = lane, .epoch = epoch, .set = set};
	uint32_t id, last;

	if (node >= s->n_nodes || set >= s->n_sets)
		return SESSION_NONE;
	if (row_find(s, &key, &id) < 0)
		return SESSION_NONE;
	if (id != SESSION_NONE)
		return id;
	id = row_new(s, node, lane, epoch, set);
	if (id == SESSION_NONE)
		return id;
	last = s->nodes[node].last_row;
	s->rows[id].next = last == SESSION_NONE ? id : s->rows[last].next;
	if (last != SESSION_NONE)
		s->rows[last].next = id;
	s->nodes[node].last_row = id;
	return id;
}

void session_row_set(struct session *s, uint32_t row, uint32_t i, union metric_value v)
{
	const struct session_row *r;

	if (row >= s->n_rows)
		return;
	r = &s->rows[row];
	if (i >= s->sets[r->set].n)
		return;
	s->values[r->values + i] = v;
	s->present[r->values + i] = 1;
	s->generation++;
}

void session_row_unset(struct session *s, uint32_t row, uint32_t i)
{
	if (row >= s->n_rows || i >= s->sets[s->rows[row].set].n)
		return;
	s->present[s->rows[row].values + i] = 0;
	s->generation++;
}

/* The last row that there is leaves its node's chain, whose end it is. */
static void row_unchain(struct session *s, uint32_t id)
{
	struct session_node *node = &s->nodes[s->rows[id].node];
	uint32_t first = s->rows[id].next, before = first;

	if (first == id) {
		node->last_row = SESSION_NONE;
		return;
	}
	while (s->rows[before].next != id)
		before = s->rows[before].next;
	s->rows[before].next = first;
	node->last_row = before;
}

void session_rows_cut(struct session *s, size_t n_rows)
{
	while (s->n_rows > n_rows) {
		row_unchain(s, (uint32_t)s->n_rows - 1);
		s->n_values = s->rows[--s->n_rows].values;
		s->generation++;
	}
	s->p->n_indexed_rows = MIN(s->p->n_indexed_rows, s->n_rows);
}

int session_add(struct session *s, uint32_t node, uint32_t lane, uint32_t epoch, uint32_t metric,
		union metric_value v)
{
	uint32_t set = session_set_intern(s, &metric, 1), row, at;
	const struct metric *m = metric_table_get(s->metrics, metric);

	if (set == SESSION_NONE || !m)
		return -ENOMEM;
	row = session_row_intern(s, node, lane, epoch, set);
	if (row == SESSION_NONE)
		return -ENOMEM;
	at = s->rows[row].values;
	if (s->present[at])
		v = metric_combine(m, s->values[at], 1, v, 1);
	session_row_set(s, row, 0, v);
	return 0;
}

uint32_t session_row_place(const struct session *s, const struct session_row *row, uint32_t metric)
{
	const struct session_set *set = &s->sets[row->set];

	for (uint32_t i = 0; i < set->n; i++)
		if (set->metrics[i] == metric)
			return row->values + i;
	return SESSION_NONE;
}

double session_row_number(const struct session *s, const struct session_row *row, uint32_t metric)
{
	uint32_t at = session_row_place(s, row, metric);

	if (at == SESSION_NONE || !s->present[at])
		return NAN;
	return metric_number(metric_table_get(s->metrics, metric), s->values[at]);
}

double session_row_weight(const struct session *s, const struct session_row *row, uint32_t weight,
			  const union metric_value *values, const uint8_t *present)
{
	uint32_t at = session_row_place(s, row, weight);

	if (at == SESSION_NONE || !present[at])
		return 1;
	return metric_number(metric_table_get(s->metrics, weight), values[at]);
}

bool session_has_values(const struct session *s, uint32_t metric)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		uint32_t at = session_row_place(s, &s->rows[i], metric);

		if (at != SESSION_NONE && s->present[at])
			return true;
	}
	return false;
}

bool session_value(const struct session *s, uint32_t node, uint32_t metric, union metric_value *ret)
{
	const struct metric *m = metric_table_get(s->metrics, metric);
	double weight = 0, w;
	bool found = false;
	uint32_t id;

	for (id = session_first_row(s, node); m && id != SESSION_NONE;
	     id = session_next_row(s, id)) {
		const struct session_row *r = &s->rows[id];
		uint32_t at = session_row_place(s, r, metric);

		if (at == SESSION_NONE || !s->present[at])
			continue;
		w = m->add == METRIC_WMEAN
			    ? session_row_weight(s, r, m->weight, s->values, s->present)
			    : 1;
		*ret = found ? metric_combine(m, *ret, weight, s->values[at], w) : s->values[at];
		weight += w;
		found = true;
	}
	return found;
}

/* ---- the rest ---- */

static bool run_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_run *a = &((const struct session *)ctx)->runs[id], *b = key;

	return !memcmp(a->strings, b->strings, sizeof(a->strings)) && a->start_ns == b->start_ns &&
	       a->wall_ns == b->wall_ns && a->paused_ns == b->paused_ns &&
	       a->first_work_ns == b->first_work_ns && a->last_work_ns == b->last_work_ns &&
	       a->exit_status == b->exit_status && a->signal == b->signal && a->end == b->end;
}

int session_run_add(struct session *s, const struct session_run *run)
{
	uint64_t hash = hash_u64(hash_pair(run->strings[RUN_COMMAND], run->strings[RUN_LABEL]) ^
				 run->start_ns);

	if (idindex_find(&s->p->runs, hash, run_equal, s, run) != IDINDEX_NONE)
		return 0;
	return APPEND(s, runs, hash, *run) == SESSION_NONE ? -ENOMEM : 0;
}

static bool note_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_note *a = &((const struct session *)ctx)->notes[id], *b = key;

	return a->process == b->process && a->text == b->text;
}

int session_note(struct session *s, uint32_t process, enum note_level level, const char *text)
{
	struct session_note note = {process, strtab_adds(s->strings, text), (uint8_t)level};
	uint64_t hash = hash_pair(process, note.text);

	if (note.text == STRTAB_NONE)
		return -ENOMEM;
	if (idindex_find(&s->p->notes, hash, note_equal, s, &note) != IDINDEX_NONE)
		return 0;
	return APPEND(s, notes, hash, note) == SESSION_NONE ? -ENOMEM : 0;
}

static bool hist_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_hist *a = &((const struct session *)ctx)->hists[id], *b = key;

	return a->node == b->node && a->device == b->device && a->process == b->process &&
	       a->part == b->part;
}

struct hist *session_hist_of(struct session *s, uint32_t node, uint32_t device, uint32_t process)
{
	return session_hist_part(s, node, device, process, 0);
}

struct hist *session_hist_part(struct session *s, uint32_t node, uint32_t device, uint32_t process,
			       uint32_t part)
{
	const struct session_hist key = {
		.node = node, .device = device, .process = process, .part = part};
	uint64_t hash = hash_u64(hash_pair(node, device) ^ process ^ (uint64_t)part << 32);
	uint32_t id = idindex_find(&s->p->hists, hash, hist_equal, s, &key);

	if (id == IDINDEX_NONE)
		id = APPEND(s, hists, hash, key);
	s->generation++;
	return id == SESSION_NONE ? NULL : &s->hists[id].hist;
}

struct session_config *session_config_of(struct session *s, const struct session_config *of)
{
	uint64_t hash = config_hash(of);
	uint32_t id = idindex_find(&s->p->configs, hash, config_equal, s, of);
	struct session_config c = *of;

	c.count = c.time_ns = 0;
	if (id == IDINDEX_NONE)
		id = APPEND(s, configs, hash, c);
	s->generation++;
	return id == SESSION_NONE ? NULL : &s->configs[id];
}

int session_sample_add(struct session *s, const struct session_sample *sample)
{
	if (!ROOM(s, samples))
		return -ENOMEM;
	s->samples[s->n_samples++] = *sample;
	s->generation++;
	return 0;
}

int session_interval_add(struct session *s, const struct session_interval *interval)
{
	/* No reader of traces can show such times. */
	if (interval->end_ns < interval->start_ns || interval->end_ns >> 62) {
		s->losses[LOSS_REVERSED_TIME]++;
		return 0;
	}
	if (!ROOM(s, intervals))
		return -ENOMEM;
	s->intervals[s->n_intervals++] = *interval;
	s->generation++;
	return 0;
}

int session_clock_add(struct session *s, const struct session_clock *clock)
{
	if (!ROOM(s, clocks))
		return -ENOMEM;
	s->clocks[s->n_clocks++] = *clock;
	s->generation++;
	return 0;
}

struct session_use *session_use_of(struct session *s, uint32_t process, uint32_t device)
{
	const struct session_use use = {.process = process, .device = device};
	uint64_t hash = use_hash(&use);
	uint32_t id = idindex_find(&s->p->uses, hash, use_equal, s, &use);

	if (id == IDINDEX_NONE)
		id = APPEND(s, uses, hash, use);
	s->generation++;
	return id == SESSION_NONE ? NULL : &s->uses[id];
}

int session_use_set(struct session *s, const struct session_use *use)
{
	struct session_use *known = session_use_of(s, use->process, use->device);

	if (!known)
		return -ENOMEM;
	*known = *use;
	return 0;
}

struct session_copy_lane *session_copy_lane_of(struct session *s,
					       const struct session_copy_lane *of)
{
	uint64_t hash = copy_lane_hash(of);
	uint32_t id = idindex_find(&s->p->copy_lanes, hash, copy_lane_equal, s, of);
	struct session_copy_lane l = *of;

	memset(l.v, 0, sizeof(l.v));
	if (id == IDINDEX_NONE)
		id = APPEND(s, copy_lanes, hash, l);
	s->generation++;
	return id == SESSION_NONE ? NULL : &s->copy_lanes[id];
}

static bool unrecorded_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct session_unrecorded *a = &((const struct session *)ctx)->unrecorded[id];
	const struct session_unrecorded *b = key;

	return a->process == b->process && a->number == b->number;
}

int session_unrecorded_set(struct session *s, const struct session_unrecorded *span)
{
	uint64_t hash = hash_pair(span->process, span->number);
	uint32_t id;

	if (span->reason >= UNRECORDED_N || (span->end_ns && span->end_ns < span->start_ns))
		return -EINVAL;
	id = idindex_find(&s->p->unrecorded, hash, unrecorded_equal, s, span);
	if (id == IDINDEX_NONE)
		return APPEND(s, unrecorded, hash, *span) == SESSION_NONE ? -ENOMEM : 0;
	s->unrecorded[id] = *span;
	s->generation++;
	return 0;
}

int session_unrecorded_add(struct session *s, const struct session_unrecorded *span)
{
	struct session_unrecorded one = *span;

	one.number = UINT32_MAX - (uint32_t)s->n_unrecorded;
	while (idindex_find(&s->p->unrecorded, hash_pair(one.process, one.number), unrecorded_equal,
			    s, &one) != IDINDEX_NONE)
		one.number--;
	return session_unrecorded_set(s, &one);
}

static size_t sensors_index(const struct session *s, uint32_t device)
{
	size_t i = 0;

	while (i < s->n_sensors && s->sensors[i].device != device)
		i++;
	return i;
}

const struct sensors *session_sensors_find(const struct session *s, uint32_t device)
{
	size_t i = sensors_index(s, device);

	return i < s->n_sensors ? &s->sensors[i].of : NULL;
}

double session_device_memory(const struct session *s, uint32_t device)
{
	const struct sensors *of = session_sensors_find(s, device);
	double total = of ? of->v[SENSOR_MEMORY_TOTAL] : 0, told = 0;

	if (device < s->n_devices)
		told = (double)s->devices[device].memory_bytes;
	/* Sensors may be of the whole of which the device is a part. */
	if (total > 0 && (told == 0 || fabs(total - told) < total / 10))
		return total;
	return told > 0 ? told : NAN;
}

struct sensors *session_sensors_of(struct session *s, uint32_t device)
{
	size_t i = sensors_index(s, device);

	if (i == s->n_sensors) {
		if (!ROOM(s, sensors))
			return NULL;
		s->sensors[s->n_sensors++] = (struct session_sensors){.device = device};
	}
	s->generation++;
	return &s->sensors[i].of;
}

double session_busy_ns(const struct session *s, uint32_t device)
{
	double busy = NAN;
	size_t i;

	for (i = 0; i < s->n_uses; i++)
		if (s->uses[i].device == device)
			busy = (isnan(busy) ? 0 : busy) + (double)s->uses[i].busy_ns;
	return busy;
}

bool session_overlap(const struct session *s, uint32_t device, double *ret_copies_ns,
		     double *ret_hidden_ns)
{
	double copies = 0, hidden = 0;

	for (size_t i = 0; i < s->n_uses; i++) {
		if (device != SESSION_NONE && s->uses[i].device != device)
			continue;
		copies += (double)s->uses[i].copies_ns;
		hidden += (double)s->uses[i].hidden_ns;
	}
	*ret_copies_ns = copies;
	*ret_hidden_ns = hidden;
	return copies > 0;
}

double session_overlap_share(const struct session *s, uint32_t device)
{
	double copies, hidden, others;

	if (!session_overlap(s, device, &copies, &hidden))
		return NAN;
	others = session_busy_ns(s, device) - copies + hidden;
	return others > 0 ? hidden / others : NAN;
}

/* Launches of a process that has ended and whose records never came. */
static uint64_t process_unaccounted(const struct session_process *p)
{
	if (p->end == PROCESS_RUNS || !p->launches_counted || p->n_launches < p->n_records)
		return 0;
	return p->n_launches - p->n_records;
}

static uint64_t process_loss(const struct session_process *p, enum loss loss)
{
	return p->losses[loss] + (loss == LOSS_UNACCOUNTED ? process_unaccounted(p) : 0) +
	       (loss == LOSS_VANISHED && p->end == PROCESS_VANISHED);
}

uint64_t session_loss(const struct session *s, enum loss loss)
{
	uint64_t n = s->losses[loss];

	for (size_t i = 0; i < s->n_processes; i++)
		n += process_loss(&s->processes[i], loss);
	return n;
}

uint64_t session_process_lost(const struct session_process *p)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < LOSS_N; i++)
		if (loss_is_loss((enum loss)i))
			n += process_loss(p, (enum loss)i);
	return n;
}

bool session_losses_known(const struct session *s)
{
	if (!s->ended)
		return true;
	for (size_t i = 0; i < s->n_runs; i++)
		if (*session_text(s, s->runs[i].strings[RUN_VERSION]))
			return true;
	for (size_t i = 0; i < s->n_processes; i++)
		if (session_process_collected(&s->processes[i]))
			return true;
	return session_loss_total(s) > 0;
}

uint64_t session_loss_total(const struct session *s)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < LOSS_N; i++)
		if (loss_is_loss((enum loss)i))
			n += session_loss(s, (enum loss)i);
	return n;
}

uint64_t session_in_flight(const struct session *s, uint64_t *ret_oldest_ns)
{
	uint64_t n = 0, oldest = 0;
	size_t i;

	for (i = 0; i < s->n_processes; i++) {
		const struct session_process *p = &s->processes[i];

		if (p->end != PROCESS_RUNS || !p->launches_counted || p->n_launches <= p->n_records)
			continue;
		n += p->n_launches - p->n_records;
		oldest = MAX(oldest, p->oldest_ns);
	}
	if (ret_oldest_ns)
		*ret_oldest_ns = oldest;
	return n;
}

static size_t hists_memory(const struct session *s)
{
	size_t size = s->p->cap_hists * sizeof(*s->hists);

	for (size_t i = 0; i < s->n_hists; i++)
		size += s->hists[i].hist.n * sizeof(*s->hists[i].hist.v);
	return size;
}

size_t session_memory(const struct session *s)
{
	const struct session_private *p = s->p;

	return strtab_memory(s->strings) + p->cap_frames * sizeof(*s->frames) +
	       p->cap_nodes * sizeof(*s->nodes) + p->cap_rows * sizeof(*s->rows) +
	       p->cap_values * sizeof(*s->values) + p->cap_present +
	       p->cap_lanes * sizeof(*s->lanes) + hists_memory(s) +
	       p->cap_configs * sizeof(*s->configs) + p->cap_samples * sizeof(*s->samples) +
	       s->cap_counters * sizeof(*s->counters) + p->cap_intervals * sizeof(*s->intervals) +
	       (p->nodes.size + p->frames.size + p->lanes.size) * sizeof(uint64_t);
}
