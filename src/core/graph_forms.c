/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/graph_forms.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/merge.h"

/* By node: the "<captured_at>" above it, or itself. malloc'd; NULL: out of memory. */
static uint32_t *find_places(const struct session *s)
{
	uint32_t *to = malloc((s->n_nodes + 1) * sizeof(*to));

	for (uint32_t i = 0; to && i < s->n_nodes; i++) {
		uint32_t up = i == SESSION_ROOT ? i : s->nodes[i].parent;

		to[i] = i;
		if (i != up && (to[up] != up || !strcmp(session_node_name(s, up), CAPTURED_AT)))
			to[i] = to[up];
	}
	return to;
}

static bool has(const struct session *s, const struct session_row *row, uint32_t metric)
{
	return session_row_number(s, row, metric) > 0;
}

enum graph_form graph_form_of(const struct session *s)
{
	unsigned form = GRAPHS_NONE;

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct session_row *row = &s->rows[i];

		if (session_node_kind(s, row->node) == FRAME_GRAPH_RUN)
			form |= has(s, row, METRIC_COUNT) ? GRAPHS_AS_WHOLE : GRAPHS_NONE;
		else if (has(s, row, METRIC_GRAPH_NODES))
			form |= GRAPHS_BY_NODES;
	}
	return (enum graph_form)form;
}

static int drop(const struct session *s, struct session *into)
{
	_cleanup_(merge_freep) struct merge *m = merge_new(into);
	_cleanup_(freep) uint32_t *to = find_places(s);
	_cleanup_(freep) uint8_t *host = calloc(s->n_nodes + 1, 1);

	if (!m || !to || !host)
		return -ENOMEM;
	merge_keep(m, to, host, NULL);
	return merge_add(m, s, NULL);
}

int graph_forms_drop(const struct session *s, struct session **ret)
{
	struct session *into = session_new();
	int r = into ? drop(s, into) : -ENOMEM;

	if (r < 0)
		session_free(into);
	else
		*ret = into;
	return r;
}
