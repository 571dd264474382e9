/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/snapshot.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"
#include "core/places.h"

#define METADATA_PREFIX "__proton_launch_metadata"

/* What makes a view node unique: its parent and a session frame, or, below the root of a grouped
 * view, a group key. */
struct view_key {
	uint32_t parent, frame;
	uint64_t group;
};

/* The numbers of one metric over all nodes, and what is needed to subtract and to differentiate. */
struct column {
	uint32_t metric;
	bool inclusive;
	bool fresh; /* computed since the last update */
	double *raw; /* as measured */
	double *before; /* raw of the picture before this one, n_before nodes of it */
	double *rate;
	size_t cap_raw, cap_rate, cap_before, n_before;
	bool has_before, rate_wanted, rate_fresh;
	struct snap_column out, rate_out;
};

/* Display names of one mode, by session frame. */
struct name_cache {
	uint32_t *string, *symbol; /* string id + 1 (0: not made yet); symbol it was made of */
	size_t cap, n;
};

/* View node of each session node below one group, so that a row does not cost a walk to the root.
 * For the first groups only: it is memory for all nodes. */
#define GROUP_MAPS 16
struct group_map {
	uint32_t group; /* view node */
	uint32_t *view; /* by session node; SNAP_NONE: not made yet */
	size_t n, cap;
};

struct snapshot {
	const struct session *s;
	struct snapshot_spec spec;
	struct snap_node *nodes;
	struct view_key *keys;
	uint32_t *last_child;
	size_t n, cap_nodes, cap_keys, cap_last;
	struct idindex index;
	uint32_t *row_node; /* view node of each session row */
	size_t n_rows, cap_rows;
	size_t n_masked; /* nodes at the last snapshot_mask() */
	struct places places; /* by device or stream: where the work below a session node ran */
	struct loose {
		uint32_t row, lane; /* lane: of the group where it stands now */
	} * loose; /* rows of what the program said of a scope */
	size_t n_loose, cap_loose, n_noted; /* n_noted: rows that are in `places` */
	size_t n_mapped; /* session nodes that have a view node (no grouping) */
	size_t n_picture_nodes, n_picture_rows; /* of the session when the picture was taken */
	union metric_value *values; /* the picture; NULL: the session has ended and stands still */
	uint8_t *present;
	union metric_value *base; /* values at the last reset: the same for any grouping */
	uint8_t *base_present;
	size_t n_base;
	size_t cap_values, cap_present;
	struct column **columns;
	size_t n_columns, cap_columns;
	bool *used; /* by metric: is it in a set? */
	size_t n_used, cap_used, n_used_sets;
	double *absent; /* the values of all metrics that are in no set */
	size_t n_absent, cap_absent;
	struct snap_column absent_out;
	struct strtab *names;
	struct name_cache caches[NAME_N];
	uint64_t updated_ns, window_ns, generation;
	struct snap_flat *flat;
	size_t n_flat, cap_flat;
	struct snap_transfer *transfers;
	size_t n_transfers, cap_transfers;
	double *flops;
	size_t cap_flops;
	bool flops_fresh;
	struct snap_column flops_out;
	struct group_map maps[GROUP_MAPS];
	unsigned n_maps;
	uint32_t *path; /* scratch of view_path() */
	size_t cap_path;
};

static const char *const group_words[GROUP_N] = {"none", "process", "device", "stream", "thread"};

const char *group_word(enum group group)
{
	return group < GROUP_N ? group_words[group] : group_words[GROUP_NONE];
}

/* ---- the tree ---- */

static bool view_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct snapshot *snap = ctx;
	const struct view_key *k = key, *v = &snap->keys[id];

	return v->parent == k->parent && v->frame == k->frame && v->group == k->group;
}

static bool is_metadata(const struct snapshot *snap, uint32_t frame)
{
	const struct session_frame *f = &snap->s->frames[frame];
	const char *name = strtab_str(snap->s->strings, f->name);
	size_t n = sizeof(METADATA_PREFIX) - 1;

	return !snap->spec.keep_metadata && !strncmp(name, METADATA_PREFIX, n) &&
	       (name[n] == '\0' || name[n] == ':');
}

static int view_room(struct snapshot *snap)
{
	size_t n = snap->n + 1;

	if (array_reserve((void **)&snap->nodes, &snap->cap_nodes, n, sizeof(*snap->nodes)) < 0 ||
	    array_reserve((void **)&snap->keys, &snap->cap_keys, n, sizeof(*snap->keys)) < 0 ||
	    array_reserve((void **)&snap->last_child, &snap->cap_last, n,
			  sizeof(*snap->last_child)) < 0)
		return -ENOMEM;
	return 0;
}

static void view_link(struct snapshot *snap, uint32_t parent, uint32_t id)
{
	struct snap_node *node = &snap->nodes[id], *up = &snap->nodes[parent];

	node->depth = up->depth < UINT16_MAX ? (uint16_t)(up->depth + 1) : up->depth;
	node->metadata |= up->metadata;
	node->hidden |= up->hidden;
	if (up->first_child == SNAP_NONE)
		up->first_child = id;
	else
		snap->nodes[snap->last_child[parent]].next_sibling = id;
	snap->last_child[parent] = id;
	up->n_children++;
}

