/* SPDX-License-Identifier: MIT */
/* Which view node stands for a session node. Without grouping, the ids are the same. With grouping
 * a session node has a view node below each group that it, or a node below it, has rows in. Where some
 * calling contexts are left out, all is one group if need be, and nodes that come to have one path are one. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/hash.h"
#include "base/util.h"
#include "core/metadata.h"
#include "core/snapshot_impl.h"

/* ---- nodes ---- */

enum { METADATA_UNKNOWN = 0, METADATA_NO, METADATA_YES };

/* The answer is kept by frame: there are far fewer frames than nodes. frame < n_metadata. */
static bool is_metadata(struct snapshot *snap, uint32_t frame)
{
	uint8_t *seen = &snap->metadata[frame];

	if (*seen == METADATA_UNKNOWN)
		*seen = !snap->spec.keep_metadata && metadata_is_frame(snap->s, frame)
				? METADATA_YES
				: METADATA_NO;
	return *seen == METADATA_YES;
}

static int metadata_room(struct snapshot *snap)
{
	size_t n = snap->s->n_frames;

	if (ARRAY_ROOM(snap->metadata, snap->cap_metadata, n + 1) < 0)
		return -ENOMEM;
	memset(snap->metadata + snap->n_metadata, METADATA_UNKNOWN, n - snap->n_metadata);
	snap->n_metadata = n;
	return 0;
}

static int view_grow(struct snapshot *snap, size_t n)
{
	if (ARRAY_ROOM(snap->view.nodes, snap->view.cap_nodes, n) < 0 ||
	    ARRAY_ROOM(snap->view.last_child, snap->view.cap_last, n) < 0 ||
	    ARRAY_ROOM(snap->view.parents, snap->view.cap_parents, n) < 0 ||
	    ARRAY_ROOM(snap->view.hidden, snap->view.cap_hidden, n) < 0)
		return -ENOMEM;
	snap->view.room = MIN(MIN(snap->view.cap_nodes, snap->view.cap_last),
			      MIN(snap->view.cap_parents, snap->view.cap_hidden));
	return 0;
}

static inline int view_room_for(struct snapshot *snap, size_t n)
{
	return _likely_(n <= snap->view.room) ? 0 : view_grow(snap, n);
}

int view_room(struct snapshot *snap, size_t n)
{
	return view_room_for(snap, n);
}

/* As the last child of its parent. */
static inline void view_link(struct snapshot *snap, struct snap_node *up, uint32_t id)
{
	uint32_t *last = &snap->view.last_child[up - snap->view.nodes];

	if (up->first_child == SNAP_NONE)
		up->first_child = id;
	else
		snap->view.nodes[*last].next_sibling = id;
	*last = id;
	up->n_children++;
}

/* The caller has made room with view_room_for(). A million nodes come at a time: each is written once. */
static inline uint32_t view_add(struct snapshot *snap, uint32_t parent, uint8_t kind,
				uint32_t session_node, bool metadata)
{
	uint32_t id = (uint32_t)snap->view.n++;
	struct snap_node *up = parent == SNAP_NONE ? NULL : &snap->view.nodes[parent];
	uint16_t depth = up ? (uint16_t)(up->depth + (up->depth < UINT16_MAX)) : 0;
	bool hidden = metadata || (up && up->hidden);

	metadata = metadata || (up && up->metadata);
	snap->view.nodes[id] = (struct snap_node){.parent = parent,
						  .first_child = SNAP_NONE,
						  .next_sibling = SNAP_NONE,
						  .session_node = session_node,
						  .depth = depth,
						  .kind = kind,
						  .hidden = hidden,
						  .metadata = metadata};
	snap->view.last_child[id] = SNAP_NONE;
	snap->view.parents[id] = parent;
	snap->view.hidden[id] = hidden;
	if (up)
		view_link(snap, up, id);
	snap->view.any_hidden |= hidden;
	snap->view.n_contexts += id && !metadata;
	snap->view.n_shown += id && !hidden;
	return id;
}

static inline uint32_t add_session_node(struct snapshot *snap, uint32_t parent, uint32_t node)
{
	uint32_t frame = snap->s->nodes[node].frame;

	return view_add(snap, parent, snap->s->frames[frame].kind, node, is_metadata(snap, frame));
}

