/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SNAPSHOT_IMPL_H
#define PROTON_CORE_SNAPSHOT_IMPL_H
/* What the files of a snapshot share, and nobody else.
 *
 *   snapshot.c          the picture: taking one, counting from one, taking nodes out
 *   snapshot_view.c     which node a session node is, below which group
 *   snapshot_turn.c     another grouping of the tree that is there
 *   snapshot_columns.c  a metric over all nodes: own, rolled up, per second
 *   snapshot_names.c    names as they are shown */
#include "core/places.h"
#include "core/snapshot.h"

/* The numbers of one metric over all nodes, and what is needed to subtract and to differentiate. */
struct column_state {
	uint32_t metric;
	bool inclusive;
	bool fresh;  /* computed since the last update */
	double *raw; /* as measured: in `room`, behind a place for one more node (snapshot_turn.c) */
	double *room;
	double *before; /* own values in the picture before this one, of all its n_before nodes */
	double *rate;
	size_t cap_room, cap_rate, cap_before, n_before;
	bool has_before, rate_wanted, rate_fresh;
	double total; /* the root's value without a mask, of this picture */
	bool has_total;
	struct snap_column out, rate_out;
};

/* A group and its view node. The view nodes below it, by session node, are kept for the first
 * groups only: it is memory for all nodes. */
#define GROUP_MAPS 16
struct group_entry {
	uint64_t key;
	uint32_t node, lane; /* a lane of it, for its name */
	uint32_t *view;      /* SNAP_NONE: not made yet */
	size_t n, cap;
};

/* The group of a lane, and the device it was found with: a lane's device may become known late. */
struct lane_group {
	uint32_t group, device; /* index of a group + 1; 0: not looked at */
};

/* A tree and what was computed over it. */
struct snapshot_view {
	enum group group;
	enum context_view contexts;
	uint64_t picture; /* of the snapshot, of which the columns are */
	struct snap_node *nodes;
	uint32_t *last_child, *parents;
	uint8_t *hidden;
	size_t n, cap_nodes, cap_last, cap_parents, cap_hidden;
	size_t room;         /* for nodes, in all of them */
	uint32_t n_contexts; /* nodes but the root and launch metadata */
	uint32_t n_shown;    /* those of them that are not hidden */
	bool any_hidden, masked;
	uint32_t *row_node; /* view node of each session row */
	size_t n_rows, cap_rows;
	struct group_entry *groups;
	size_t n_groups, cap_groups;
	struct idindex group_index, node_index; /* by key; of nodes below groups without a map */
	struct lane_group *lane_groups;
	size_t n_lane_groups, cap_lane_groups;
	uint32_t nowhere;     /* index + 1 of the group of rows without a lane; 0: there are none */
	uint32_t lanes_moved; /* of the session, when the groups were made */
	struct places places; /* by device or stream: where the work below a session node ran */
	struct loose {
		uint32_t row, lane;         /* lane: whose group the row is in now */
	} * loose;                          /* rows with metrics that a program gave a scope */
	size_t n_loose, cap_loose, n_noted; /* n_noted: rows that are in `places` */
	size_t n_mapped;                    /* session nodes that have a view node (no grouping) */
	size_t n_lowered; /* nodes, if all are those of the session but one, the group's; else 0 */
	struct column_state **columns;
	size_t n_columns, cap_columns;
};

struct snapshot {
	const struct session *s;
	struct snapshot_spec spec;
	const struct tick *tick; /* NULL: no progress is reported */
	uint64_t generation;     /* grows with all that changes a number or what is shown */

	/* Who arranges it again goes back and forth: from then on the view before is kept. */
	struct snapshot_view view, parked; /* parked.n is 0: there is none */
	bool rearranged;
	uint8_t *metadata; /* by frame: not looked at, no, yes */
	size_t n_metadata, cap_metadata;
	uint32_t *path; /* scratch */
	size_t cap_path;

