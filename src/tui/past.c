/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/past.h"
#include <math.h>
#include <stdlib.h>
#include "base/hash.h"
#include "base/util.h"

void past_done(struct past *p)
{
	free(p->rows);
	idindex_done(&p->by_key);
	*p = (struct past){0};
}

static bool has_key(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct past *)ctx)->rows[id].key == *(const uint64_t *)key;
}

struct past_row *past_find(struct past *p, uint64_t key)
{
	uint32_t id = idindex_find(&p->by_key, hash_u64(key), has_key, p, &key);

	return id == IDINDEX_NONE ? NULL : &p->rows[id];
}

static void forget(struct past_row *r)
{
	for (size_t i = 0; i < PAST_WINDOWS; i++)
		r->v[i] = NAN;
}

void past_note(struct past_row *r, uint64_t window, double v)
{
	if (window < r->window)
		return;
	if (window - r->window > PAST_WINDOWS)
		forget(r);
	else
		for (uint64_t w = r->window + 1; w < window; w++)
			r->v[w % PAST_WINDOWS] = NAN;
	r->v[window % PAST_WINDOWS] = (float)v;
	r->window = window;
}

/* Of rows that were drawn in none of the windows that are shown, nobody would miss anything. Where all
 * were, the past begins anew. */
static void make_room(struct past *p, uint64_t window)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (window - p->rows[i].drawn < PAST_WINDOWS)
			p->rows[n++] = p->rows[i];
	p->n = n < PAST_ROWS / 2 ? n : 0;
	idindex_done(&p->by_key);
	for (size_t i = 0; i < p->n; i++)
		if (idindex_add(&p->by_key, hash_u64(p->rows[i].key), (uint32_t)i) < 0)
			p->n = i; /* no memory: these alone can be found */
}

static struct past_row *add(struct past *p, uint64_t key, uint64_t window)
{
	struct past_row *r;

	if (p->n == PAST_ROWS)
		make_room(p, window);
	if (ARRAY_ROOM(p->rows, p->cap, p->n + 1) < 0 ||
	    idindex_add(&p->by_key, hash_u64(key), (uint32_t)p->n) < 0)
		return NULL;
	r = &p->rows[p->n++];
	*r = (struct past_row){.key = key, .window = window};
	forget(r);
	return r;
}

struct past_row *past_draw(struct past *p, uint64_t key, uint64_t window)
{
	struct past_row *r = past_find(p, key);

	if (!r)
		r = add(p, key, window);
	if (r)
		r->drawn = window;
	return r;
}

void past_read(const struct past_row *r, uint64_t window, float out[PAST_WINDOWS])
{
	for (uint64_t i = 0; i < PAST_WINDOWS; i++) {
		uint64_t w = window + 1 + i -
			     PAST_WINDOWS; /* before the first one it wraps: not known */

		out[i] = w <= r->window && r->window - w < PAST_WINDOWS ? r->v[w % PAST_WINDOWS]
									: NAN;
	}
}