/* Without grouping, ids and lines of kin are those of the session. */
static void copy_nodes(struct snapshot *snap)
{
	const struct session_node *from = snap->s->nodes;
	struct snap_node *to = snap->view.nodes;
	uint32_t n = (uint32_t)snap->n_picture_nodes, n_metadata = 0;

	for (uint32_t id = 0; id < n; id++) {
		uint32_t parent = from[id].parent;
		struct snap_node *up = parent == SESSION_NONE ? NULL : &to[parent];
		bool metadata = is_metadata(snap, from[id].frame) || (up && up->metadata);

		to[id] = (struct snap_node){
			.parent = parent,
			.first_child = from[id].first_child,
			.next_sibling = from[id].next_sibling,
			.session_node = id,
			.depth = up ? (uint16_t)(up->depth + (up->depth < UINT16_MAX)) : 0,
			.kind = snap->s->frames[from[id].frame].kind,
			.hidden = metadata,
			.metadata = metadata,
		};
		if (up)
			up->n_children++;
		snap->view.last_child[id] = from[id].last_child;
		snap->view.parents[id] = parent;
		snap->view.hidden[id] = metadata;
		n_metadata += id && metadata;
	}
	snap->view.n = snap->view.n_mapped = n;
	snap->view.any_hidden = n_metadata > 0;
	snap->view.n_contexts = snap->view.n_shown = n - MIN(n, 1u) - n_metadata;
}

/* Without grouping. */
static int map_nodes(struct snapshot *snap)
{
	if (view_room_for(snap, snap->n_picture_nodes) < 0)
		return -ENOMEM;
	if (snap->view.n == 0 && snap->n_picture_nodes == snap->s->n_nodes)
		copy_nodes(snap);
	for (; snap->view.n_mapped < snap->n_picture_nodes; snap->view.n_mapped++)
		add_session_node(snap, snap->s->nodes[snap->view.n_mapped].parent,
				 (uint32_t)snap->view.n_mapped);
	return 0;
}

/* ---- groups ---- */

uint64_t view_lane_key(const struct snapshot *snap, uint32_t lane, uint8_t *ret_kind)
{
	const struct session_lane *l = session_lane_at(snap->s, lane);
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
		key = hash_u64(hash_pair(l->process, l->device)) ^
		      hash_pair(l->stream == SESSION_NONE ? 0 : l->context, l->stream);
		break;
	default:
		*ret_kind = FRAME_THREAD;
		key = hash_u64(l->thread) ^ hash_pair(l->process, 0);
		break;
	}
	return key + 1 ? key + 1 : 1;
}

static bool group_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct snapshot *snap = ctx;

	return snap->view.groups[id].key == *(const uint64_t *)key;
}

/* Index of a new group, or SNAP_NONE. */
static uint32_t group_add(struct snapshot *snap, uint64_t key, uint8_t kind, uint32_t lane)
{
	uint32_t g = (uint32_t)snap->view.n_groups;

	if (ARRAY_ROOM(snap->view.groups, snap->view.cap_groups, g + 1u) < 0 ||
	    view_room_for(snap, snap->view.n + 1) < 0 ||
	    idindex_add(&snap->view.group_index, hash_u64(key), g) < 0)
		return SNAP_NONE;
	snap->view.groups[g] = (struct group_entry){.key = key, .lane = lane};
	snap->view.groups[g].node = view_add(snap, 0, kind, SESSION_NONE, false);
	snap->view.n_groups++;
	return g;
}

static uint32_t group_intern(struct snapshot *snap, uint32_t lane)
{
	uint8_t kind;
	uint64_t key = view_lane_key(snap, lane, &kind);
	uint32_t g = idindex_find(&snap->view.group_index, hash_u64(key), group_equal, snap, &key);

	return g == IDINDEX_NONE ? group_add(snap, key, kind, lane) : g;
}

/* Index of the group of a lane, or SNAP_NONE: out of memory. */
static uint32_t group_of(struct snapshot *snap, uint32_t lane)
{
	struct lane_group *known;

	if (snap->spec.group == GROUP_NONE)
		return 0;                       /* see map_whole() */
	if (lane >= snap->view.n_lane_groups) { /* the file names no lane */
		snap->view.nowhere = group_intern(snap, lane) + 1;
		return snap->view.nowhere - 1;
	}
	known = &snap->view.lane_groups[lane];
	if (!known->group || known->device != snap->s->lanes[lane].device) {
		known->device = snap->s->lanes[lane].device;
		known->group = group_intern(snap, lane) + 1;
	}
	return known->group - 1;
}

