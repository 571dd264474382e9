/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/hits.h"

void hits_add(struct hits *hits, const struct hit *hit)
{
	if (hits && hits->n < MAX_HITS)
		hits->v[hits->n++] = *hit;
}

const struct hit *hits_find(const struct hits *hits, int y, int x)
{
	for (unsigned i = hits->n; i-- > 0;)
		if (hits->v[i].y == y && x >= hits->v[i].x && x < hits->v[i].end)
			return &hits->v[i];
	return NULL;
}
