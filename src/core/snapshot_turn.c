/* SPDX-License-Identifier: MIT */
/* Another grouping without another tree. Where all work is of one group, its tree is the one without groups and one
 * node more, below the root. So it need not be made: what is there moves one id up, in place, columns too,
 * and down again. A million nodes that nobody has touched yet, and two columns over them, would take twice as long
 * or more. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "base/util.h"
#include "core/snapshot_impl.h"

/* The view node of the group. What is not the root is one above its session node. */
#define GROUP_NODE 1u

/* SNAP_NONE stays what it is. */
static inline uint32_t up_by_one(uint32_t id)
{
	return id + (id != SNAP_NONE);
}

static inline uint32_t down_by_one(uint32_t id)
{
	return id - (id != SNAP_NONE);
}

/* ---- when ---- */

/* Do the nodes get their numbers below a group in the order that they have? A row makes what is above
 * its node and not there yet; what no row is below is not shown. */
static bool come_in_order(const struct session *s)
{
	uint32_t next = SESSION_ROOT + 1;

	for (size_t i = 0; i < s->n_rows; i++) {
		uint32_t node = s->rows[i].node;

		if (s->rows[i].lane >= s->n_lanes) /* the file names no lane: a group of its own */
			return false;
		if (node < next)
			continue;
		for (; next < node; next++)
			if (s->nodes[next + 1].parent != next)
				return false;
		next++;
	}
	return next == s->n_nodes;
}

/* Are all lanes of one group? Then its key, and the kind of its node. */
static bool lanes_are_one(const struct snapshot *snap, uint64_t *ret_key, uint8_t *ret_kind)
{
	uint32_t n = (uint32_t)snap->s->n_lanes;

	if (!n || !snap->s->n_rows)
		return false;
	*ret_key = view_lane_key(snap, 0, ret_kind);
	for (uint32_t i = 1; i < n; i++)
		if (view_lane_key(snap, i, ret_kind) != *ret_key)
			return false;
	return true;
}

/* What may grow is not moved: new nodes are found by the way in which the others were made. */
static bool stands_still(const struct snapshot *snap)
{
	return snap->s->ended && !snap->view.masked && snap->view.n_rows == snap->s->n_rows &&
	       snap->n_picture_rows == snap->s->n_rows && snap->n_picture_nodes == snap->s->n_nodes;
}

/* ---- down to below a group, and up again ---- */

/* Field by field: written in parts and then moved as a whole, a node waits for its parts (twice the time). */
static inline void move_node(struct snap_node *to, const struct snap_node *from)
{
	to->session_node = from->session_node;
	to->kind = from->kind;
	to->hidden = from->hidden;
	to->metadata = from->metadata;
	to->n_children = from->n_children;
}

static void lower_nodes(struct snapshot *snap)
{
	struct snap_node *nodes = snap->view.nodes;

	for (size_t i = snap->view.n; i-- > 1;) {
		const struct snap_node *from = &nodes[i];
		struct snap_node *to = &nodes[i + 1];

		move_node(to, from);
		to->parent = from->parent + 1;
		to->first_child = up_by_one(from->first_child);
		to->next_sibling = up_by_one(from->next_sibling);
		to->depth = (uint16_t)(from->depth + (from->depth < UINT16_MAX));
	}
}

static inline uint16_t depth_below(const struct snap_node *up)
{
	return (uint16_t)(up->depth + (up->depth < UINT16_MAX));
}

static void raise_nodes(struct snapshot *snap)
{
	struct snap_node *nodes = snap->view.nodes;

	for (size_t i = 1; i + 1 < snap->view.n; i++) {
		const struct snap_node *from = &nodes[i + 1];
		struct snap_node *to = &nodes[i];
		uint16_t depth = from->depth;

		move_node(to, from);
		to->parent = from->parent - 1;
		to->first_child = down_by_one(from->first_child);
		to->next_sibling = down_by_one(from->next_sibling);
		to->depth = depth < UINT16_MAX ? (uint16_t)(depth - 1)
					       : depth_below(&nodes[to->parent]);
	}
}

static void lower_arrays(struct snapshot *snap)
{
	struct snapshot_view *v = &snap->view;

	for (size_t i = v->n; i-- > 1;)
		v->parents[i + 1] = v->parents[i] + 1;
	for (size_t i = v->n; i-- > 0;)
		v->last_child[i + 1] = up_by_one(v->last_child[i]);
	memmove(v->hidden + 1, v->hidden, v->n * sizeof(*v->hidden));
	for (size_t i = 0; i < v->n_rows; i++)
		v->row_node[i]++;
}