int view_lanes_room(struct snapshot *snap)
{
	size_t n = snap->s->n_lanes;

	if (ARRAY_ROOM(snap->view.lane_groups, snap->view.cap_lane_groups, n + 1) < 0)
		return -ENOMEM;
	memset(snap->view.lane_groups + snap->view.n_lane_groups, 0,
	       (n - snap->view.n_lane_groups) * sizeof(*snap->view.lane_groups));
	snap->view.n_lane_groups = n;
	return 0;
}

const struct group_entry *view_group_of(const struct snapshot *snap, uint32_t id)
{
	size_t low = 0; /* groups are in the order of their nodes */

	BISECT(low, snap->view.n_groups, middle, snap->view.groups[middle].node < id)
	return low < snap->view.n_groups && snap->view.groups[low].node == id
		       ? &snap->view.groups[low]
		       : NULL;
}

/* ---- nodes below groups ---- */

/* The map of a group, grown to all session nodes; NULL: the group has none, or out of memory. */
static uint32_t *group_map(struct snapshot *snap, uint32_t group)
{
	struct group_entry *g = &snap->view.groups[group];
	size_t n = snap->s->n_nodes;

	if (g->n >= n)
		return g->view;
	if (group >= GROUP_MAPS || ARRAY_ROOM(g->view, g->cap, n) < 0)
		return NULL;
	memset(g->view + g->n, 0xff, (n - g->n) * sizeof(*g->view));
	for (; g->n + 1 < snap->view.n_lowered; g->n++)
		g->view[g->n] = (uint32_t)g->n + 1;
	g->n = n;
	g->view[SESSION_ROOT] = g->node;
	return g->view;
}

static bool omits_any(const struct snapshot *snap)
{
	return snap->spec.contexts != CONTEXTS_ALL;
}

struct below {
	uint32_t parent, what;
};

/* What tells children apart: the session node; its frame, where several are one. */
static uint32_t below_what(const struct snapshot *snap, uint32_t node)
{
	return omits_any(snap) && node != SESSION_NONE ? snap->s->nodes[node].frame : node;
}

static bool below_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct snapshot *snap = ctx;
	const struct snap_node *n = &snap->view.nodes[id];
	const struct below *b = key;

	return n->parent == b->parent && below_what(snap, n->session_node) == b->what;
}

/* The child of a view node that stands for a session node, made when absent. */
static uint32_t find_below(struct snapshot *snap, uint32_t parent, uint32_t node)
{
	const struct below key = {parent, below_what(snap, node)};
	uint64_t hash = hash_pair(key.parent, key.what);
	uint32_t id = idindex_find(&snap->view.node_index, hash, below_equal, snap, &key);

	if (id != IDINDEX_NONE)
		return id;
	if (view_room_for(snap, snap->view.n + 1) < 0 ||
	    idindex_add(&snap->view.node_index, hash, (uint32_t)snap->view.n) < 0)
		return SNAP_NONE;
	return add_session_node(snap, parent, node);
}

/* From a session node up to one that the map knows (NULL: to the root), into snap->path. */
static int path_up(struct snapshot *snap, const uint32_t *map, uint32_t *node, size_t *ret_depth)
{
	size_t depth = 0;

	while (map ? map[*node] == SNAP_NONE : *node != SESSION_ROOT) {
		if (depth >= snap->cap_path &&
		    ARRAY_ROOM(snap->path, snap->cap_path, depth + 1) < 0)
			return -ENOMEM;
		snap->path[depth++] = *node;
		*node = omits_any(snap) ? context_view_above(snap->spec.contexts, snap->s, *node)
					: snap->s->nodes[*node].parent;
	}
	*ret_depth = depth;
	return 0;
}

/* View node of a session node below a group: its ancestors are made on the way. Without a map each
 * row costs a walk to the root. */
static uint32_t view_below(struct snapshot *snap, uint32_t group, uint32_t node)
{
	uint32_t *map = group_map(snap, group), of = node, at;
	size_t depth;

	if (map && map[node] != SNAP_NONE)
		return map[node];
	if (omits_any(snap))
		node = context_view_node(snap->spec.contexts, snap->s, node);
	if (path_up(snap, map, &node, &depth) < 0 || view_room_for(snap, snap->view.n + depth) < 0)
		return SNAP_NONE;
	at = map ? map[node] : snap->view.groups[group].node;
	while (depth && at != SNAP_NONE) {
		node = snap->path[--depth];
		if (map && !omits_any(snap))
			at = add_session_node(snap, at, node);
		else
			at = find_below(snap, at, node);
		if (map)
			map[node] = at;
	}
	if (map)
		map[of] = at;
	return at;
}

