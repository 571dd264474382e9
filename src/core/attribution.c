/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/attribution.h"
#include <string.h>
#include "base/util.h"

void attribution_init(struct attribution *a, uint64_t least_ns, struct attributed *room,
		      uint32_t max, struct span *spans, uint32_t n_spans)
{
	*a = (struct attribution){.v = room, .max = max, .least_ns = least_ns};
	coverage_init(&a->others, spans, n_spans);
}

/* The one that began first makes room: of the time in which it ran nothing is known any more. */
static void give_up_oldest(struct attribution *a)
{
	a->floor = MAX(a->floor, a->v[0].end);
	memmove(a->v, a->v + 1, --a->n * sizeof(*a->v));
}

static void keep(struct attribution *a, const struct attributed *work)
{
	uint32_t at;

	if (a->n == a->max)
		give_up_oldest(a);
	for (at = a->n; at && a->v[at - 1].start > work->start; at--)
		a->v[at] = a->v[at - 1];
	a->v[at] = *work;
	a->n++;
}

void attribution_add(struct attribution *a, const struct attributed *work)
{
	const struct span span = {work->start, work->end};

	if (work->end - work->start >= a->least_ns)
		keep(a, work);
	else
		coverage_add(&a->others, &span, 1);
}

void attribution_forget(struct attribution *a, uint64_t until)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n; i++)
		if (a->v[i].end > until)
			a->v[n++] = a->v[i];
	a->n = n;
	a->floor = MAX(a->floor, until);
	coverage_raise_floor(&a->others, until);
}

uint32_t attribution_of(const struct attribution *a, uint64_t start, uint64_t end,
			uint64_t who[ATTRIBUTED_MOST], bool *ret_alone)
{
	uint32_t n = 0, n_running = 0;
	uint64_t others_ns;

	if (start < a->floor || !coverage_within(&a->others, start, end, &others_ns))
		return 0;
	for (uint32_t i = 0; i < a->n && a->v[i].start < end; i++) {
		if (a->v[i].end <= start)
			continue;
		n_running++;
		if (a->v[i].start <= start && end <= a->v[i].end && n < ATTRIBUTED_MOST)
			who[n++] = a->v[i].who;
	}
	*ret_alone = n_running == 1 && !others_ns;
	return n;
}
