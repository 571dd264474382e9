/* SPDX-License-Identifier: MIT */
/* Marks of nodes, carried through the tree as it is without groups. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/parted.h"
#include "core/snapshot_impl.h"

/* What is of a group itself is of the root. */
static uint32_t origin(const struct snapshot *snap, size_t i)
{
	uint32_t node = snap->view.nodes[i].session_node;

	return node == SESSION_NONE ? SESSION_ROOT : node;
}

/* By node of the session; malloc'd. NULL: out of memory. */
static uint8_t *gather(const struct snapshot *snap, const uint8_t *marks)
{
	uint8_t *of = calloc(MAX(snap->s->n_nodes, (size_t)1), 1);

	for (size_t i = 0; of && i < snap->view.n; i++)
		of[origin(snap, i)] |= marks[i];
	return of;
}

static void spread(const struct snapshot *snap, const uint8_t *of, uint8_t *marks)
{
	for (size_t i = 0; i < snap->view.n; i++)
		marks[i] = of[origin(snap, i)];
}

static uint32_t *session_parents(const struct session *s)
{
	uint32_t *parents = malloc(MAX(s->n_nodes, (size_t)1) * sizeof(*parents));

	for (size_t i = 0; parents && i < s->n_nodes; i++)
		parents[i] = s->nodes[i].parent;
	return parents;
}

int snapshot_mark_above(struct snapshot *snap, uint8_t *marks)
{
	_cleanup_(freep) uint32_t *parents = NULL;
	_cleanup_(freep) uint8_t *of = NULL;

	if (snap->spec.group == GROUP_NONE) {
		parted_above(snap->view.parents, (uint32_t)snap->view.n, marks);
		return 0;
	}
	parents = session_parents(snap->s);
	of = gather(snap, marks);
	if (!parents || !of)
		return -ENOMEM;
	parted_above(parents, (uint32_t)snap->s->n_nodes, of);
	spread(snap, of, marks);
	return 0;
}

int snapshot_mark_below(struct snapshot *snap, uint8_t *marks)
{
	_cleanup_(freep) uint8_t *of = gather(snap, marks);

	if (!of)
		return -ENOMEM;
	for (size_t i = 1; i < snap->s->n_nodes; i++)
		of[i] |= of[snap->s->nodes[i].parent];
	spread(snap, of, marks);
	return 0;
}
