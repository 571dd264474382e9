/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/record_cost.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

/* As bench/cuda_kernel_records measures it, of one warp on a multiprocessor (bench/RESULTS.md). */
static const struct {
	uint32_t capability;
	struct record_cost cost;
} measured[] = {{90, {2, 19}}}; /* H200 */

bool record_cost_of(uint32_t capability, struct record_cost *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(measured); i++)
		if (measured[i].capability == capability) {
			*ret = measured[i].cost;
			return true;
		}
	return false;
}

/* When something was recorded, and what it costs what comes behind. */
struct stamp {
	uint64_t *at;
	uint32_t cost;
};

static int compare_stamps(const void *x, const void *y)
{
	const struct stamp *a = x, *b = y;

	return COMPARE(*a->at, *b->at);
}

static size_t list(const struct record_cost *cost, struct warp_contents *warp, struct stamp *stamps)
{
	size_t n = 0;

	for (size_t i = 0; i < warp->n_scopes; i++) {
		struct warp_scope *s = &warp->scopes[i];

		stamps[n++] = (struct stamp){&s->enter, s->is_whole ? cost->read : cost->record};
		if (!s->is_open)
			stamps[n++] = (struct stamp){&s->leave, cost->record};
	}
	for (size_t i = 0; i < warp->n_points; i++)
		stamps[n++] = (struct stamp){&warp->points[i].at, cost->record};
	return n;
}

int record_cost_take(const struct record_cost *cost, struct warp_contents *warp)
{
	size_t room = 2 * warp->n_scopes + warp->n_points;
	_cleanup_(freep) struct stamp *stamps = malloc((room + 1) * sizeof(*stamps));
	size_t n;
	uint64_t before = 0;

	if (!stamps)
		return -ENOMEM;
	n = list(cost, warp, stamps);
	qsort(stamps, n, sizeof(*stamps), compare_stamps);
	for (size_t i = 0; i < n; i++) {
		*stamps[i].at -= before;
		before += stamps[i].cost;
	}
	for (size_t i = 0; i < warp->n_scopes; i++)
		warp->scopes[i].leave = MAX(warp->scopes[i].leave, warp->scopes[i].enter);
	return 0;
}
