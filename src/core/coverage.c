/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/coverage.h"
#include <string.h>
#include "base/util.h"

void coverage_init(struct coverage *c, struct span *room, uint32_t max)
{
	*c = (struct coverage){.v = room, .scratch = room + max, .max = max};
}

/* Make room for n more: the oldest go, some more than need be, so that this is rare. */
static void forget(struct coverage *c, uint32_t n)
{
	uint32_t gone = MIN(n + c->max / 8, c->n);

	if (!gone)
		return;
	c->floor = c->v[gone - 1].end;
	c->n -= gone;
	memmove(c->v, c->v + gone, c->n * sizeof(*c->v));
}

/* The first piece that does not end before `start`. */
static uint32_t first_touched(const struct coverage *c, uint64_t start)
{
	uint32_t low = 0;

	if (!c->n || c->v[c->n - 1].end < start) /* in order: the usual case */
		return c->n;
	BISECT(low, c->n, mid, c->v[mid].end < start)
	return low;
}

/* One more at the end; it does not start before the last one does. */
static void append(struct coverage *c, struct span s)
{
	struct span *last = c->n ? &c->v[c->n - 1] : NULL;

	s.start = MAX(s.start, c->floor);
	if (s.end <= s.start)
		return;
	if (!last || s.start > last->end) {
		c->v[c->n++] = s;
		c->covered_ns += s.end - s.start;
	} else if (s.end > last->end) {
		c->covered_ns += s.end - last->end;
		last->end = s.end;
	}
}

/* n <= max / 2. */
static void add_piece(struct coverage *c, const struct span *run, uint32_t n)
{
	uint32_t from, n_tail, i, j = 0;

	coverage_make_room(c, n);
	from = first_touched(c, run[0].start);
	n_tail = c->n - from;
	memcpy(c->scratch, c->v + from, n_tail * sizeof(*c->v));
	for (i = 0; i < n_tail; i++)
		c->covered_ns -= c->scratch[i].end - c->scratch[i].start;
	c->n = from;
	for (i = 0; i < n_tail; i++) {
		for (; j < n && run[j].start < c->scratch[i].start; j++)
			append(c, run[j]);
		append(c, c->scratch[i]);
	}
	for (; j < n; j++)
		append(c, run[j]);
}

void coverage_add(struct coverage *c, const struct span *run, uint32_t n)
{
	uint32_t at, piece;

	for (at = 0; at < n; at += piece) {
		piece = MIN(n - at, c->max / 2);
		add_piece(c, run + at, piece);
	}
}

void coverage_raise_floor(struct coverage *c, uint64_t floor)
{
	uint32_t gone = 0;

	if (floor <= c->floor)
		return;
	c->floor = floor;
	while (gone < c->n && c->v[gone].end <= floor)
		gone++;
	c->n -= gone;
	memmove(c->v, c->v + gone, c->n * sizeof(*c->v));
	if (c->n)
		c->v[0].start = MAX(c->v[0].start, floor);
}

bool coverage_within(const struct coverage *c, uint64_t start, uint64_t end, uint64_t *ret_ns)
{
	uint64_t ns = 0;

	if (start < c->floor)
		return false;
	for (uint32_t i = first_touched(c, start); i < c->n && c->v[i].start < end; i++)
		ns += MIN(c->v[i].end, end) - MAX(c->v[i].start, start);
	*ret_ns = ns;
	return true;
}

void coverage_make_room(struct coverage *c, uint32_t n)
{
	if (c->n + n > c->max)
		forget(c, c->n + n - c->max);
}

uint64_t coverage_common(const struct coverage *a, const struct coverage *b, uint64_t from,
			 uint64_t to)
{
	uint32_t i = first_touched(a, from), j = first_touched(b, from);
	uint64_t sum = 0;

	while (i < a->n && j < b->n) {
		uint64_t start = MAX(MAX(a->v[i].start, b->v[j].start), from);
		uint64_t end = MIN(MIN(a->v[i].end, b->v[j].end), to);

		if (start >= to)
			break;
		sum += end > start ? end - start : 0;
		if (a->v[i].end < b->v[j].end)
			i++;
		else
			j++;
	}
	return sum;
}

/* ---- two kinds ---- */

void overlap_init(struct overlap *o, struct span *room, uint32_t max)
{
	*o = (struct overlap){.is_told_apart = false};
	coverage_init(&o->either, room, max);
	coverage_init(&o->first, room + 2 * max, max);
	coverage_init(&o->second, room + 4 * max, max);
}

static void clone(struct coverage *to, const struct coverage *from)
{
	memcpy(to->v, from->v, from->n * sizeof(*to->v));
	to->n = from->n;
	to->floor = from->floor;
	to->covered_ns = from->covered_ns;
}

/* Begin with what is there, which is all of the first kind. */
static void tell_apart(struct overlap *o)
{
	clone(&o->first, &o->either);
	o->is_told_apart = true;
}

/* What has no room gives up time in all of them. */
void overlap_make_room(struct overlap *o, uint32_t n)
{
	struct coverage *all[] = {&o->either, &o->first, &o->second};
	uint64_t floor = 0;
	unsigned i;

	if (!o->is_told_apart) {
		coverage_make_room(&o->either, n);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		coverage_make_room(all[i], n);
		floor = MAX(floor, all[i]->floor);
	}
	for (i = 0; i < ARRAY_SIZE(all); i++)
		coverage_raise_floor(all[i], floor);
}

/* Those of one kind. */
static uint32_t pick(const struct span *run, const bool *is_second, uint32_t n, bool second,
		     struct span *ret)
{
	uint32_t i, k = 0;

	for (i = 0; i < n; i++)
		if (is_second[i] == second)
			ret[k++] = run[i];
	return k;
}

void overlap_add(struct overlap *o, const struct span *run, const bool *is_second, uint32_t n,
		 struct span *split)
{
	if (!n)
		return;
	if (!o->is_told_apart && memchr(is_second, true, n * sizeof(*is_second)))
		tell_apart(o);
	if (o->is_told_apart) {
		overlap_make_room(o, n);
		coverage_add(&o->first, split, pick(run, is_second, n, false, split));
		coverage_add(&o->second, split, pick(run, is_second, n, true, split));
	}
	coverage_add(&o->either, run, n);
}

void overlap_reset(struct overlap *o)
{
	o->either.covered_ns = 0;
	clone(&o->second, &o->either);
	if (o->is_told_apart)
		clone(&o->first, &o->either);
}

uint32_t overlap_spans(const struct overlap *o)
{
	return o->either.n + o->first.n + o->second.n;
}
