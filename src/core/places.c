/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/places.h"
#include <errno.h>
#include <stdlib.h>
#include "base/hash.h"
#include "base/util.h"

static bool place_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct places *p = ctx;
	const struct place *k = key;

	return p->v[id].node == k->node && p->v[id].process == k->process;
}

static uint32_t find(const struct places *p, uint32_t node, uint32_t process)
{
	struct place key = {.node = node, .process = process};

	return idindex_find(&p->index, hash_pair(node, process), place_equal, p, &key);
}

static int append(struct places *p, const struct place *place)
{
	if (ARRAY_ROOM(p->v, p->cap, p->n + 1) < 0 ||
	    idindex_add(&p->index, hash_pair(place->node, place->process), (uint32_t)p->n) < 0)
		return -ENOMEM;
	p->v[p->n++] = *place;
	return 0;
}

bool places_is_loose(const struct session *s, const struct session_row *row)
{
	const struct session_set *set = &s->sets[row->set];

	if (row->lane >= s->n_lanes || s->lanes[row->lane].device != SESSION_NONE)
		return false;
	for (uint32_t i = 0; i < set->n; i++)
		if (set->metrics[i] == METRIC_CPU_TIME || set->metrics[i] == METRIC_CPU_COUNT)
			return false;
	return true;
}

void places_done(struct places *p)
{
	idindex_done(&p->index);
	free(p->v);
	*p = (struct places){0};
}

int places_note(struct places *p, const struct session *s, uint32_t node, uint32_t lane,
		uint64_t place)
{
	struct place new = {.lane = lane, .process = s->lanes[lane].process, .place = place};

	for (; node != SESSION_NONE; node = s->nodes[node].parent) {
		uint32_t id = find(p, node, new.process);

		new.node = node;
		if (id == IDINDEX_NONE && append(p, &new) < 0)
			return -ENOMEM;
		if (id == IDINDEX_NONE)
			continue;
		/* Whoever noted this has noted all nodes above as well. */
		if (p->v[id].several || p->v[id].place == place)
			return 0;
		p->v[id].several = true;
	}
	return 0;
}

uint32_t places_only(const struct places *p, uint32_t node, uint32_t process)
{
	uint32_t id = find(p, node, process);

	return id == IDINDEX_NONE || p->v[id].several ? SESSION_NONE : p->v[id].lane;
}
