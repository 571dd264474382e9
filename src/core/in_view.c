/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/in_view.h"
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/merge.h"
#include "core/row_tables.h"

static void mark_named(const struct session *s, enum table_id id, const uint32_t *to, uint8_t *used)
{
	const struct field *node = row_field(id, FIELD_NODE);

	for (size_t i = 0; node && i < s->tables[id].n; i++)
		used[to[row_names(row_at(s, id, i), node)]] = 1;
}

/* Set 1 for nodes that are shown for themselves or have something of their own, and for those above them
 * in the view. */
static void mark_used(const struct session *s, enum context_view view, const uint32_t *to,
		      const uint32_t *above, uint8_t *used)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		used[i] = !context_view_may_be_empty(view, session_node_kind(s, i));
	for (size_t i = 0; i < s->n_rows; i++)
		used[to[s->rows[i].node]] = 1;
	for (size_t i = 0; i < s->n_hists; i++)
		used[to[s->hists[i].node]] = 1;
	for (unsigned id = 0; id < TABLE_N; id++)
		mark_named(s, (enum table_id)id, to, used);
	for (size_t i = s->n_nodes; i-- > 1;)
		if (to[i] == i && used[i])
			used[above[i]] = 1;
}

static int put_in_view(const struct session *s, enum context_view view, struct session *into)
{
	_cleanup_(merge_freep) struct merge *m = merge_new(into);
	_cleanup_(freep) uint32_t *to = malloc(MAX(s->n_nodes, (size_t)1) * sizeof(*to));
	_cleanup_(freep) uint32_t *above = malloc(MAX(s->n_nodes, (size_t)1) * sizeof(*above));
	_cleanup_(freep) uint8_t *used = calloc(MAX(s->n_nodes, (size_t)1), 1);

	if (!m || !to || !above || !used)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		to[i] = context_view_node(view, s, i);
		above[i] = context_view_above(view, s, i);
	}
	mark_used(s, view, to, above, used);
	for (uint32_t i = 1; i < s->n_nodes; i++)
		if (!used[to[i]])
			to[i] = SESSION_NONE;
	merge_arrange(m, to, above);
	return merge_add(m, s, NULL);
}

int session_in_view(const struct session *s, enum context_view view, struct session **ret)
{
	struct session *into = session_new();
	int r = into ? put_in_view(s, view, into) : -ENOMEM;

	if (r < 0)
		session_free(into);
	else
		*ret = into;
	return r;
}