static uint32_t view_append(struct snapshot *snap, const struct view_key *key, uint8_t kind,
			    uint32_t session_node)
{
	uint32_t id = (uint32_t)snap->n;

	if (view_room(snap) < 0)
		return SNAP_NONE;
	snap->nodes[id] = (struct snap_node){.parent = key->parent,
					     .first_child = SNAP_NONE,
					     .next_sibling = SNAP_NONE,
					     .session_node = session_node,
					     .kind = kind};
	snap->keys[id] = *key;
	snap->last_child[id] = SNAP_NONE;
	if (key->group == 0)
		snap->nodes[id].metadata = is_metadata(snap, key->frame);
	snap->nodes[id].hidden = snap->nodes[id].metadata;
	snap->n++;
	if (key->parent != SNAP_NONE)
		view_link(snap, key->parent, id);
	return id;
}

static uint64_t view_hash(const struct view_key *key)
{
	return hash_u64(hash_pair(key->parent, key->frame) ^ hash_u64(key->group));
}

/* Children so few that looking at each is faster than at an index of millions. */
#define FEW_CHILDREN 16

static uint32_t view_find_few(const struct snapshot *snap, const struct view_key *key)
{
	uint32_t child = snap->nodes[key->parent].first_child;

	while (child != SNAP_NONE && !view_equal(snap, child, key))
		child = snap->nodes[child].next_sibling;
	return child;
}

/* They have become many: from now on they are in the index. */
static int view_index_children(struct snapshot *snap, uint32_t parent)
{
	uint32_t child = snap->nodes[parent].first_child;
	int r = 0;

	for (; child != SNAP_NONE && r == 0; child = snap->nodes[child].next_sibling)
		r = idindex_add(&snap->index, view_hash(&snap->keys[child]), child);
	return r;
}

static uint32_t view_intern(struct snapshot *snap, const struct view_key *key, uint8_t kind,
			    uint32_t session_node)
{
	bool few = snap->nodes[key->parent].n_children < FEW_CHILDREN;
	uint32_t id;

	if (few)
		id = view_find_few(snap, key);
	else
		id = idindex_find(&snap->index, view_hash(key), view_equal, snap, key);
	if (id != SNAP_NONE)
		return id;
	if (!few && idindex_add(&snap->index, view_hash(key), (uint32_t)snap->n) < 0)
		return SNAP_NONE;
	id = view_append(snap, key, kind, session_node);
	if (few && id != SNAP_NONE && snap->nodes[key->parent].n_children == FEW_CHILDREN &&
	    view_index_children(snap, key->parent) < 0)
		return SNAP_NONE;
	return id;
}

/* Which group a lane belongs to: a key that is never 0, and the frame kind of its node. */
static uint64_t lane_group(const struct snapshot *snap, uint32_t lane, uint8_t *ret_kind)
{
	static const struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	const struct session_lane *l = lane < snap->s->n_lanes ? &snap->s->lanes[lane] : &nowhere;
	uint64_t key;

	switch (snap->spec.group) {
	case GROUP_PROCESS:
		*ret_kind = FRAME_PROCESS;
		key = l->process;
		break;
	case GROUP_DEVICE:
		*ret_kind = FRAME_DEVICE;
		key = l->device;
		break;
	case GROUP_STREAM:
		*ret_kind = FRAME_STREAM;
		key = hash_pair(l->process, l->device) ^ hash_pair(l->context, l->stream);
		break;
	default:
		*ret_kind = FRAME_THREAD;
		key = hash_u64(l->thread) ^ hash_pair(l->process, 0);
		break;
	}
	return key + 1 ? key + 1 : 1;
}

/* The group node of a lane; its frame field remembers the lane, for the name. */
static uint32_t view_group(struct snapshot *snap, uint32_t lane)
{
	struct view_key key = {.parent = 0, .frame = 0};
	uint8_t kind;
	uint32_t id, before = (uint32_t)snap->n;

	key.group = lane_group(snap, lane, &kind);
	id = view_intern(snap, &key, kind, SESSION_NONE);
	if (id == before && id != SNAP_NONE)
		snap->nodes[id].session_node = SESSION_NONE;
	return id;
}

/* What is known of the nodes below a group; NULL: out of memory, or there are too many groups. */
static struct group_map *group_map(struct snapshot *snap, uint32_t group)
{
	struct group_map *m;
	unsigned i;

	for (i = 0; i < snap->n_maps; i++)
		if (snap->maps[i].group == group)
			break;
	if (i == GROUP_MAPS)
		return NULL;
	m = &snap->maps[i];
	if (i == snap->n_maps)
		*m = (struct group_map){.group = group};
	if (array_reserve((void **)&m->view, &m->cap, snap->s->n_nodes, sizeof(*m->view)) < 0)
		return NULL;
	memset(m->view + m->n, 0xff, (snap->s->n_nodes - m->n) * sizeof(*m->view));
	m->n = snap->s->n_nodes;
	snap->n_maps = MAX(snap->n_maps, i + 1);
	return m;
}

static void group_maps_done(struct snapshot *snap)
{
	while (snap->n_maps)
		free(snap->maps[--snap->n_maps].view);
}

/* View node of a session node below a group: its ancestors are made on the way. Without a map each
 * row costs a walk to the root. */
static uint32_t view_path(struct snapshot *snap, uint32_t group, uint32_t node)
{
	struct group_map *m = group_map(snap, group);
	uint32_t at = group;
	size_t depth = 0;

	for (; snap->s->nodes[node].parent != SESSION_NONE; node = snap->s->nodes[node].parent) {
		if (m && m->view[node] != SNAP_NONE) {
			at = m->view[node];
			break;
		}
		if (array_reserve((void **)&snap->path, &snap->cap_path, depth + 1,
				  sizeof(*snap->path)) < 0)
			return SNAP_NONE;
		snap->path[depth++] = node;
	}
	while (depth && at != SNAP_NONE) {
		struct view_key key;

		node = snap->path[--depth];
		key = (struct view_key){at, snap->s->nodes[node].frame, 0};
		at = view_intern(snap, &key, snap->s->frames[key.frame].kind, node);
		if (m)
			m->view[node] = at;
	}
	return at;
}

