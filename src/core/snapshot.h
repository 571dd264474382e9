/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SNAPSHOT_H
#define PROTON_CORE_SNAPSHOT_H
/* What a person looks at: a tree folded from a session, with columns of values.
 *
 *   session (raw, grows) ── snapshot_update() ──> view nodes + columns (stand still until the next)
 *
 * View nodes have stable ids: an id names the same path for the life of the snapshot object, so a
 * panel may keep fold state, cursor and sort by id. Ids are dense; new ones come at the end; a
 * parent's id is always smaller than its children's. Node 0 is the root.
 * Not updating it is "freeze". The session never knows that it is being looked at.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/context_view.h"
#include "core/frame_names.h"
#include "core/tick.h"
#include "core/session.h"

#define SNAP_NONE UINT32_MAX

enum group { /* what stands between the root and the tree */
	     GROUP_NONE = 0,
	     GROUP_PROCESS,
	     GROUP_DEVICE,
	     GROUP_STREAM,
	     GROUP_THREAD,
	     GROUP_N
};
const char *group_word(enum group group); /* "none", "process" … */

struct snapshot_spec {
	enum group group;
	enum context_view contexts; /* which are shown; the rest passes its values up */
	bool keep_metadata; /* show "__proton_launch_metadata" subtrees (hidden otherwise) */
	const struct naming *naming; /* NULL: names stay raw */
	bool all_forms; /* any form of a name is searched: not all that is shown is in here */
};

struct snap_node {
	uint32_t parent, first_child,
		next_sibling; /* SNAP_NONE ends; children in order of arrival */
	uint32_t
		session_node; /* SESSION_NONE for a group node; one of several, see snapshot_stands_for() */
	uint16_t depth;  /* root 0; saturates */
	uint8_t kind;    /* enum frame_kind */
	bool hidden : 1; /* launch metadata, or taken out by snapshot_mask() */
	bool metadata : 1;
	uint32_t n_children;
};

/* One metric over all nodes. v is NaN where absent. Text metrics: v is the string id. */
struct snap_column {
	const double *v;
};

struct snapshot;

/* With a first picture of the session. NULL: out of memory. */
struct snapshot *snapshot_new(const struct session *s, const struct snapshot_spec *spec);
struct snapshot *snapshot_free(struct snapshot *snap);

/* Take a new picture. now_ns (CLOCK_MONOTONIC) is the end of the window that began with the
 * previous call. 0 or -ENOMEM (the old picture stays). Columns are computed on first use. */
int snapshot_update(struct snapshot *snap, uint64_t now_ns);
/* From now on cumulative columns count from the present values ("reset"); again = true undoes. */
void snapshot_reset(struct snapshot *snap, bool undo);
bool snapshot_is_reset(const struct snapshot *snap);
/* Take nodes out of the picture: they are hidden and do not count, in columns and tables alike.
 * mask: a byte a node, 0 = out; what is below one must be out too. NULL: all are back. Nodes of
 * later pictures are as their parents are until the next call. */
void snapshot_mask(struct snapshot *snap, const uint8_t *mask);
/* Change the grouping: ids start anew (a panel drops its fold state). Groups that hold the same nodes as
 * those before, such as of one process on one device, cost nothing: the tree below them is kept. So is
 * the tree before this one, once somebody has grouped twice. One group of all is a node more in the tree
 * that is there. */
int snapshot_regroup(struct snapshot *snap, enum group group);
/* Show other calling contexts: ids start anew, as above. 0 or -ENOMEM. */
int snapshot_show_contexts(struct snapshot *snap, enum context_view view);
enum context_view snapshot_contexts(const struct snapshot *snap);
/* Neither groups nor contexts left out: ids are those of the session's nodes. */
bool snapshot_is_plain(const struct snapshot *snap);
/* Does a view node stand for this session node? Where contexts are left out, it may stand for several of one
 * frame. With more than 16 groups only the first one of these is known. */
bool snapshot_stands_for(const struct snapshot *snap, uint32_t id, uint32_t session_node);
/* Since the grouping was made, has a process learned that it uses another device? If so, the caller
 * should group anew. */
bool snapshot_is_outdated(const struct snapshot *snap);

/* Grows with each call above. While it is the same, what was computed still holds. */
uint64_t snapshot_generation(const struct snapshot *snap);

/* Whom to tell the progress of long work on the snapshot; borrowed, NULL: nobody. */
void snapshot_set_tick(struct snapshot *snap, const struct tick *tick);
const struct tick *snapshot_tick(const struct snapshot *snap);

