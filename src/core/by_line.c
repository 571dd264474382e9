/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/by_line.h"
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/merge.h"

bool session_has_instructions(const struct session *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (session_node_kind(s, i) == FRAME_INSTRUCTION)
			return true;
	return false;
}

/* What a line is in: no other line. */
static uint32_t outside_lines(const struct session *s, uint32_t node)
{
	while (session_node_kind(s, node) == FRAME_LINE)
		node = s->nodes[node].parent;
	return node;
}

/* By node, 1: it is a line that has samples, not one that only called what was inlined there. */
static void mark_sampled(const struct session *s, uint8_t *sampled)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		uint32_t node = s->rows[i].node;

		sampled[node] = 1;
		if (session_node_kind(s, node) == FRAME_INSTRUCTION)
			sampled[s->nodes[node].parent] = 1;
	}
}

static int put_by_line(const struct session *s, struct session *into)
{
	_cleanup_(merge_freep) struct merge *m = merge_new(into);
	_cleanup_(freep) uint32_t *to = malloc(s->n_nodes * sizeof(*to));
	_cleanup_(freep) uint32_t *above = malloc(s->n_nodes * sizeof(*above));
	_cleanup_(freep) uint8_t *sampled = calloc(s->n_nodes, 1);

	if (!m || !to || !above || !sampled)
		return -ENOMEM;
	mark_sampled(s, sampled);
	to[SESSION_ROOT] = above[SESSION_ROOT] = SESSION_ROOT;
	for (uint32_t i = SESSION_ROOT + 1; i < s->n_nodes; i++) {
		uint32_t parent = s->nodes[i].parent;
		enum frame_kind kind = session_node_kind(s, i);

		above[i] = to[kind == FRAME_LINE ? outside_lines(s, parent) : parent];
		if (kind == FRAME_INSTRUCTION)
			to[i] = to[parent];
		else
			to[i] = kind == FRAME_LINE && !sampled[i] ? above[i] : i;
	}
	merge_arrange(m, to, above);
	return merge_add(m, s, NULL);
}

int session_by_line(const struct session *s, struct session **ret)
{
	_cleanup_(session_freep) struct session *into = session_new();
	int r = into ? put_by_line(s, into) : -ENOMEM;

	if (r < 0)
		return r;
	*ret = into;
	into = NULL;
	return 0;
}
