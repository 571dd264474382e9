/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/dominators.h"
#include <errno.h>
#include <stdlib.h>

enum { TABLES = 6 };
#define NONE UINT32_MAX

/* By number. A node is linked to what it came from once it was looked at; best is where the lowest semi is on the way
 * from there to its link. */
struct work {
	const struct search *s;
	uint32_t *semi, *best, *link, *path;
	uint32_t *first, *next; /* lists of nodes by their semi */
	uint32_t *above;
};

static void shorten(struct work *w, uint32_t x)
{
	uint32_t a = w->link[x];

	if (w->semi[w->best[a]] < w->semi[w->best[x]])
		w->best[x] = w->best[a];
	w->link[x] = w->link[a];
}

static uint32_t best_of(struct work *w, uint32_t v)
{
	size_t depth = 0;

	if (w->link[v] == NONE)
		return v;
	for (uint32_t x = v; w->link[w->link[x]] != NONE; x = w->link[x])
		w->path[depth++] = x;
	while (depth)
		shorten(w, w->path[--depth]);
	return w->best[v];
}

static void find_semi(struct work *w, uint32_t v)
{
	for (uint32_t i = w->s->in_at[v]; i < w->s->in_at[v + 1]; i++) {
		uint32_t semi = w->semi[best_of(w, w->s->in[i])];

		if (semi < w->semi[v])
			w->semi[v] = semi;
	}
	w->next[v] = w->first[w->semi[v]];
	w->first[w->semi[v]] = v;
}

/* Those whose semi is where v came from. Where another has a lower one, they are below what that will be below. */
static void take_list(struct work *w, uint32_t from)
{
	for (uint32_t v = w->first[from]; v != NONE; v = w->next[v]) {
		uint32_t best = best_of(w, v);

		w->above[v] = w->semi[best] < w->semi[v] ? best : from;
	}
	w->first[from] = NONE;
}

static void find_all(struct work *w)
{
	for (uint32_t v = 0; v < w->s->n; v++) {
		w->semi[v] = w->best[v] = v;
		w->link[v] = w->first[v] = NONE;
	}
	for (uint32_t v = w->s->n; v-- > 1;) {
		find_semi(w, v);
		w->link[v] = w->s->from[v];
		take_list(w, w->s->from[v]);
	}
	w->above[0] = 0;
	for (uint32_t v = 1; v < w->s->n; v++)
		if (w->above[v] != w->semi[v])
			w->above[v] = w->above[w->above[v]];
}

/* What is above a node has a lower number. `next` is the next free place below it. */
static void find_places(struct dominators *d, uint32_t n, uint32_t *next)
{
	for (uint32_t v = 0; v < n; v++)
		d->n_below[v] = 1;
	for (uint32_t v = n; v-- > 1;)
		d->n_below[d->above[v]] += d->n_below[v];
	for (uint32_t v = 0; v < n; v++) {
		d->place[v] = v ? next[d->above[v]] : 0;
		if (v)
			next[d->above[v]] += d->n_below[v];
		next[v] = d->place[v] + 1;
	}
}

int dominators_find(const struct search *s, struct dominators *ret)
{
	size_t n = s->n;
	uint32_t *room = calloc(n + 1, TABLES * sizeof(*room)),
		 *all = calloc(n + 1, 3 * sizeof(*all));
	struct work w = {.s = s, .semi = room, .above = all};

	*ret = (struct dominators){.above = all};
	if (!room || !all) {
		free(room);
		return -ENOMEM;
	}
	ret->place = all + n;
	ret->n_below = ret->place + n;
	w.best = w.semi + n;
	w.link = w.best + n;
	w.path = w.link + n;
	w.first = w.path + n;
	w.next = w.first + n;
	find_all(&w);
	find_places(ret, s->n, w.path);
	free(room);
	return 0;
}

void dominators_done(struct dominators *d)
{
	free(d->above);
	*d = (struct dominators){0};
}

bool dominates(const struct dominators *d, uint32_t a, uint32_t b)
{
	return d->place[b] - d->place[a] < d->n_below[a];
}
