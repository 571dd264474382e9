/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "core/snapshot_impl.h"

static const char *const group_words[GROUP_N] = {"none", "process", "device", "stream", "thread"};

const char *group_word(enum group group)
{
	return group < GROUP_N ? group_words[group] : group_words[GROUP_NONE];
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
	if (ARRAY_ROOM(snap->values, snap->cap_values, s->n_values + 1) < 0 ||
	    ARRAY_ROOM(snap->present, snap->cap_present, s->n_values + 1) < 0)
		return -ENOMEM;
	if (s->n_values) {
		memcpy(snap->values, s->values, s->n_values * sizeof(*s->values));
		memcpy(snap->present, s->present, s->n_values);
	}
	return 0;
}

/* Take a picture of what the session holds now. Values first: each mapped row must have them. */
static int picture_take(struct snapshot *snap)
{
	if (copy_values(snap) < 0)
		return -ENOMEM;
	snap->n_picture_nodes = snap->s->n_nodes;
	snap->n_picture_rows = snap->s->n_rows;
	return view_map(snap);
}

struct snapshot *snapshot_new(const struct session *s, const struct snapshot_spec *spec)
{
	struct snapshot *snap = calloc(1, sizeof(*snap));

	if (!snap)
		return NULL;
	snap->s = s;
	snap->spec = *spec;
	snap->generation = 1;
	snap->view.lanes_moved = s->lanes_moved;
	if (names_init(snap) < 0 || picture_take(snap) < 0)
		return snapshot_free(snap);
	return columns_init(snap) < 0 ? snapshot_free(snap) : snap;
}

struct snapshot *snapshot_free(struct snapshot *snap)
{
	if (!snap)
		return NULL;
	columns_done(snap);
	names_done(snap);
	view_done(snap);
	free(snap->values);
	free(snap->present);
	free(snap->base);
	free(snap->base_present);
	free(snap);
	return NULL;
}

int snapshot_update(struct snapshot *snap, uint64_t now_ns)
{
	int r;

	snap->generation++;
	snap->picture++;
	if (snap->updated_ns)
		columns_age(snap);
	else
		columns_restart(snap, false);
	r = picture_take(snap);
	if (r < 0)
		return r;
	snap->window_ns =
		snap->updated_ns && now_ns > snap->updated_ns ? now_ns - snap->updated_ns : 0;
	snap->updated_ns = now_ns;
	return 0;
}

void snapshot_reset(struct snapshot *snap, bool undo)
{
	size_t n = 0;

	for (size_t i = 0; i < snap->view.n_rows; i++)
		n = MAX(n, (size_t)snap->s->rows[i].values + snap->s->sets[snap->s->rows[i].set].n);
	snap->generation++;
	snap->picture++;
	free(snap->base);
	free(snap->base_present);
	snap->n_base = 0;
	snap->base = undo ? NULL : malloc((n + 1) * sizeof(*snap->base));
	snap->base_present = undo ? NULL : malloc(n + 1);
	if (snap->base && snap->base_present && n) {
		memcpy(snap->base, picture_values(snap), n * sizeof(*snap->base));
		memcpy(snap->base_present, picture_present(snap), n);
		snap->n_base = n;
	}
	columns_restart(snap, !undo);
}

bool snapshot_is_reset(const struct snapshot *snap)
{
	return snap->n_base > 0;
}

void snapshot_mask(struct snapshot *snap, const uint8_t *mask)
{
	view_mask(snap, mask);
}

/* The same picture by other groups or with other contexts; what has come since waits for the next update. */
static int arrange(struct snapshot *snap, enum group group, enum context_view contexts)
{
	if (snap->rearranged && view_recall(snap, group, contexts)) {
		columns_recall(snap);
	} else {
		columns_restart(snap, false);
		view_clear(snap);
		snap->spec.group = group;
		snap->spec.contexts = contexts;
		snap->rearranged = true;
	}
	return columns_init(snap) < 0 ? -ENOMEM : view_map(snap);
}

int snapshot_regroup(struct snapshot *snap, enum group group)
{
	snap->generation++;
	return view_turn(snap, group) ? 0 : arrange(snap, group, snap->spec.contexts);
}

int snapshot_show_contexts(struct snapshot *snap, enum context_view view)
{
	snap->generation++;
	return arrange(snap, snap->spec.group, view);
}

uint64_t snapshot_generation(const struct snapshot *snap)
{
	return snap->generation;
}

uint64_t snapshot_window_ns(const struct snapshot *snap)
{
	return snap->window_ns;
}

bool snapshot_is_outdated(const struct snapshot *snap)
{
	return (snap->spec.group == GROUP_DEVICE || snap->spec.group == GROUP_STREAM) &&
	       snap->view.lanes_moved != snap->s->lanes_moved;
}

void snapshot_set_tick(struct snapshot *snap, const struct tick *tick)
{
	snap->tick = tick;
}

const struct tick *snapshot_tick(const struct snapshot *snap)
{
	return snap->tick;
}

uint32_t snapshot_n(const struct snapshot *snap)
{
	return (uint32_t)snap->view.n;
}

uint32_t snapshot_n_contexts(const struct snapshot *snap)
{
	return snap->view.n_contexts;
}

uint32_t snapshot_n_shown(const struct snapshot *snap)
{
	return snap->view.n_shown;
}

const struct snap_node *snapshot_node(const struct snapshot *snap, uint32_t id)
{
	return &snap->view.nodes[id];
}

const struct snap_node *snapshot_nodes(const struct snapshot *snap)
{
	return snap->view.nodes;
}

const uint32_t *snapshot_parents(const struct snapshot *snap)
{
	return snap->view.parents;
}

const uint8_t *snapshot_hidden(const struct snapshot *snap)
{
	return snap->view.hidden;
}

uint32_t snapshot_row_node(const struct snapshot *snap, size_t row)
{
	return row < snap->view.n_rows ? snap->view.row_node[row] : SNAP_NONE;
}

const struct session *snapshot_session(const struct snapshot *snap)
{
	return snap->s;
}

enum group snapshot_group(const struct snapshot *snap)
{
	return snap->spec.group;
}

enum context_view snapshot_contexts(const struct snapshot *snap)
{
	return snap->spec.contexts;
}

bool snapshot_is_plain(const struct snapshot *snap)
{
	return view_is_plain(snap);
}
