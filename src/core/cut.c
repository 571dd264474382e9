/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/cut.h"
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/merge.h"

_Static_assert(FRAME_N_KINDS <= 32, "kinds of frames are bits of a mask");

/* By node: which one it is in the part, as merge_keep() takes it. Parents come before their children. */
static void map_nodes(const struct session *s, const uint8_t *rows, uint32_t without, uint32_t *to)
{
	size_t i;
	uint32_t node;

	for (i = 0; i < s->n_nodes; i++)
		to[i] = SESSION_NONE;
	to[SESSION_ROOT] = SESSION_ROOT;
	for (i = 0; i < s->n_rows; i++)
		for (node = s->rows[i].node; rows[i] && to[node] == SESSION_NONE;
		     node = s->nodes[node].parent)
			to[node] = node;
	for (i = SESSION_ROOT + 1; i < s->n_nodes; i++)
		if (to[i] != SESSION_NONE && without & CUT_KIND(session_node_kind(s, (uint32_t)i)))
			to[i] = to[s->nodes[i].parent];
}

static int add(struct session *into, const struct session *s, const uint8_t *rows,
	       const uint8_t *intervals, const uint32_t *to, const uint8_t *host)
{
	_cleanup_(merge_freep) struct merge *m = merge_new(into);

	if (!m)
		return -ENOMEM;
	if (rows) {
		merge_rows(m, rows, intervals);
		merge_keep(m, to, host, NULL);
	}
	return merge_add(m, s, NULL);
}

static int cut(const struct session *s, const uint8_t *rows, const uint8_t *intervals,
	       uint32_t without, struct session *into)
{
	_cleanup_(freep) uint32_t *to = malloc(s->n_nodes * sizeof(*to));
	_cleanup_(freep) uint8_t *host = calloc(s->n_nodes, 1);

	if (!to || !host)
		return -ENOMEM;
	map_nodes(s, rows, without, to);
	return add(into, s, rows, intervals, to, host);
}

int session_cut(const struct session *s, const uint8_t *rows, const uint8_t *intervals,
		uint32_t without, struct session **ret)
{
	_cleanup_(session_freep) struct session *part = session_new(), *folded = NULL;
	int r = part ? cut(s, rows, intervals, without, part) : -ENOMEM;

	if (r == 0 && without) { /* siblings that were children of different nodes may be equal */
		folded = session_new();
		r = folded ? add(folded, part, NULL, NULL, NULL, NULL) : -ENOMEM;
	}
	if (r < 0)
		return r;
	*ret = without ? folded : part;
	if (without)
		folded = NULL;
	else
		part = NULL;
	return 0;
}

static bool is_inside(const struct session *s, uint32_t node)
{
	return session_node_kind(s, node) == FRAME_INSTRUMENT;
}

int cut_to_inside(const struct session *s, uint8_t *rows)
{
	_cleanup_(freep) uint8_t *kernels = calloc(s->n_nodes, 1);
	uint32_t node;
	size_t i;

	if (!kernels)
		return -ENOMEM;
	for (i = 0; i < s->n_rows; i++) {
		node = s->rows[i].node;
		if (!rows[i] || !is_inside(s, node))
			continue;
		while (is_inside(s, node))
			node = s->nodes[node].parent;
		kernels[node] = 1;
	}
	for (i = 0; i < s->n_rows; i++) {
		node = s->rows[i].node;
		rows[i] = rows[i] && (kernels[node] || is_inside(s, node) ||
				      session_node_kind(s, node) == FRAME_SCOPE);
	}
	return 0;
}