static void raise_arrays(struct snapshot *snap)
{
	struct snapshot_view *v = &snap->view;

	for (size_t i = 1; i + 1 < v->n; i++)
		v->parents[i] = v->parents[i + 1] - 1;
	for (size_t i = 0; i + 1 < v->n; i++)
		v->last_child[i] = down_by_one(v->last_child[i + 1]);
	memmove(v->hidden, v->hidden + 1, (v->n - 1) * sizeof(*v->hidden));
	for (size_t i = 0; i < v->n_rows; i++)
		v->row_node[i]--;
}

/* The root and its only child. */
static void put_group(struct snapshot *snap, uint8_t kind)
{
	struct snapshot_view *v = &snap->view;
	struct snap_node *root = &v->nodes[SESSION_ROOT], *group = &v->nodes[GROUP_NODE];

	*group = *root;
	group->parent = SESSION_ROOT;
	group->first_child = up_by_one(root->first_child);
	group->session_node = SESSION_NONE;
	group->kind = kind;
	group->depth = 1;
	root->first_child = GROUP_NODE;
	root->n_children = 1;
	v->parents[GROUP_NODE] = SESSION_ROOT;
	v->last_child[SESSION_ROOT] = GROUP_NODE;
	v->hidden[SESSION_ROOT] = false;
}

static void take_group(struct snapshot *snap)
{
	struct snap_node *root = &snap->view.nodes[SESSION_ROOT];
	const struct snap_node *group = &snap->view.nodes[GROUP_NODE];

	root->first_child = down_by_one(group->first_child);
	root->n_children = group->n_children;
}

/* The only group, of all lanes. 0 or -ENOMEM. */
static int name_group(struct snapshot *snap, uint64_t key)
{
	struct snapshot_view *v = &snap->view;

	if (view_lanes_room(snap) < 0 || ARRAY_ROOM(v->groups, v->cap_groups, 1) < 0 ||
	    idindex_add(&v->group_index, hash_u64(key), 0) < 0)
		return -ENOMEM;
	v->groups[0] =
		(struct group_entry){.key = key, .node = GROUP_NODE, .lane = snap->s->rows[0].lane};
	v->n_groups = 1;
	for (size_t i = 0; i < v->n_lane_groups; i++)
		v->lane_groups[i] = (struct lane_group){1, snap->s->lanes[i].device};
	return 0;
}

/* The plain tree below a group that has all of it: spec.group is that already. */
static bool view_lower(struct snapshot *snap)
{
	uint64_t key;
	uint8_t kind;

	if (!stands_still(snap) || snap->view.n_groups || !lanes_are_one(snap, &key, &kind) ||
	    !come_in_order(snap->s) || view_room(snap, snap->view.n + 1) < 0 ||
	    name_group(snap, key) < 0)
		return false;
	lower_nodes(snap);
	lower_arrays(snap);
	put_group(snap, kind);
	snap->view.n++;
	snap->view.n_contexts++;
	snap->view.n_shown++;
	snap->view.n_lowered = snap->view.n;
	columns_lower(snap);
	return true;
}

static bool view_raise(struct snapshot *snap)
{
	if (!stands_still(snap) || !snap->view.n_lowered || snap->view.n_lowered != snap->view.n)
		return false;
	take_group(snap);
	raise_nodes(snap);
	raise_arrays(snap);
	view_forget_groups(snap);
	snap->view.n--;
	snap->view.n_contexts--;
	snap->view.n_shown--;
	snap->view.n_mapped = snap->view.n;
	columns_raise(snap);
	return true;
}

/* ---- whichever way is open ---- */

bool view_turn(struct snapshot *snap, enum group group)
{
	enum group before = snap->spec.group;

	if (snap->spec.contexts != CONTEXTS_ALL || (before == GROUP_NONE) == (group == GROUP_NONE))
		return view_rename(snap, group);
	snap->spec.group = group;
	if (before == GROUP_NONE ? view_lower(snap) : view_raise(snap))
		return true;
	snap->spec.group = before;
	return false;
}

bool view_recall(struct snapshot *snap, enum group group, enum context_view contexts)
{
	view_swap(snap);
	if (!snap->view.n || snap->spec.contexts != contexts ||
	    snap->view.lanes_moved != snap->s->lanes_moved)
		return false;
	if (snap->view.masked)
		view_mask(snap, NULL);
	return snap->spec.group == group || view_turn(snap, group);
}
