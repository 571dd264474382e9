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
	uint32_t low = 0, high = c->n, mid;

	if (!c->n || c->v[c->n - 1].end < start) /* in order: the usual case */
		return c->n;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (c->v[mid].end < start)
			low = mid + 1;
		else
			high = mid;
	}
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

	if (c->n + n > c->max)
		forget(c, c->n + n - c->max);
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
