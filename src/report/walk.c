/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/walk.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/table.h"

#define DEPTH_DRAWN 60 /* deeper branches are not indented further */
#define BRANCH      3  /* columns of a level's line */
#define DEPTH_TEXT  6  /* "(+99) " */

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

static uint32_t next_child(const struct walk *w, uint32_t node, uint32_t child)
{
	if (w->next_child)
		return w->next_child(w->ctx, node, child);
	return child == SNAP_NONE ? snapshot_node(w->snap, node)->first_child
				  : snapshot_node(w->snap, child)->next_sibling;
}

static int level_fill(struct walk *w, struct walk_level *level, uint32_t parent)
{
	uint32_t child = SNAP_NONE;

	while ((child = next_child(w, parent, child)) != SNAP_NONE) {
		if (ARRAY_ROOM(level->entries, level->cap, level->n + 1) < 0)
			return -ENOMEM;
		level->entries[level->n].node = child;
		if (w->take(w->ctx, child, &level->entries[level->n]))
			level->n++;
	}
	return 0;
}

static int level_open(struct walk *w, uint32_t parent)
{
	struct walk_level *level;
	int r;

	if (w->depth && w->n_levels + 1 >= w->depth)
		return 0;
	if (ARRAY_ROOM(w->levels, w->cap_levels, w->n_levels + 1) < 0)
		return -ENOMEM;
	level = &w->levels[w->n_levels++];
	*level = (struct walk_level){.n = 0};
	r = level_fill(w, level, parent);
	if (r == 0 && w->compare && level->n > 1)
		qsort(level->entries, level->n, sizeof(*level->entries), w->compare);
	return r;
}

int walk_tree(struct walk *w)
{
	int r;

	w->put(w->ctx, w->root);
	r = level_open(w, w->root);
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
		r = level_open(w, node);
	}
	while (w->n_levels)
		free(w->levels[--w->n_levels].entries);
	free(w->levels);
	w->levels = NULL;
	w->cap_levels = 0;
	return r;
}

/* ---- the lines before a name ---- */

/* So many levels that a name behind them has half of the room that is kept for names. */
static size_t depth_drawn(const struct report_options *o, size_t used, size_t depth)
{
	used += NAME_ROOM / 2;
	if (!o->width || used + depth * BRANCH <= o->width)
		return DEPTH_DRAWN;
	if (used + DEPTH_TEXT + BRANCH >= o->width)
		return 1;
	return MIN((o->width - used - DEPTH_TEXT) / BRANCH, DEPTH_DRAWN);
}

/* Lines from the ancestors that have more children to come. */
size_t walk_put_lines(const struct walk *w, const struct report_options *o, size_t used,
		      struct out *out)
{
	static const char *const lines[2][4] = {
		{"\xe2\x94\x82  ", "   ", "\xe2\x94\x9c\xe2\x94\x80 ", "\xe2\x94\x94\xe2\x94\x80 "},
		{"|  ", "   ", "|- ", "`- "},
	};
	const char *const *line = lines[o->ascii];
	size_t depth = w->n_levels, most = depth_drawn(o, used, depth);
	size_t first = depth > most ? depth - most : 0;
	char deeper[32] = "";

	if (first)
		snprintf(deeper, sizeof(deeper), "(+%zu) ", first);
	if (out)
		out_puts(out, deeper);
	for (size_t i = first; i < depth && out; i++) {
		bool last = walk_level_is_last(&w->levels[i]);

		out_puts(out, line[(i + 1 == depth ? 2 : 0) + last]);
	}
	return strlen(deeper) + (depth - first) * BRANCH;
}
