/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/kept.h"
#include <stdlib.h>
#include <string.h>
#include "core/numbers.h"
#include "tui/tui_impl.h"

enum { MATCH_UNKNOWN = 0, MATCH_NO, MATCH_YES };

void kept_done(struct kept *k)
{
	free(k->nodes);
	free(k->frames);
	k->numbers = numbers_free(k->numbers);
}

/* Contexts of one function have the same name: it is looked at once. */
static bool matches(struct tui *t, uint32_t id, const uint32_t *frames, bool match_case)
{
	uint8_t *seen = &t->kept.frames[frames[id]];

	if (*seen == MATCH_UNKNOWN)
		*seen = text_find(tui_node_name(t, id), t->filter, match_case) ? MATCH_YES
									       : MATCH_NO;
	return *seen == MATCH_YES;
}

/* A flag a node; NULL: all of them count (there is no filter, or no memory for one). */
static const uint8_t *mark(struct tui *t)
{
	struct kept *k = &t->kept;
	bool match_case = text_is_smart_case(t->filter);
	uint32_t n = snapshot_n(t->snap), n_frames;
	const uint32_t *frames = *t->filter ? numbers_frames(k->numbers, &n_frames) : NULL;

	if (!frames ||
	    array_reserve((void **)&k->nodes, &k->cap_nodes, MAX(n, 1u), sizeof(*k->nodes)) < 0 ||
	    array_reserve((void **)&k->frames, &k->cap_frames, n_frames, sizeof(*k->frames)) < 0)
		return NULL;
	memset(k->frames, MATCH_UNKNOWN, n_frames);
	for (uint32_t id = 0; id < n; id++) {
		uint32_t parent = snapshot_node(t->snap, id)->parent;

		k->nodes[id] = (parent != SNAP_NONE && k->nodes[parent]) ||
			       matches(t, id, frames, match_case);
	}
	return k->nodes;
}

/* The same picture through the same filter has the same numbers, however it is looked at. */
static bool is_fresh(const struct tui *t)
{
	const struct kept *k = &t->kept;

	return k->made && k->generation == snapshot_generation(t->snap) &&
	       !strcmp(k->filter, t->filter) && (!*t->filter || k->names == t->names);
}

struct numbers *tui_numbers(struct tui *t)
{
	struct kept *k = &t->kept;

	if (is_fresh(t))
		return k->numbers;
	k->made = true;
	k->generation = snapshot_generation(t->snap);
	k->names = (uint8_t)t->names;
	snprintf(k->filter, sizeof(k->filter), "%s", t->filter);
	numbers_update(k->numbers, NULL); /* the names of what is there now */
	if (*t->filter)
		numbers_update(k->numbers, mark(t));
	return k->numbers;
}
