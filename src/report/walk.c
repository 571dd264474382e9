/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/walk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

int walk_compare_names(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : x->node < y->node ? -1 : x->node > y->node;
}

int walk_compare_keys(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;

	if (isnan(x->key) != isnan(y->key))
		return isnan(x->key) ? 1 : -1;
	if (x->key != y->key && !isnan(x->key))
		return x->key < y->key ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int level_open(struct walk *w, uint32_t parent)
{
	const struct snap_node *p = snapshot_node(w->snap, parent);
	struct walk_level *level;

	if (w->depth && w->n_levels + 1 >= w->depth)
		return 0;
	if (ARRAY_ROOM(w->levels, w->cap_levels, w->n_levels + 1) < 0)
		return -ENOMEM;
	level = &w->levels[w->n_levels++];
	*level = (struct walk_level){
		.entries = malloc(MAX(p->n_children, 1u) * sizeof(*level->entries))};
	if (!level->entries)
		return -ENOMEM;
	for (uint32_t c = p->first_child; c != SNAP_NONE;
	     c = snapshot_node(w->snap, c)->next_sibling) {
		level->entries[level->n].node = c;
		if (w->take(w->ctx, c, &level->entries[level->n]))
			level->n++;
	}
	if (w->compare && level->n > 1)
		qsort(level->entries, level->n, sizeof(*level->entries), w->compare);
	return 0;
}

int walk_tree(struct walk *w)
{
	int r;

	w->put(w->ctx, 0);
	r = level_open(w, 0);
	while (r == 0 && w->n_levels && !*w->error) {
		struct walk_level *level = &w->levels[w->n_levels - 1];
		uint32_t node;

		if (walk_level_is_last(level)) {
			free(level->entries);
			w->n_levels--;
			continue;
		}
		node = level->entries[level->at++].node;
		w->put(w->ctx, node);
		if (snapshot_node(w->snap, node)->first_child != SNAP_NONE)
			r = level_open(w, node);
	}
	while (w->n_levels)
		free(w->levels[--w->n_levels].entries);
	free(w->levels);
	w->levels = NULL;
	w->cap_levels = 0;
	return r;
}
