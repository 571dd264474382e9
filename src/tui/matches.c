/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/matches.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/bottom_up.h"
#include "tui/needle.h"
#include "tui/tui_impl.h"

/* A parent's id is smaller than its children's: one pass down, one pass up. */
static int mark(struct tui *t, const struct needle *needle)
{
	const uint32_t *parents = snapshot_parents(t->snap);
	const uint8_t *hidden = snapshot_hidden(t->snap);
	uint8_t *v = t->matches.nodes;
	uint32_t n = snapshot_n(t->snap);
	size_t found = 0, elsewhere = 0;

	for (uint32_t id = 0; id < n; id++) {
		uint32_t parent = parents[id];
		bool above = parent != SNAP_NONE && parent != 0 && v[parent];
		bool self = !hidden[id] && needle_in(t, needle, id);

		if (!tick_at(snapshot_tick(t->snap), id, n))
			return -ECANCELED;
		v[id] = (uint8_t)((self ? MATCH_SELF : 0) | (above ? MATCH_ABOVE : 0));
		found += self;
		elsewhere += self && needle_is_elsewhere(needle, id);
	}
	for (uint32_t id = n; id-- > 1;)
		if (v[id] & (MATCH_SELF | MATCH_BELOW))
			v[parents[id]] |= MATCH_BELOW;
	t->matches.n = found;
	t->matches.n_elsewhere = elsewhere;
	return 0;
}

static bool is_fresh(const struct tui *t)
{
	const struct matches *m = &t->matches;

	return m->made && m->generation == snapshot_generation(t->snap) && m->names == t->names &&
	       !strcmp(m->text, t->search);
}

const uint8_t *tui_matches(struct tui *t)
{
	struct matches *m = &t->matches;
	struct needle needle;
	int r;

	if (is_fresh(t))
		return m->nodes;
	tui_numbers(t); /* they know which contexts are of one function */
	m->made = false;
	if (ARRAY_ROOM(m->nodes, m->cap_nodes, MAX(snapshot_n(t->snap), 1u)) < 0 ||
	    needle_init(&needle, t, t->search, &m->seen, &m->cap_seen) < 0)
		return NULL;
	work_begin(t, "searching");
	r = mark(t, &needle);
	work_end(t);
	if (r < 0)
		return NULL;
	m->made = true;
	m->generation = snapshot_generation(t->snap);
	m->names = (uint8_t)t->names;
	snprintf(m->text, sizeof(m->text), "%s", t->search);
	return m->nodes;
}

/* Callers of a context are its ancestors; below node 0 are the contexts themselves, too. */
bool tui_matches_callers(struct tui *t, const struct bottom_up *b, uint32_t node)
{
	return bottom_up_any(b, node, t->matches.nodes,
			     node == 0 ? MATCH_SELF | MATCH_ABOVE : MATCH_ABOVE);
}

void matches_done(struct matches *m)
{
	free(m->nodes);
	free(m->seen);
}
