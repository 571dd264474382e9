/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/hidden.h"
#include "base/util.h"

void hidden_init(struct hidden *h, struct span *v, struct span *scratch, uint32_t max)
{
	*h = (struct hidden){.lane = {.v = v, .scratch = scratch, .max = max}};
}

/* What is there twice is taken away before it grows and added after. */
static void look(struct hidden *h, const struct coverage *others, uint64_t from, uint64_t to,
		 uint64_t sign)
{
	const struct coverage *lane = &h->lane;

	if (lane->n && lane->v[lane->n - 1].end > from)
		h->hidden_ns += sign * coverage_common(lane, others, from, to);
	if (h->forgot > from && h->forgot > others->floor)
		h->late_ns += sign * coverage_common(others, others, from, MIN(to, h->forgot));
}

void hidden_before(struct hidden *h, const struct coverage *others, uint64_t from, uint64_t to)
{
	look(h, others, from, to, UINT64_MAX);
}

void hidden_after(struct hidden *h, const struct coverage *others, uint64_t from, uint64_t to)
{
	look(h, others, from, to, 1);
}

void hidden_add(struct hidden *h, const struct coverage *others, const struct span *run, uint32_t n)
{
	uint64_t from = run->start, to = 0, floor = h->lane.floor;

	for (uint32_t i = 0; i < n; i++)
		to = MAX(to, run[i].end);
	coverage_make_room(&h->lane, n);
	if (h->lane.floor > floor)
		h->forgot = h->lane.floor;
	coverage_raise_floor(&h->lane, others->floor);
	h->hidden_ns -= coverage_common(&h->lane, others, from, to);
	coverage_add(&h->lane, run, n);
	h->hidden_ns += coverage_common(&h->lane, others, from, to);
}

void hidden_reset(struct hidden *h, uint64_t since)
{
	h->hidden_ns = h->late_ns = h->forgot = h->lane.covered_ns = 0;
	h->lane.n = 0;
	h->lane.floor = MAX(since, h->lane.floor);
}
