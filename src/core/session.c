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
#include "core/row_tables.h"
#include "core/session_impl.h"

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
	void *arrays[] = {s->frames, s->nodes, s->rows, s->values, s->present, s->sets, s->hists};
	size_t i;

	for (i = 0; i < s->n_sets; i++)
		free(s->sets[i].metrics);
	for (i = 0; i < s->n_hists; i++)
		hist_done(&s->hists[i].hist);
	for (i = 0; i < ARRAY_SIZE(arrays); i++)
		free(arrays[i]);
	for (i = 0; i < TABLE_N; i++)
		free(s->tables[i].v);
}

static void session_free_private(struct session_private *p)
{
	struct idindex *indexes[] = {&p->frames, &p->nodes, &p->sets, &p->hists, &p->rows};

	for (size_t i = 0; i < ARRAY_SIZE(indexes); i++)
		idindex_done(indexes[i]);
	for (size_t i = 0; i < TABLE_N; i++)
		idindex_done(&p->tables[i].index);
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

/* ---- rows of tables ---- */

struct in_table {
	const struct session *s;
	enum table_id id;
};

static bool key_equal(const void *ctx, uint32_t i, const void *key)
{
	const struct in_table *in = ctx;

	return !memcmp(row_at(in->s, in->id, i), key, row_tables[in->id].key_size);
}

/* A row behind the others, of which n bytes are known; NULL: no memory. */
static void *row_append(struct session *s, enum table_id id, const void *row, size_t n)
{
	struct table_rows *rows = &s->tables[id];
	char *at;

	if (session_table_room(s, id) < 0)
		return NULL;
	at = (char *)rows->v + rows->n * row_tables[id].row_size;
	memcpy(at, row, n);
	if (n < row_tables[id].row_size)
		memset(at + n, 0, row_tables[id].row_size - n);
	rows->n++;
	return at;
}

static void *keyed_find(const struct session *s, enum table_id id, uint64_t hash, const void *key)
{
	const struct in_table in = {s, id};
	uint32_t i = idindex_find(&s->p->tables[id].index, hash, key_equal, &in, key);

	return i == IDINDEX_NONE ? NULL
				 : (char *)s->tables[id].v + (size_t)i * row_tables[id].row_size;
}

static void *keyed_new(struct session *s, enum table_id id, uint64_t hash, const void *row,
		       size_t n)
{
	uint32_t i = (uint32_t)s->tables[id].n;
	void *at = i < IDINDEX_NONE - 1 ? row_append(s, id, row, n) : NULL;

	if (at && idindex_add(&s->p->tables[id].index, hash, i) < 0) {
		s->tables[id].n--;
		return NULL;
	}
	return at;
}

void *session_table_row(struct session *s, enum table_id id, const void *key)
{
	size_t n = row_tables[id].key_size;
	uint64_t hash = hash_bytes(key, n);
	void *row = keyed_find(s, id, hash, key);

	s->generation++;
	return row ? row : keyed_new(s, id, hash, key, n);
}

static void add_sums(const struct row_table *t, char *into, const char *row)
{
	for (size_t i = 0; i < t->n_fields; i++)
		if (t->fields[i].flags & FIELD_SUMS)
			*(uint64_t *)(void *)(into + t->fields[i].offset) +=
				*(const uint64_t *)(const void *)(row + t->fields[i].offset);
}

static void row_replace(const struct row_table *t, char *into, const char *row)
{
	memcpy(into, row, t->row_size);
}

static void row_keep(const struct row_table *t, char *into, const char *row)
{
	(void)t, (void)into, (void)row;
}

static void unite(const struct row_table *t, void *into, const void *row)
{
	static void (*const rules[])(const struct row_table *, char *, const char *) = {
		[ROW_REPLACES] = row_replace, [ROW_SUMS] = add_sums, [ROW_KEEPS] = row_keep};

	rules[t->rule](t, into, row);
}

static int add_keyed(struct session *s, enum table_id id, const void *row)
{
	const struct row_table *t = &row_tables[id];
	uint64_t hash = hash_bytes(row, t->key_size);
	void *known = keyed_find(s, id, hash, row);

	s->generation++;
	if (!known)
		return keyed_new(s, id, hash, row, t->row_size) ? 0 : -ENOMEM;
	unite(t, known, row);
	return 0;
}

static int add_interval(struct session *s, const void *row)
{
	return session_interval_add(s, row);
}

static int add_counters(struct session *s, const void *row)
{
	return session_counters_add(s, row);
}

static int add_sensors(struct session *s, const void *row)
{
	const struct session_sensors *sensors = row;
	struct sensors *sum = session_sensors_of(s, sensors->device);

	if (!sum)
		return -ENOMEM;
	sensors_add(sum, &sensors->of);
	return 0;
}

static int add_unrecorded(struct session *s, const void *row)
{
	const struct session_unrecorded *span = row;

	if (span->reason >= UNRECORDED_N || (span->end_ns && span->end_ns < span->start_ns))
		return -EINVAL;
	return add_keyed(s, TABLE_UNRECORDED, row);
}

int session_table_add(struct session *s, enum table_id id, const void *row)
{
	/* Those that are not taken as they are. */
	static int (*const adds[TABLE_N])(struct session *, const void *) = {
		[TABLE_COUNTERS] = add_counters,
		[TABLE_INTERVALS] = add_interval,
		[TABLE_SENSORS] = add_sensors,
		[TABLE_UNRECORDED] = add_unrecorded,
	};

	if (adds[id])
		return adds[id](s, row);
	if (row_tables[id].key_size)
		return add_keyed(s, id, row);
	s->generation++;
	return row_append(s, id, row, row_tables[id].row_size) ? 0 : -ENOMEM;
}

/* Rows of a process that stand on `from`. Their old places in the index are never equal again. */
static void rows_move(struct session *s, enum table_id id, uint32_t process, uint32_t from,
		      uint32_t to)
{
	const struct row_table *t = &row_tables[id];
	const struct field *of = row_field(id, FIELD_PROCESS), *on = row_field(id, FIELD_DEVICE);

	if (!of || !on || !t->key_size)
		return;
	for (size_t i = 0; i < s->tables[id].n; i++) {
		char *row = (char *)s->tables[id].v + i * t->row_size;

		if (*row_id(row, of) != process || *row_id(row, on) != from)
			continue;
		*row_id(row, on) = to;
		idindex_add(&s->p->tables[id].index, hash_bytes(row, t->key_size), (uint32_t)i);
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
	for (i = 0; i < TABLE_N; i++)
		rows_move(s, (enum table_id)i, process, from, to);
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

/* Absent values of a set at the end. Where they begin, or SESSION_NONE. */
static uint32_t values_new(struct session *s, uint32_t set)
{
	uint32_t n = s->sets[set].n, at = (uint32_t)s->n_values;

	/* One more than needed: the arrays then exist even when all sets are empty. */
	if (ARRAY_ROOM(s->values, s->p->cap_values, s->n_values + n + 1) < 0 ||
	    ARRAY_ROOM(s->present, s->p->cap_present, s->n_values + n + 1) < 0)
		return SESSION_NONE;
	memset(s->values + at, 0, n * sizeof(*s->values));
	memset(s->present + at, 0, n);
	s->n_values += n;
	return at;
}

static uint32_t row_new(struct session *s, uint32_t node, uint32_t lane, uint32_t epoch,
			uint32_t set)
{
	uint32_t id = (uint32_t)s->n_rows, at;

	if (!ROOM(s, rows))
		return SESSION_NONE;
	at = values_new(s, set);
	if (at == SESSION_NONE)
		return SESSION_NONE;
	s->rows[id] = (struct session_row){node, lane, epoch, set, SESSION_NONE, at};
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

/* Its old values stay where they are, and are nobody's; so does its old place in the index, where it is not found. */
int session_row_widen(struct session *s, uint32_t row, uint32_t set)
{
	struct session_row *r = &s->rows[row];
	uint32_t n = s->sets[r->set].n, at;

	if (n > s->sets[set].n ||
	    memcmp(s->sets[r->set].metrics, s->sets[set].metrics, n * sizeof(uint32_t)) != 0)
		return -EINVAL;
	at = values_new(s, set);
	if (at == SESSION_NONE)
		return -ENOMEM;
	memcpy(s->values + at, s->values + r->values, n * sizeof(*s->values));
	memcpy(s->present + at, s->present + r->values, n);
	r->set = set;
	r->values = at;
	s->generation++;
	return row < s->p->n_indexed_rows ? idindex_add(&s->p->rows, row_hash(r), row) : 0;
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

int session_note(struct session *s, uint32_t process, enum note_level level, const char *text)
{
	const struct session_note note = {process, strtab_adds(s->strings, text), (uint8_t)level};

	return note.text == STRTAB_NONE ? -ENOMEM : session_table_add(s, TABLE_NOTES, &note);
}

bool session_clock_offset(const struct session *s, uint32_t process, int64_t *ret_ns)
{
	for (size_t i = 0; i < s->n_clocks; i++) {
		const struct session_clock *c = &s->clocks[i];

		if (c->process != process || strcmp(session_text(s, c->name), "realtime") != 0)
			continue;
		*ret_ns = (int64_t)(c->clock_ns - c->monotonic_ns);
		return true;
	}
	return false;
}

const char *session_note_about(const struct session *s, const char *begin)
{
	for (size_t i = 0; i < s->n_notes; i++) {
		const char *text = session_text(s, s->notes[i].text);

		if (!strncmp(text, begin, strlen(begin)))
			return text;
	}
	return NULL;
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

int session_unrecorded_add(struct session *s, const struct session_unrecorded *span)
{
	struct session_unrecorded one = *span;

	one.number = UINT32_MAX - (uint32_t)s->n_unrecorded;
	while (keyed_find(s, TABLE_UNRECORDED,
			  hash_bytes(&one, row_tables[TABLE_UNRECORDED].key_size), &one))
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
	size_t size = strtab_memory(s->strings) + p->cap_frames * sizeof(*s->frames) +
		      p->cap_nodes * sizeof(*s->nodes) + p->cap_rows * sizeof(*s->rows) +
		      p->cap_values * sizeof(*s->values) + p->cap_present + hists_memory(s) +
		      (p->nodes.size + p->frames.size) * sizeof(uint64_t);

	for (size_t i = 0; i < TABLE_N; i++)
		size += p->tables[i].cap * row_tables[i].row_size +
			p->tables[i].index.size * sizeof(uint64_t);
	return size;
}