/* ---- rows ---- */

static bool ran_on_device(const struct snapshot *snap, uint32_t lane)
{
	return session_lane_at(snap->s, lane)->device != SESSION_NONE;
}

static bool by_device(const struct snapshot *snap)
{
	return snap->spec.group == GROUP_DEVICE || snap->spec.group == GROUP_STREAM;
}

/* Learn from new rows where work ran. Called only when there are loose rows to place. */
static int note_places(struct snapshot *snap)
{
	uint8_t kind;

	for (; snap->view.n_noted < snap->n_picture_rows; snap->view.n_noted++) {
		const struct session_row *r = &snap->s->rows[snap->view.n_noted];

		if (ran_on_device(snap, r->lane) &&
		    places_note(&snap->view.places, snap->s, r->node, r->lane,
				view_lane_key(snap, r->lane, &kind)) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A lane of the group in which a loose row is shown: a lane of the only place where work below its
 * node ran, else the row's own. */
static uint32_t shown_lane(const struct snapshot *snap, const struct session_row *r)
{
	uint32_t lane = places_only(&snap->view.places, r->node, snap->s->lanes[r->lane].process);

	return lane == SESSION_NONE ? r->lane : lane;
}

/* View node of a row below the group of a lane. */
static int map_row(struct snapshot *snap, size_t row, uint32_t lane)
{
	uint32_t group = group_of(snap, lane), node = SNAP_NONE;

	if (group != SNAP_NONE)
		node = view_below(snap, group, snap->s->rows[row].node);
	if (node == SNAP_NONE)
		return -ENOMEM;
	snap->view.row_node[row] = node;
	return 0;
}

static int map_loose(struct snapshot *snap, size_t row)
{
	const struct session_row *r = &snap->s->rows[row];
	uint32_t lane;

	if (note_places(snap) < 0 ||
	    ARRAY_ROOM(snap->view.loose, snap->view.cap_loose, snap->view.n_loose + 1) < 0)
		return -ENOMEM;
	lane = shown_lane(snap, r);
	if (map_row(snap, row, lane) < 0)
		return -ENOMEM;
	snap->view.loose[snap->view.n_loose++] = (struct loose){(uint32_t)row, lane};
	return 0;
}

static int map_grouped_row(struct snapshot *snap, size_t row)
{
	const struct session_row *r = &snap->s->rows[row];

	if (by_device(snap) && places_is_loose(snap->s, r))
		return map_loose(snap, row);
	return map_row(snap, row, r->lane);
}

/* Most rows come after one of the same lane, and below a node that has a view node. How many of those
 * from this one on were mapped: these need no look at the lane each. */
static size_t map_run(struct snapshot *snap, size_t row)
{
	const struct session_row *rows = snap->s->rows;
	uint32_t lane = rows[row].lane, group = group_of(snap, lane), *map = NULL;
	size_t i = row;

	if (group != SNAP_NONE && (!by_device(snap) || ran_on_device(snap, lane)))
		map = group_map(snap, group);
	for (; map && i < snap->n_picture_rows && rows[i].lane == lane; i++) {
		uint32_t node = rows[i].node, *id = &map[node];

		if (*id == SNAP_NONE) {
			uint32_t up = map[snap->s->nodes[node].parent];

			if (omits_any(snap) || up == SNAP_NONE ||
			    view_room_for(snap, snap->view.n + 1) < 0)
				break;
			*id = add_session_node(snap, up, node);
		}
		snap->view.row_node[i] = *id;
		tick_at(snap->tick, i, snap->n_picture_rows);
	}
	return i - row;
}

static int map_grouped_rows(struct snapshot *snap)
{
	while (snap->view.n_rows < snap->n_picture_rows) {
		size_t n = map_run(snap, snap->view.n_rows);

		if (n == 0 && map_grouped_row(snap, snap->view.n_rows) < 0)
			return -ENOMEM;
		snap->view.n_rows += MAX(n, (size_t)1);
		tick_at(snap->tick, snap->view.n_rows, snap->n_picture_rows);
	}
	return 0;
}

static int map_rows(struct snapshot *snap)
{
	if (ARRAY_ROOM(snap->view.row_node, snap->view.cap_rows, snap->n_picture_rows) < 0)
		return -ENOMEM;
	if (!view_is_plain(snap))
		return map_grouped_rows(snap);
	for (; snap->view.n_rows < snap->n_picture_rows; snap->view.n_rows++) {
		snap->view.row_node[snap->view.n_rows] = snap->s->rows[snap->view.n_rows].node;
		tick_at(snap->tick, snap->view.n_rows, snap->n_picture_rows);
	}
	return 0;
}

/* New work may have run on a first device below a scope, or on a second: its loose rows move. */
static int move_loose_rows(struct snapshot *snap)
{
	bool moved = false;

	if (snap->view.n_loose && note_places(snap) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < snap->view.n_loose; i++) {
		struct loose *l = &snap->view.loose[i];
		uint32_t lane = shown_lane(snap, &snap->s->rows[l->row]);

		if (lane == l->lane)
			continue;
		if (map_row(snap, l->row, lane) < 0)
			return -ENOMEM;
		l->lane = lane;
		moved = true;
	}
	if (moved) /* values that moved to another group must not show as a rate */
		columns_restart(snap, false);
	return 0;
}

/* ---- the same groups by another name ---- */

/* May another grouping find a row below another group than its lane's? */
static bool may_be_loose(const struct snapshot *snap, enum group group)
{
	if (snap->view.n_loose)
		return true;
	if (by_device(snap) || (group != GROUP_DEVICE && group != GROUP_STREAM))
		return false;
	for (uint32_t i = 0; i < snap->view.n_lane_groups; i++)
		if (snap->view.lane_groups[i].group && !ran_on_device(snap, i))
			return true;
	return false;
}

static bool has_key(const struct snapshot *snap, uint32_t group, uint32_t lane)
{
	uint8_t kind;

	return view_lane_key(snap, lane, &kind) == snap->view.groups[group].key;
}

/* Have all lanes of a group the group's key? */
static bool lanes_agree(const struct snapshot *snap)
{
	for (uint32_t i = 0; i < snap->view.n_lane_groups; i++)
		if (snap->view.lane_groups[i].group &&
		    !has_key(snap, snap->view.lane_groups[i].group - 1, i))
			return false;
	return !snap->view.nowhere || has_key(snap, snap->view.nowhere - 1, SESSION_NONE);
}

/* Give each group its key in the grouping that the snapshot has now. False: two have the same one. */
static bool rekey(struct snapshot *snap)
{
	idindex_done(&snap->view.group_index);
	for (uint32_t g = 0; g < snap->view.n_groups; g++) {
		struct group_entry *e = &snap->view.groups[g];
		uint8_t kind;
		uint64_t key = view_lane_key(snap, e->lane, &kind);

		if (idindex_find(&snap->view.group_index, hash_u64(key), group_equal, snap, &key) !=
			    IDINDEX_NONE ||
		    idindex_add(&snap->view.group_index, hash_u64(key), g) < 0)
			return false;
		e->key = key;
		snap->view.nodes[e->node].kind = kind;
	}
	return true;
}

bool view_rename(struct snapshot *snap, enum group group)
{
	enum group before = snap->spec.group;

	if (snap->spec.group == GROUP_NONE || group == GROUP_NONE || snap->view.masked ||
	    snap->view.lanes_moved != snap->s->lanes_moved || may_be_loose(snap, group))
		return false;
	snap->spec.group = group;
	if (rekey(snap) && lanes_agree(snap))
		return true;
	snap->spec.group = before;
	if (!rekey(snap))
		view_clear(snap);
	return false;
}

/* ---- the view before ---- */

void view_mask(struct snapshot *snap, const uint8_t *mask)
{
	uint32_t n_hidden = 0;

	for (size_t i = 0; i < snap->view.n; i++) {
		bool hidden = snap->view.nodes[i].metadata || (mask && !mask[i]);

		n_hidden += hidden;
		snap->view.nodes[i].hidden = hidden;
		snap->view.hidden[i] = hidden;
	}
	snap->view.masked = mask != NULL;
	snap->view.any_hidden = n_hidden > 0;
	snap->view.n_shown =
		(uint32_t)snap->view.n - n_hidden - (snap->view.n && !snap->view.hidden[0]);
	snap->generation++;
	columns_stale(snap);
}

void view_swap(struct snapshot *snap)
{
	struct snapshot_view v = snap->view;

	v.group = snap->spec.group;
	v.contexts = snap->spec.contexts;
	v.picture = snap->picture;
	snap->view = snap->parked;
	snap->parked = v;
	snap->spec.group = snap->view.group;
	snap->spec.contexts = snap->view.contexts;
}

/* ---- all of it ---- */

static int map_root(struct snapshot *snap)
{
	if (snap->view.n)
		return 0;
	if (view_room_for(snap, snap->n_picture_nodes + 1) < 0)
		return -ENOMEM;
	view_add(snap, SNAP_NONE, FRAME_ROOT, SESSION_ROOT, false);
	return 0;
}

/* One group of all, which is the root. Contexts without values are shown, too, as they are where none are
 * left out. */
static int map_whole(struct snapshot *snap)
{
	const enum context_view view = snap->spec.contexts;

	if (!snap->view.n_groups) {
		if (ARRAY_ROOM(snap->view.groups, snap->view.cap_groups, 1) < 0)
			return -ENOMEM;
		snap->view.groups[snap->view.n_groups++] =
			(struct group_entry){.lane = SESSION_NONE};
	}
	for (; snap->view.n_mapped < snap->n_picture_nodes; snap->view.n_mapped++) {
		uint32_t node = (uint32_t)snap->view.n_mapped;
		unsigned kind = session_node_kind(snap->s, node);

		if (context_view_omits(view, kind) || context_view_may_be_empty(view, kind))
			continue;
		if (view_below(snap, 0, node) == SNAP_NONE)
			return -ENOMEM;
		tick_at(snap->tick, snap->view.n_mapped, snap->n_picture_nodes);
	}
	return 0;
}

static int map_groups(struct snapshot *snap)
{
	int r = map_root(snap);

	if (r == 0 && snap->spec.group == GROUP_NONE)
		return map_whole(snap);
	if (r == 0)
		r = view_lanes_room(snap);
	return r < 0 ? r : move_loose_rows(snap);
}

/* Of a session node below the group that a view node is in; SNAP_NONE: there is none, or it is not known. */
static uint32_t view_in_group_of(const struct snapshot *snap, uint32_t id, uint32_t node)
{
	const struct group_entry *g = snap->view.groups;

	if (snap->spec.group != GROUP_NONE) {
		while (id && snap->view.nodes[id].depth > 1)
			id = snap->view.nodes[id].parent;
		g = view_group_of(snap, id);
	}
	return g && node < g->n ? g->view[node] : SNAP_NONE;
}

bool snapshot_stands_for(const struct snapshot *snap, uint32_t id, uint32_t node)
{
	uint32_t first = snap->view.nodes[id].session_node;

	if (first == node || first == SESSION_NONE || !omits_any(snap))
		return first == node;
	return snap->s->nodes[first].frame == snap->s->nodes[node].frame &&
	       view_in_group_of(snap, id, node) == id;
}

int view_map(struct snapshot *snap)
{
	int r;

	if (metadata_room(snap) < 0)
		return -ENOMEM;
	r = view_is_plain(snap) ? map_nodes(snap) : map_groups(snap);
	return r < 0 ? r : map_rows(snap);
}

void view_forget_groups(struct snapshot *snap)
{
	for (size_t g = 0; g < snap->view.n_groups; g++)
		free(snap->view.groups[g].view);
	idindex_done(&snap->view.group_index);
	idindex_done(&snap->view.node_index);
	places_done(&snap->view.places);
	snap->view.n_groups = snap->view.n_lane_groups = 0;
	snap->view.nowhere = 0;
	snap->view.n_loose = snap->view.n_noted = 0;
	snap->view.n_lowered = 0;
}

void view_clear(struct snapshot *snap)
{
	view_forget_groups(snap);
	snap->view.n = snap->view.n_rows = snap->view.n_mapped = 0;
	snap->view.any_hidden = snap->view.masked = false;
	snap->view.n_contexts = snap->view.n_shown = 0;
	snap->view.lanes_moved = snap->s->lanes_moved;
}

static void view_free(struct snapshot *snap)
{
	view_clear(snap);
	columns_drop(snap);
	free(snap->view.nodes);
	free(snap->view.last_child);
	free(snap->view.parents);
	free(snap->view.hidden);
	free(snap->view.row_node);
	free(snap->view.groups);
	free(snap->view.lane_groups);
	free(snap->view.loose);
}

void view_done(struct snapshot *snap)
{
	view_free(snap);
	view_swap(snap);
	view_free(snap);
	free(snap->metadata);
	free(snap->path);
}