	/* The picture. */
	uint64_t picture; /* grows with each, with what it counts from, and with what is hidden */
	size_t n_picture_nodes, n_picture_rows; /* of the session when it was taken */
	union metric_value *values;             /* NULL: the session has ended and stands still */
	uint8_t *present;
	union metric_value *base; /* values at the last reset: the same for any grouping */
	uint8_t *base_present;
	size_t n_base;
	size_t cap_values, cap_present;
	uint64_t updated_ns, window_ns;

	/* Columns. */
	bool *used; /* by metric: is it in a set? At the end: does a row have it? */
	size_t n_used, cap_used, n_used_sets;
	bool used_at_end;
	double *absent; /* the values of all metrics that are not used */
	size_t n_absent, cap_absent;
	struct snap_column absent_out;
	uint8_t *holders; /* by node */
	size_t cap_holders;
	uint64_t holders_generation; /* of the snapshot; 0: there are none */
	uint8_t *parted;             /* by node: is work below it hidden? */
	size_t cap_parted;
	uint64_t parted_generation; /* of the snapshot; 0: it is not known */

	/* Names. */
	struct frame_names *frame_names;
	struct strtab *group_names;
};

static inline bool view_is_plain(const struct snapshot *snap)
{
	return snap->spec.group == GROUP_NONE && snap->spec.contexts == CONTEXTS_ALL;
}

static inline const union metric_value *picture_values(const struct snapshot *snap)
{
	return snap->values ? snap->values : snap->s->values;
}

static inline const uint8_t *picture_present(const struct snapshot *snap)
{
	return snap->present ? snap->present : snap->s->present;
}

/* snapshot_view.c: 0 or -ENOMEM. */
int view_map(struct snapshot *snap); /* the nodes and rows that have come with this picture */
/* Do these groups part the rows as those of the present view do? Then it is theirs. */
bool view_rename(struct snapshot *snap, enum group group);
/* The view before in the place of this one, which is kept in its stead. */
void view_swap(struct snapshot *snap);
void view_mask(struct snapshot *snap, const uint8_t *mask);
void view_clear(struct snapshot *snap); /* of another grouping: ids start anew */
void view_done(struct snapshot *snap);
int view_room(struct snapshot *snap, size_t n); /* for so many nodes */
/* Which group a lane belongs to: a key that is never 0, and the frame kind of its node. */
uint64_t view_lane_key(const struct snapshot *snap, uint32_t lane, uint8_t *ret_kind);
int view_lanes_room(struct snapshot *snap);
void view_forget_groups(struct snapshot *snap);
const struct group_entry *view_group_of(const struct snapshot *snap, uint32_t id);

/* snapshot_turn.c */
/* Do these groups part the rows as those of the present view do, or is one of both a single group and the
 * other none? Then it is theirs. */
bool view_turn(struct snapshot *snap, enum group group);
/* Take the view before in the place of this one, which is kept in its stead. Is it of these groups?
 * It lacks what has come since. False: clear it. */
bool view_recall(struct snapshot *snap, enum group group, enum context_view contexts);

/* snapshot_columns.c */
bool metric_used(struct snapshot *snap, uint32_t metric);
int columns_init(struct snapshot *snap);
void columns_stale(struct snapshot *snap); /* to be computed again */
/* What was computed, and what rates are made of, counts from elsewhere now. */
void columns_restart(struct snapshot *snap, bool has_before);
void columns_age(struct snapshot *snap); /* what was shown becomes "before" */
/* Those of a view that was recalled: nothing is before, and they may be of another picture. */
void columns_recall(struct snapshot *snap);
/* There is one node more in front of all but the root, and no longer. Nothing is before. */
void columns_lower(struct snapshot *snap);
void columns_raise(struct snapshot *snap);
void columns_drop(struct snapshot *snap); /* those of the view */
void columns_done(struct snapshot *snap);

/* snapshot_names.c */
int names_init(struct snapshot *snap); /* 0 or -ENOMEM */
void names_done(struct snapshot *snap);

#endif
