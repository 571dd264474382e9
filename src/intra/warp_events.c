/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

/* All launches of one graph have one number: of these a block may run on several multiprocessors, each with a clock of its own. */
struct warp_event_end {
	uint64_t block, at;
	uint32_t multiprocessor, scope, event;
	bool ends;
};

struct warp_event_sum {
	uint32_t scope;
	uint64_t n, n_begun, cycles;
};

void warp_events_done(struct warp_events *e)
{
	free(e->ends);
	free(e->sums);
}

static int add_point(struct warp_events *e, const struct warp_slice *slice,
		     const struct warp_point *p)
{
	if (ARRAY_ROOM(e->ends, e->cap, e->n + 1) < 0)
		return -ENOMEM;
	e->ends[e->n++] = (struct warp_event_end){.block = slice->block,
						  .at = p->at,
						  .multiprocessor = slice->multiprocessor,
						  .scope = p->scope,
						  .event = p->event,
						  .ends = p->kind == WARP_POINT_END};
	return 0;
}

static int add_sum(struct warp_events *e, const struct warp_sum *s)
{
	struct warp_event_sum *to = NULL;

	for (size_t i = 0; i < e->n_sums && !to; i++)
		if (e->sums[i].scope == s->scope)
			to = &e->sums[i];
	if (!to) {
		if (ARRAY_ROOM(e->sums, e->cap_sums, e->n_sums + 1) < 0)
			return -ENOMEM;
		to = &e->sums[e->n_sums++];
		*to = (struct warp_event_sum){.scope = s->scope};
	}
	to->n += s->n;
	to->n_begun += s->n_begun;
	to->cycles += s->cycles;
	return 0;
}

int warp_events_add(struct warp_events *e, const struct warp_slice *slice,
		    const struct warp_contents *warp)
{
	int r = 0;

	for (size_t i = 0; i < warp->n_points && r == 0; i++)
		if (warp->points[i].kind == WARP_POINT_BEGIN ||
		    warp->points[i].kind == WARP_POINT_END)
			r = add_point(e, slice, &warp->points[i]);
	for (size_t i = 0; i < warp->n_sums && r == 0; i++)
		if (warp->sums[i].kind == WARP_SUM_EVENT)
			r = add_sum(e, &warp->sums[i]);
	return r;
}

static int compare_events(const struct warp_event_end *a, const struct warp_event_end *b)
{
	if (a->scope != b->scope)
		return COMPARE(a->scope, b->scope);
	if (a->block != b->block)
		return COMPARE(a->block, b->block);
	if (a->multiprocessor != b->multiprocessor)
		return COMPARE(a->multiprocessor, b->multiprocessor);
	return COMPARE(a->event, b->event);
}

/* What happens at one time begins first. */
static int compare_ends(const void *x, const void *y)
{
	const struct warp_event_end *a = x, *b = y;
	int r = compare_events(a, b);

	if (r)
		return r;
	return a->at != b->at ? COMPARE(a->at, b->at) : COMPARE(a->ends, b->ends);
}

/* Those from `from` to `end` are of one event: as many as are left go to `left`, the others to the sum. */
static size_t join_one(struct warp_event_end *of, size_t n, struct warp_event_end *left,
		       struct scope_sum *sum)
{
	size_t n_left = 0, begun = 0;

	for (size_t i = 0; i < n; i++) {
		if (!of[i].ends)
			continue;
		while (begun < i && of[begun].ends)
			begun++;
		if (begun == i) { /* none began before it */
			left[n_left++] = of[i];
			continue;
		}
		sum->n++;
		sum->cycles += of[i].at - of[begun].at;
		sum->cycles_min = MIN(sum->cycles_min, of[i].at - of[begun].at);
		sum->cycles_max = MAX(sum->cycles_max, of[i].at - of[begun].at);
		begun++;
	}
	for (; begun < n; begun++)
		if (!of[begun].ends)
			left[n_left++] = of[begun];
	return n_left;
}

static int join_ends(struct warp_events *e, struct scope_sums *sums)
{
	size_t n = e->n, n_left = 0, to;
	int r = 0;

	if (n)
		qsort(e->ends, n, sizeof(*e->ends), compare_ends);
	for (size_t i = 0; i < n && r == 0; i = to) {
		struct scope_sum sum = {.scope = e->ends[i].scope, .cycles_min = UINT64_MAX};

		for (to = i + 1; to < n && !compare_events(&e->ends[i], &e->ends[to]);)
			to++;
		n_left += join_one(&e->ends[i], to - i, &e->ends[n_left], &sum);
		if (sum.n)
			r = scope_sums_add_events(sums, &sum);
	}
	e->n = n_left;
	return r;
}

/* Ends less beginnings are times once there are as many. */
static int join_sums(struct warp_events *e, struct scope_sums *sums)
{
	size_t n_left = 0;

	for (size_t i = 0; i < e->n_sums; i++) {
		const struct warp_event_sum *s = &e->sums[i];
		const struct scope_sum sum = {.scope = s->scope,
					      .n = s->n,
					      .cycles = s->cycles,
					      .cycles_min = UINT64_MAX};

		if (s->n != s->n_begun)
			e->sums[n_left++] = *s;
		else if (s->n && scope_sums_add_events(sums, &sum) < 0)
			return -ENOMEM;
	}
	e->n_sums = n_left;
	return 0;
}

int warp_events_join(struct warp_events *e, struct scope_sums *sums)
{
	int r = join_ends(e, sums);

	if (r == 0)
		r = join_sums(e, sums);
	return r < 0 ? r : e->n || e->n_sums;
}

uint64_t warp_events_left(const struct warp_events *e)
{
	uint64_t n = e->n;

	for (size_t i = 0; i < e->n_sums; i++)
		n += e->sums[i].n > e->sums[i].n_begun ? e->sums[i].n - e->sums[i].n_begun
						       : e->sums[i].n_begun - e->sums[i].n;
	return n;
}