uint32_t snapshot_n(const struct snapshot *snap);
/* How many nodes are neither the root nor launch metadata, and how many of these are not hidden. */
uint32_t snapshot_n_contexts(const struct snapshot *snap);
uint32_t snapshot_n_shown(const struct snapshot *snap);
const struct snap_node *snapshot_node(const struct snapshot *snap, uint32_t id);
/* All nodes by id, for loops over a million; valid until the next update or regrouping. */
const struct snap_node *snapshot_nodes(const struct snapshot *snap);
/* Copies of two fields of the nodes: a loop that needs only these reads a fifth of the memory. */
const uint32_t *snapshot_parents(const struct snapshot *snap);
const uint8_t *snapshot_hidden(const struct snapshot *snap);
/* The view node that a row of the session counts for; SNAP_NONE: the row is newer. */
uint32_t snapshot_row_node(const struct snapshot *snap, size_t row);
const struct session *snapshot_session(const struct snapshot *snap);
enum group snapshot_group(const struct snapshot *snap);
/* Name as shown in this mode; lives as long as the snapshot. A short one may become longer when a frame
 * comes whose name is like it (core/frame_names.h). */
const char *snapshot_name(struct snapshot *snap, uint32_t id, enum name_mode mode);
/* Does any name of a node pass a test: raw, demangled or short? Names that are alike are tested once. */
bool snapshot_any_name(struct snapshot *snap, uint32_t id,
		       bool (*test)(const char *name, const void *ctx), const void *ctx);
/* Where any form is searched: is a text the short name that a node could have beside others? */
bool snapshot_could_be(const struct snapshot *snap, uint32_t id, const char *text);

/* Is any function there in several forms: as a symbol, and as the signature that this stands for? */
bool snapshot_has_forms(const struct snapshot *snap);
/* The frame that stands for all forms of a frame's function: itself, where there is no other. */
uint32_t snapshot_function(const struct snapshot *snap, uint32_t frame);

/* Has any row a value of the metric? While the session still grows: or a place for one? */
bool snapshot_has(struct snapshot *snap, uint32_t metric);
/* Exclusive or inclusive column of a session metric; NULL: out of memory or no such metric.
 * Valid until the next update. Inclusive of an exclusive or property metric is its exclusive. */
const struct snap_column *snapshot_column(struct snapshot *snap, uint32_t metric, bool inclusive);
/* By node: is work below it hidden, which what a program says of a scope is of, too (core/parted.h)?
 * NULL: none is, or out of memory. Valid until the next change of the picture. */
const uint8_t *snapshot_parted(struct snapshot *snap);
/* Marks, 1 a node. Below groups a context may be in several branches, as a scope whose bytes came from the
 * host, and whose work ran on two streams: it is the same context there. Above: to all above those that are
 * marked, and not themselves; below: to all below them, too. 0 or -ENOMEM. */
int snapshot_mark_above(struct snapshot *snap, uint8_t *marks);
int snapshot_mark_below(struct snapshot *snap, uint8_t *marks);
/* By node, hidden ones too: its own value of a metric that adds up, NaN where it has none; of
 * METRIC_CPU_TIME what scopes and waits within leave of it. 0 or -ENOMEM. */
int snapshot_own(struct snapshot *snap, uint32_t metric, double *own);
/* The sum of these over all nodes, hidden or not, but launch metadata. NaN: there is no value, or no
 * memory to know. */
double snapshot_total(struct snapshot *snap, uint32_t metric);
/* By node: the time on the host that scopes and waits within leave of the elapsed time that was
 * measured. These count as within when they are hidden, too. NaN: none was measured, or the node is
 * hidden. 0 or -ENOMEM. */
int snapshot_own_time(struct snapshot *snap, double *own);
/* Is a node where it is by a guess, in part at least: by the context of a launch before (--budget)? Scopes
 * never are. */
bool snapshot_is_guessed(struct snapshot *snap, uint32_t id);
/* Does it stand below what is estimated (core/graph_shares.h)? */
bool snapshot_is_estimated(struct snapshot *snap, uint32_t id);
/* Increase of the inclusive column in the last window, per second; NaN where it never existed. */
const struct snap_column *snapshot_rate(struct snapshot *snap, uint32_t metric);
uint64_t snapshot_window_ns(const struct snapshot *snap);

/* By node: is it shown, and has the node itself a value that adds up? Valid until the next update;
 * NULL: out of memory. */
const uint8_t *snapshot_holders(struct snapshot *snap);

#endif