/* Without grouping view nodes and session nodes are the same, id for id. */
static int map_nodes(struct snapshot *snap)
{
	const struct session *s = snap->s;

	for (; snap->n_mapped < snap->n_picture_nodes; snap->n_mapped++) {
		const struct session_node *n = &s->nodes[snap->n_mapped];
		struct view_key key = {n->parent, n->frame, 0};

		if (view_append(snap, &key, s->frames[n->frame].kind,
				(uint32_t)snap->n_mapped) == SNAP_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* What was computed, and what rates are made of, counts from elsewhere now. */
static void columns_restart(struct snapshot *snap, bool has_before)
{
	size_t i;

	snap->flops_fresh = false;
	for (i = 0; i < snap->n_columns; i++) {
		snap->columns[i]->fresh = snap->columns[i]->rate_fresh = false;
		snap->columns[i]->n_before = 0;
		snap->columns[i]->has_before &= has_before;
	}
}

static bool ran_on_device(const struct snapshot *snap, uint32_t lane)
{
	return lane < snap->s->n_lanes && snap->s->lanes[lane].device != SESSION_NONE;
}

/* Flops and bytes of a scope are counted on the host but spent on a device; host time is not. */
static bool is_loose(const struct snapshot *snap, const struct session_row *r)
{
	const struct session_set *set = &snap->s->sets[r->set];
	uint32_t i;

	for (i = 0; i < set->n; i++)
		if (set->metrics[i] == METRIC_CPU_TIME || set->metrics[i] == METRIC_CPU_COUNT)
			return false;
	return r->lane < snap->s->n_lanes && !ran_on_device(snap, r->lane);
}

static bool by_device(const struct snapshot *snap)
{
	return snap->spec.group == GROUP_DEVICE || snap->spec.group == GROUP_STREAM;
}

/* Learn where work ran, before anything is put there. */
static int note_places(struct snapshot *snap)
{
	uint8_t kind;

	for (; by_device(snap) && snap->n_noted < snap->n_picture_rows; snap->n_noted++) {
		const struct session_row *r = &snap->s->rows[snap->n_noted];

		if (ran_on_device(snap, r->lane) &&
		    places_note(&snap->places, snap->s, r->node, r->lane,
				lane_group(snap, r->lane, &kind)) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The lane among whose group a row is shown: its own, or that of all the work below its node. */
static uint32_t shown_lane(const struct snapshot *snap, const struct session_row *r)
{
	uint32_t lane = places_only(&snap->places, r->node, snap->s->lanes[r->lane].process);

	return lane == SESSION_NONE ? r->lane : lane;
}

static int loose_add(struct snapshot *snap, uint32_t row, uint32_t lane)
{
	if (array_reserve((void **)&snap->loose, &snap->cap_loose, snap->n_loose + 1,
			  sizeof(*snap->loose)) < 0)
		return -ENOMEM;
	snap->loose[snap->n_loose++] = (struct loose){row, lane};
	return 0;
}

/* View node of a row below the group of a lane. */
static int map_row(struct snapshot *snap, size_t row, uint32_t lane)
{
	uint32_t node = snap->s->rows[row].node;

	if (snap->spec.group != GROUP_NONE) {
		uint32_t group = view_group(snap, lane);

		node = group == SNAP_NONE ? SNAP_NONE : view_path(snap, group, node);
	}
	if (node == SNAP_NONE)
		return -ENOMEM;
	snap->row_node[row] = node;
	return 0;
}

static int map_rows(struct snapshot *snap)
{
	if (array_reserve((void **)&snap->row_node, &snap->cap_rows, snap->n_picture_rows,
			  sizeof(*snap->row_node)) < 0)
		return -ENOMEM;
	for (; snap->n_rows < snap->n_picture_rows; snap->n_rows++) {
		const struct session_row *r = &snap->s->rows[snap->n_rows];
		bool loose = by_device(snap) && is_loose(snap, r);
		uint32_t lane = loose ? shown_lane(snap, r) : r->lane;

		if (map_row(snap, snap->n_rows, lane) < 0 ||
		    (loose && loose_add(snap, (uint32_t)snap->n_rows, lane) < 0))
			return -ENOMEM;
	}
	return 0;
}

/* Work has come since: on the first device below a scope, or on a second one. */
static int move_loose_rows(struct snapshot *snap)
{
	bool moved = false;

	for (size_t i = 0; i < snap->n_loose; i++) {
		struct loose *l = &snap->loose[i];
		uint32_t lane = shown_lane(snap, &snap->s->rows[l->row]);

		if (lane == l->lane)
			continue;
		if (map_row(snap, l->row, lane) < 0)
			return -ENOMEM;
		l->lane = lane;
		moved = true;
	}
	if (moved) /* what has gone elsewhere is no rate */
		columns_restart(snap, false);
	return 0;
}

static int map_all(struct snapshot *snap)
{
	static const struct view_key root = {SNAP_NONE, 0, 0};

	if (snap->spec.group == GROUP_NONE) {
		if (map_nodes(snap) < 0)
			return -ENOMEM;
	} else if (!snap->n && view_append(snap, &root, FRAME_ROOT, SESSION_ROOT) == SNAP_NONE) {
		return -ENOMEM;
	}
	if (note_places(snap) < 0 || move_loose_rows(snap) < 0)
		return -ENOMEM;
	return map_rows(snap);
}

/* ---- the picture ---- */

static int copy_values(struct snapshot *snap)
{
	const struct session *s = snap->s;

	if (s->ended) {
		free(snap->values);
		free(snap->present);
		snap->values = NULL;
		snap->present = NULL;
		snap->cap_values = snap->cap_present = 0;
		return 0;
	}
	if (array_reserve((void **)&snap->values, &snap->cap_values, s->n_values + 1,
			  sizeof(*snap->values)) < 0 ||
	    array_reserve((void **)&snap->present, &snap->cap_present, s->n_values + 1, 1) < 0)
		return -ENOMEM;
	if (s->n_values) {
		memcpy(snap->values, s->values, s->n_values * sizeof(*s->values));
		memcpy(snap->present, s->present, s->n_values);
	}
	return 0;
}

/* What there is now is the picture. Values first: a row is never mapped without its values. */
static int picture_take(struct snapshot *snap)
{
	snap->flops_fresh = false;
	if (copy_values(snap) < 0)
		return -ENOMEM;
	snap->n_picture_nodes = snap->s->n_nodes;
	snap->n_picture_rows = snap->s->n_rows;
	return map_all(snap);
}

/* Most metrics that a session knows occur in no set: they cost nothing. */
static bool metric_used(struct snapshot *snap, uint32_t metric)
{
	const struct session *s = snap->s;
	size_t n = metric_table_count(s->metrics);
	uint32_t i;

	if (array_reserve((void **)&snap->used, &snap->cap_used, n, sizeof(*snap->used)) < 0)
		return true;
	for (; snap->n_used < n; snap->n_used++)
		snap->used[snap->n_used] = false;
	for (; snap->n_used_sets < s->n_sets; snap->n_used_sets++)
		for (i = 0; i < s->sets[snap->n_used_sets].n; i++)
			snap->used[s->sets[snap->n_used_sets].metrics[i]] = true;
	return snap->used[metric];
}

/* The column of a metric that is nowhere: shared by all such. */
static const struct snap_column *column_absent(struct snapshot *snap)
{
	if (array_reserve((void **)&snap->absent, &snap->cap_absent, snap->n, sizeof(double)) < 0)
		return NULL;
	for (; snap->n_absent < snap->n; snap->n_absent++)
		snap->absent[snap->n_absent] = NAN;
	snap->absent_out.v = snap->absent;
	return &snap->absent_out;
}

static struct column *column_find(struct snapshot *snap, uint32_t metric, bool inclusive)
{
	struct column *c;
	size_t i;

	for (i = 0; i < snap->n_columns; i++)
		if (snap->columns[i]->metric == metric && snap->columns[i]->inclusive == inclusive)
			return snap->columns[i];
	if (array_reserve((void **)&snap->columns, &snap->cap_columns, snap->n_columns + 1,
			  sizeof(*snap->columns)) < 0)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->metric = metric;
	c->inclusive = inclusive;
	snap->columns[snap->n_columns++] = c;
	return c;
}

static void column_free(struct column *c)
{
	free(c->raw);
	free(c->before);
	free(c->rate);
	free(c);
}

static void combine(const struct metric *m, double *a, double *wa, double b, double wb)
{
	if (isnan(b))
		return;
	if (isnan(*a)) {
		*a = b;
		*wa = wb;
		return;
	}
	switch (m->add) {
	case METRIC_SUM:
		*a += b;
		break;
	case METRIC_MIN:
		*a = fmin(*a, b);
		break;
	case METRIC_MAX:
		*a = fmax(*a, b);
		break;
	case METRIC_WMEAN:
		*a = *wa + wb > 0 ? (*a * *wa + b * wb) / (*wa + wb) : *a;
		*wa += wb;
		break;
	default:
		*a = b;
		break;
	}
}

static double row_weight(const struct snapshot *snap, const struct session_row *r, uint32_t weight,
			 const union metric_value *values, const uint8_t *present)
{
	const struct session_set *set = &snap->s->sets[r->set];
	uint32_t i;

	for (i = 0; i < set->n; i++)
		if (set->metrics[i] == weight && present[r->values + i])
			return metric_number(metric_table_get(snap->s->metrics, weight),
					     values[r->values + i]);
	return 1;
}

/* A value of the picture since the last reset. False: it is absent, nothing has come since, or (a
 * minimum, a maximum) only the one of the whole run is known. */
static bool picture_value(const struct snapshot *snap, const struct metric *m, uint32_t at,
			  union metric_value v, double *ret)
{
	*ret = m->type == METRIC_TEXT ? (double)v.text : metric_number(m, v);
	if (at >= snap->n_base || !snap->base_present[at])
		return true;
	if (m->add == METRIC_MIN || m->add == METRIC_MAX)
		return false;
	if (m->add != METRIC_SUM || m->type == METRIC_TEXT)
		return true;
	if (m->type == METRIC_U64)
		*ret = v.u64 > snap->base[at].u64 ? (double)(v.u64 - snap->base[at].u64) : 0;
	else
		*ret -= snap->base[at].f64;
	return *ret != 0;
}

/* Own values of all nodes from the rows of the picture. */
static void column_exclusive(const struct snapshot *snap, const struct metric *m, uint32_t metric,
			     double *v, double *w)
{
	const union metric_value *values = snap->values ? snap->values : snap->s->values;
	const uint8_t *present = snap->present ? snap->present : snap->s->present;
	double unweighted = 0;
	size_t i;
	uint32_t j;

	for (i = 0; i < snap->n_rows; i++) {
		const struct session_row *r = &snap->s->rows[i];
		const struct session_set *set = &snap->s->sets[r->set];
		uint32_t node = snap->row_node[i];

		for (j = 0; j < set->n; j++) {
			uint32_t at = r->values + j;
			double weight = 1, value;

			if (set->metrics[j] != metric || !present[at] || snap->nodes[node].hidden ||
			    !picture_value(snap, m, at, values[at], &value))
				continue;
			if (m->add == METRIC_WMEAN)
				weight = row_weight(snap, r, m->weight, values, present);
			combine(m, &v[node], w ? &w[node] : &unweighted, value, weight);
		}
	}
}

/* A parent's id is smaller than its children's: one pass from the end rolls up. w: NULL, or what
 * weighs each value. */
static void column_roll_up(const struct snapshot *snap, const struct metric *m, double *v, double *w)
{
	double unweighted = 0;
	size_t i;

	for (i = snap->n; i-- > 1;) {
		uint32_t up = snap->nodes[i].parent;

		combine(m, &v[up], w ? &w[up] : &unweighted, v[i], w ? w[i] : 0);
	}
}

static int column_compute(struct snapshot *snap, struct column *c)
{
	const struct metric *m = metric_table_get(snap->s->metrics, c->metric);
	_cleanup_(freep) double *w = NULL;
	size_t i;

	if (!m || array_reserve((void **)&c->raw, &c->cap_raw, snap->n, sizeof(double)) < 0)
		return -ENOMEM;
	if (m->add == METRIC_WMEAN) {
		w = calloc(snap->n, sizeof(*w));
		if (!w)
			return -ENOMEM;
	}
	for (i = 0; i < snap->n; i++)
		c->raw[i] = NAN;
	column_exclusive(snap, m, c->metric, c->raw, w);
	if (c->inclusive && m->scope == METRIC_INCLUSIVE)
		column_roll_up(snap, m, c->raw, w);
	c->out.v = c->raw;
	c->fresh = true;
	return 0;
}

static struct column *column_get(struct snapshot *snap, uint32_t metric, bool inclusive)
{
	struct column *c;

	if (metric >= metric_table_count(snap->s->metrics))
		return NULL;
	c = column_find(snap, metric, inclusive);
	if (!c || (!c->fresh && column_compute(snap, c) < 0))
		return NULL;
	return c;
}

const struct snap_column *snapshot_column(struct snapshot *snap, uint32_t metric, bool inclusive)
{
	struct column *c;

	if (metric < metric_table_count(snap->s->metrics) && !metric_used(snap, metric))
		return column_absent(snap);
	c = column_get(snap, metric, inclusive);
	return c ? &c->out : NULL;
}

static int rate_compute(struct snapshot *snap, struct column *c)
{
	double seconds = (double)snap->window_ns / 1e9, before;
	size_t i;

	if (array_reserve((void **)&c->rate, &c->cap_rate, snap->n, sizeof(double)) < 0)
		return -ENOMEM;
	for (i = 0; i < snap->n; i++) {
		before = i < c->n_before && !isnan(c->before[i]) ? c->before[i] : 0;
		c->rate[i] = c->has_before && seconds > 0 ? (c->raw[i] - before) / seconds : NAN;
	}
	c->rate_out.v = c->rate;
	c->rate_fresh = true;
	return 0;
}

const struct snap_column *snapshot_rate(struct snapshot *snap, uint32_t metric)
{
	struct column *c;

	if (metric >= metric_table_count(snap->s->metrics))
		return NULL;
	c = column_find(snap, metric, true);
	if (!c)
		return NULL;
	c->rate_wanted = true;
	if (!metric_used(snap, metric))
		return column_absent(snap);
	if ((!c->fresh && column_compute(snap, c) < 0) ||
	    (!c->rate_fresh && rate_compute(snap, c) < 0))
		return NULL;
	return &c->rate_out;
}

uint64_t snapshot_window_ns(const struct snapshot *snap)
{
	return snap->window_ns;
}

/* ---- life ---- */

/* What was shown becomes "before". What was in no set was zero before. */
static void column_keep(struct snapshot *snap, struct column *c)
{
	c->has_before = true;
	c->n_before = 0;
	if (!metric_used(snap, c->metric))
		return;
	if ((!c->fresh && column_compute(snap, c) < 0) ||
	    array_reserve((void **)&c->before, &c->cap_before, snap->n, sizeof(double)) < 0) {
		c->has_before = false;
		return;
	}
	memcpy(c->before, c->raw, snap->n * sizeof(*c->before));
	c->n_before = snap->n;
}

/* Only for the metrics whose rate somebody looks at. */
static void columns_age(struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->n_columns; i++) {
		struct column *c = snap->columns[i];

		if (c->rate_wanted)
			column_keep(snap, c);
		c->fresh = false;
		c->rate_fresh = false;
	}
}

struct snapshot *snapshot_new(const struct session *s, const struct snapshot_spec *spec)
{
	static const uint32_t rates[] = {METRIC_TIME, METRIC_BYTES};
	struct snapshot *snap = calloc(1, sizeof(*snap));
	size_t i;

	if (!snap)
		return NULL;
	snap->s = s;
	snap->spec = *spec;
	snap->names = strtab_new();
	if (!snap->names || picture_take(snap) < 0)
		return snapshot_free(snap);
	/* The first window can have a rate only if somebody kept what was before it. */
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct column *c = column_find(snap, rates[i], true);

		if (!c)
			return snapshot_free(snap);
		c->rate_wanted = true;
	}
	return snap;
}

static void snapshot_drop_columns(struct snapshot *snap)
{
	size_t i;

	snap->flops_fresh = false;
	for (i = 0; i < snap->n_columns; i++)
		column_free(snap->columns[i]);
	snap->n_columns = 0;
}

struct snapshot *snapshot_free(struct snapshot *snap)
{
	unsigned i;

	if (!snap)
		return NULL;
	snapshot_drop_columns(snap);
	idindex_done(&snap->index);
	strtab_free(snap->names);
	for (i = 0; i < NAME_N; i++) {
		free(snap->caches[i].string);
		free(snap->caches[i].symbol);
	}
	free(snap->columns);
	free(snap->used);
	free(snap->absent);
	free(snap->nodes);
	free(snap->keys);
	free(snap->last_child);
	free(snap->row_node);
	free(snap->loose);
	places_done(&snap->places);
	free(snap->values);
	free(snap->present);
	free(snap->base);
	free(snap->base_present);
	free(snap->flat);
	free(snap->transfers);
	free(snap->flops);
	group_maps_done(snap);
	free(snap->path);
	free(snap);
	return NULL;
}

int snapshot_update(struct snapshot *snap, uint64_t now_ns)
{
	int r;

	snap->generation++;
	if (snap->updated_ns)
		columns_age(snap);
	r = picture_take(snap);
	if (r < 0)
		return r;
	snap->window_ns = snap->updated_ns && now_ns > snap->updated_ns ? now_ns - snap->updated_ns : 0;
	snap->updated_ns = now_ns;
	return 0;
}

void snapshot_reset(struct snapshot *snap, bool undo)
{
	const union metric_value *values = snap->values ? snap->values : snap->s->values;
	const uint8_t *present = snap->present ? snap->present : snap->s->present;
	size_t n = 0, i;

	for (i = 0; i < snap->n_rows; i++)
		n = MAX(n, (size_t)snap->s->rows[i].values + snap->s->sets[snap->s->rows[i].set].n);
	snap->generation++;
	free(snap->base);
	free(snap->base_present);
	snap->n_base = 0;
	snap->base = undo ? NULL : malloc((n + 1) * sizeof(*snap->base));
	snap->base_present = undo ? NULL : malloc(n + 1);
	if (snap->base && snap->base_present && n) {
		memcpy(snap->base, values, n * sizeof(*values));
		memcpy(snap->base_present, present, n);
		snap->n_base = n;
	}
	columns_restart(snap, !undo);
}

void snapshot_mask(struct snapshot *snap, const uint8_t *mask)
{
	bool changed = false;
	size_t i;

	for (i = 0; i < snap->n; i++) {
		bool hidden = snap->nodes[i].metadata || (mask && !mask[i]);

		changed |= i < snap->n_masked && hidden != snap->nodes[i].hidden;
		snap->nodes[i].hidden = hidden;
	}
	snap->n_masked = snap->n;
	snap->generation++;
	if (changed) /* "before" was the sum over other nodes */
		columns_restart(snap, false);
	snap->flops_fresh = false;
	for (i = 0; i < snap->n_columns; i++)
		snap->columns[i]->fresh = snap->columns[i]->rate_fresh = false;
}

int snapshot_regroup(struct snapshot *snap, enum group group)
{
	snap->generation++;
	snapshot_drop_columns(snap);
	group_maps_done(snap);
	idindex_done(&snap->index);
	snap->spec.group = group;
	snap->n = snap->n_rows = snap->n_mapped = snap->n_masked = 0;
	places_done(&snap->places);
	snap->n_loose = snap->n_noted = 0;
	snap->n_flat = snap->n_transfers = 0;
	/* The same picture in another order: what has come since is for the next update. */
	return map_all(snap);
}

uint64_t snapshot_generation(const struct snapshot *snap)
{
	return snap->generation;
}

uint32_t snapshot_n(const struct snapshot *snap)
{
	return (uint32_t)snap->n;
}

const struct snap_node *snapshot_node(const struct snapshot *snap, uint32_t id)
{
	return &snap->nodes[id];
}

uint32_t snapshot_row_node(const struct snapshot *snap, size_t row)
{
	return row < snap->n_rows ? snap->row_node[row] : SNAP_NONE;
}

const struct session *snapshot_session(const struct snapshot *snap)
{
	return snap->s;
}

enum group snapshot_group(const struct snapshot *snap)
{
	return snap->spec.group;
}

/* ---- names ---- */

/* A name must not steer the terminal: control characters are shown as ^X. */
static char *name_tame(const char *name)
{
	char *out = malloc(2 * strlen(name) + 1), *p = out;

	for (; out && *name; name++) {
		if ((unsigned char)*name < ' ' || *name == 0x7f) {
			*p++ = '^';
			*p++ = (char)(*name ^ 0x40);
		} else {
			*p++ = *name;
		}
	}
	if (out)
		*p = '\0';
	return out;
}

static uint32_t name_make(struct snapshot *snap, uint32_t session_node, enum name_mode mode)
{
	const char *raw = session_node_name(snap->s, session_node);
	char *nice = NULL, *shown;
	uint32_t id;

	if (snap->spec.demangle && mode != NAME_RAW)
		nice = snap->spec.demangle(raw, mode);
	shown = name_tame(nice ? nice : raw);
	id = shown ? strtab_adds(snap->names, shown) : STRTAB_NONE;
	free(shown);
	free(nice);
	return id == STRTAB_NONE ? 0 : id;
}

static int name_room(struct name_cache *c, size_t n)
{
	size_t symbol = c->cap;

	if (n <= c->n)
		return 0;
	if (array_reserve((void **)&c->symbol, &symbol, n, sizeof(*c->symbol)) < 0 ||
	    array_reserve((void **)&c->string, &c->cap, n, sizeof(*c->string)) < 0)
		return -ENOMEM;
	memset(c->string + c->n, 0, (n - c->n) * sizeof(*c->string));
	c->n = n;
	return 0;
}

static const char *name_process(const struct session *s, uint32_t process, char *out, size_t size)
{
	const struct session_process *p = &s->processes[process];

	if (p->rank >= 0)
		snprintf(out, size, "rank %d pid %u %s", p->rank, p->pid, strtab_str(s->strings, p->exe));
	else
		snprintf(out, size, "pid %u %s", p->pid, strtab_str(s->strings, p->exe));
	return out;
}

static void name_device(const struct session *s, uint32_t device, char *out, size_t size)
{
	const struct session_device *d = &s->devices[device];

	if (d->name)
		snprintf(out, size, "%s %d %s", strtab_str(s->strings, d->type), d->index,
			 strtab_str(s->strings, d->name));
	else
		snprintf(out, size, "%s %d", strtab_str(s->strings, d->type), d->index);
}

/* Names of group nodes come from any row below: the first row whose view path starts there. */
static const char *name_group(struct snapshot *snap, uint32_t id)
{
	const struct session *s = snap->s;
	const struct session_lane *l = NULL;
	char name[256] = "(not known)", part[160];
	uint8_t kind;
	size_t i;

	for (i = 0; i < s->n_lanes && !l; i++)
		if (lane_group(snap, (uint32_t)i, &kind) == snap->keys[id].group)
			l = &s->lanes[i];
	if (l && kind == FRAME_PROCESS && l->process < s->n_processes) {
		name_process(s, l->process, name, sizeof(name));
	} else if (l && kind == FRAME_THREAD && l->thread) {
		snprintf(name, sizeof(name), "thread %llu", (unsigned long long)l->thread);
	} else if (l && kind != FRAME_THREAD && l->device < s->n_devices) {
		name_device(s, l->device, part, sizeof(part));
		if (kind == FRAME_DEVICE)
			snprintf(name, sizeof(name), "%s", part);
		else
			snprintf(name, sizeof(name), "%s stream %u", part, l->stream);
	} else if (l && l->device == SESSION_NONE) {
		snprintf(name, sizeof(name), "host");
	}
	return strtab_str(snap->names, strtab_adds(snap->names, name));
}

const char *snapshot_name(struct snapshot *snap, uint32_t id, enum name_mode mode)
{
	struct name_cache *c = &snap->caches[mode];
	uint32_t node = snap->nodes[id].session_node, frame, symbol;

	if (node == SESSION_NONE)
		return name_group(snap, id);
	frame = snap->s->nodes[node].frame;
	symbol = snap->s->frames[frame].symbol;
	if (name_room(c, snap->s->n_frames) < 0)
		return session_node_name(snap->s, node);
	if (!c->string[frame] || c->symbol[frame] != symbol) {
		c->string[frame] = name_make(snap, node, mode) + 1;
		c->symbol[frame] = symbol;
	}
	return strtab_str(snap->names, c->string[frame] - 1);
}

/* ---- tables ---- */

static void add_number(double *a, double b)
{
	if (!isnan(b))
		*a = isnan(*a) ? b : *a + b;
}

static double at(const struct snap_column *c, uint32_t id)
{
	return c ? c->v[id] : NAN;
}

static const uint32_t flops_metrics[] = {METRIC_FLOPS, METRIC_FLOPS8, METRIC_FLOPS16, METRIC_FLOPS32,
					 METRIC_FLOPS64};

const struct snap_column *snapshot_flops(struct snapshot *snap)
{
	const struct snap_column *c;
	size_t i, j;

	if (snap->flops_fresh)
		return &snap->flops_out;
	if (array_reserve((void **)&snap->flops, &snap->cap_flops, snap->n, sizeof(double)) < 0)
		return NULL;
	for (j = 0; j < snap->n; j++)
		snap->flops[j] = NAN;
	for (i = 0; i < ARRAY_SIZE(flops_metrics); i++) {
		if (!metric_used(snap, flops_metrics[i]))
			continue;
		c = snapshot_column(snap, flops_metrics[i], true);
		for (j = 0; c && j < snap->n; j++)
			add_number(&snap->flops[j], c->v[j]);
	}
	snap->flops_out.v = snap->flops;
	snap->flops_fresh = true;
	return &snap->flops_out;
}

/* Does this node stand for work on the device? Files may not say: then leaves with time do. */
static bool is_flat(const struct snapshot *snap, uint32_t id, double time_ns)
{
	const struct snap_node *n = &snap->nodes[id];

	if (n->hidden)
		return false;
	if (n->kind == FRAME_KERNEL || n->kind == FRAME_COPY || n->kind == FRAME_SET)
		return true;
	return n->kind == FRAME_FUNCTION && n->first_child == SNAP_NONE && !isnan(time_ns);
}

static struct snap_flat *flat_entry(struct snapshot *snap, uint32_t *by_frame, uint32_t id,
				    enum name_mode mode)
{
	uint32_t frame = snap->keys[id].frame;
	struct snap_flat *e;

	if (by_frame[frame])
		return &snap->flat[by_frame[frame] - 1];
	if (array_reserve((void **)&snap->flat, &snap->cap_flat, snap->n_flat + 1,
			  sizeof(*snap->flat)) < 0)
		return NULL;
	e = &snap->flat[snap->n_flat++];
	by_frame[frame] = (uint32_t)snap->n_flat;
	*e = (struct snap_flat){snapshot_name(snap, id, mode), id, snap->nodes[id].kind,
				NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	return e;
}

static int flat_compare(const void *a, const void *b)
{
	const struct snap_flat *x = a, *y = b;
	double tx = isnan(x->time_ns) ? -1 : x->time_ns, ty = isnan(y->time_ns) ? -1 : y->time_ns;

	if (tx != ty)
		return tx < ty ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* What the flat table is made of. */
struct flat_columns {
	const struct snap_column *time, *count, *bytes, *min, *max, *rate;
	const struct snap_column *flops[ARRAY_SIZE(flops_metrics)];
	size_t n_flops;
};

static void flat_columns(struct snapshot *snap, struct flat_columns *c)
{
	size_t i;

	*c = (struct flat_columns){
		.time = snapshot_column(snap, METRIC_TIME, false),
		.count = snapshot_column(snap, METRIC_COUNT, false),
		.bytes = snapshot_column(snap, METRIC_BYTES, false),
		.min = snapshot_column(snap, METRIC_TIME_MIN, false),
		.max = snapshot_column(snap, METRIC_TIME_MAX, false),
		.rate = snapshot_rate(snap, METRIC_TIME),
	};
	for (i = 0; i < ARRAY_SIZE(flops_metrics); i++)
		if (metric_used(snap, flops_metrics[i]))
			c->flops[c->n_flops++] = snapshot_column(snap, flops_metrics[i], false);
}

/* Fold one node's own values into its entry; `heaviest` is the best single context so far. */
static void flat_fold(const struct flat_columns *c, struct snap_flat *e, uint32_t id, double *heaviest)
{
	double time = at(c->time, id);
	size_t i;

	add_number(&e->time_ns, time);
	add_number(&e->count, at(c->count, id));
	add_number(&e->bytes, at(c->bytes, id));
	for (i = 0; i < c->n_flops; i++)
		add_number(&e->flops, at(c->flops[i], id));
	add_number(&e->time_rate, at(c->rate, id));
	e->min_ns = fmin(e->min_ns, at(c->min, id));
	e->max_ns = fmax(e->max_ns, at(c->max, id));
	if (!isnan(time) && !(time <= *heaviest)) {
		*heaviest = time;
		e->node = id;
	}
}

const struct snap_flat *snapshot_flat(struct snapshot *snap, enum name_mode mode, size_t *ret_n)
{
	_cleanup_(freep) uint32_t *by_frame = calloc(snap->s->n_frames + 1, sizeof(*by_frame));
	_cleanup_(freep) double *heaviest = calloc(snap->s->n_frames + 1, sizeof(*heaviest));
	struct flat_columns columns;
	uint32_t id;

	snap->n_flat = 0;
	*ret_n = 0;
	flat_columns(snap, &columns);
	if (!columns.time || !by_frame || !heaviest)
		return NULL;
	for (id = 0; id < snap->n; id++) {
		struct snap_flat *e;

		if (!is_flat(snap, id, columns.time->v[id]))
			continue;
		e = flat_entry(snap, by_frame, id, mode);
		if (e)
			flat_fold(&columns, e, id, &heaviest[snap->keys[id].frame]);
	}
	if (snap->n_flat)
		qsort(snap->flat, snap->n_flat, sizeof(*snap->flat), flat_compare);
	*ret_n = snap->n_flat;
	return snap->flat;
}

/* The entry of this name, made when absent. */
static struct snap_transfer *transfer_entry(struct snapshot *snap, const struct snap_flat *f)
{
	struct snap_transfer *t;

	if (array_reserve((void **)&snap->transfers, &snap->cap_transfers, snap->n_transfers + 1,
			  sizeof(*snap->transfers)) < 0)
		return NULL;
	t = &snap->transfers[snap->n_transfers++];
	*t = (struct snap_transfer){f->name, f->kind, f->count, f->bytes, f->time_ns, NAN, NAN};
	return t;
}

const struct snap_transfer *snapshot_transfers(struct snapshot *snap, size_t *ret_n)
{
	_cleanup_(freep) uint32_t *by_frame = calloc(snap->s->n_frames + 1, sizeof(*by_frame));
	const struct snap_column *async = snapshot_column(snap, METRIC_ASYNC, false);
	const struct snap_column *rate = snapshot_rate(snap, METRIC_BYTES);
	const struct snap_flat *flat;
	struct snap_transfer *t;
	size_t n, i;
	uint32_t id;

	snap->n_transfers = 0;
	flat = snapshot_flat(snap, NAME_SHORT, &n);
	for (i = 0; by_frame && i < n; i++)
		if ((flat[i].kind == FRAME_COPY || flat[i].kind == FRAME_SET) &&
		    transfer_entry(snap, &flat[i]))
			by_frame[snap->keys[flat[i].node].frame] = (uint32_t)snap->n_transfers;
	for (id = 0; by_frame && snap->n_transfers && id < snap->n; id++) {
		if ((snap->nodes[id].kind != FRAME_COPY && snap->nodes[id].kind != FRAME_SET) ||
		    !by_frame[snap->keys[id].frame])
			continue;
		t = &snap->transfers[by_frame[snap->keys[id].frame] - 1];
		add_number(&t->async, at(async, id));
		add_number(&t->bytes_rate, at(rate, id));
	}
	*ret_n = snap->n_transfers;
	return snap->transfers;
}
