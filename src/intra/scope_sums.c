/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/scope_sums.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/util.h"

#define NO_SUM UINT32_MAX

struct place {
	uint32_t parent, scope;
};

static bool is_at(const void *ctx, uint32_t id, const void *key)
{
	const struct scope_sum *sum = &((const struct scope_sums *)ctx)->items[id];
	const struct place *place = key;

	return sum->parent == place->parent && sum->scope == place->scope;
}

static uint32_t make(struct scope_sums *sums, const struct place *place)
{
	if (ARRAY_ROOM(sums->items, sums->cap, sums->n + 1) < 0 ||
	    idindex_add(&sums->index, hash_pair(place->parent, place->scope), (uint32_t)sums->n) <
		    0)
		return NO_SUM;
	sums->items[sums->n] = (struct scope_sum){.parent = place->parent,
						  .scope = place->scope,
						  .cycles_min = UINT64_MAX,
						  .value_min = INFINITY,
						  .value_max = -INFINITY};
	return (uint32_t)sums->n++;
}

int scope_sums_init(struct scope_sums *sums)
{
	*sums = (struct scope_sums){.n = 0};
	return make(sums, &(struct place){SCOPE_SUMS_KERNEL, WARP_SCOPES}) == NO_SUM ? -ENOMEM : 0;
}

void scope_sums_done(struct scope_sums *sums)
{
	idindex_done(&sums->index);
	free(sums->items);
	free(sums->of_warp);
}

int scope_sums_place(struct scope_sums *sums, uint32_t scope, int64_t parent)
{
	uint32_t below = SCOPE_SUMS_KERNEL;

	if (parent >= WARP_SCOPES || scope >= WARP_SCOPES || sums->placed[scope])
		return -EINVAL;
	if (parent >= 0)
		below = sums->placed[parent];
	if (parent >= 0 && below == SCOPE_SUMS_KERNEL)
		return -EINVAL;
	below = make(sums, &(struct place){below, scope});
	if (below == NO_SUM)
		return -ENOMEM;
	sums->placed[scope] = below;
	return 0;
}

/* What is in the place of a scope, or of what is within it; it is made where there is none. */
static uint32_t sum_of(struct scope_sums *sums, uint32_t scope, uint32_t parent_of_warp)
{
	const struct place place = {.parent = parent_of_warp == UINT32_MAX
						      ? SCOPE_SUMS_KERNEL
						      : sums->of_warp[parent_of_warp],
				    .scope = scope};
	uint32_t i = scope < WARP_SCOPES ? sums->placed[scope] : SCOPE_SUMS_KERNEL;

	if (i != SCOPE_SUMS_KERNEL)
		return i;
	i = idindex_find(&sums->index, hash_pair(place.parent, place.scope), is_at, sums, &place);
	return i == IDINDEX_NONE ? make(sums, &place) : i;
}

static void add_times(struct scope_sum *to, const struct scope_sum *from)
{
	to->n += from->n;
	to->cycles += from->cycles;
	to->cycles_min = MIN(to->cycles_min, from->cycles_min);
	to->cycles_max = MAX(to->cycles_max, from->cycles_max);
}

static void add_values(struct scope_sum *to, const struct scope_sum *from)
{
	to->n_values += from->n_values;
	to->value += from->value;
	to->value_min = MIN(to->value_min, from->value_min);
	to->value_max = MAX(to->value_max, from->value_max);
}

int scope_sums_add(struct scope_sums *sums, const struct warp_scope *scopes, size_t n)
{
	if (ARRAY_ROOM(sums->of_warp, sums->cap_of_warp, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = sums->of_warp[i] = sum_of(sums, scopes[i].scope, scopes[i].parent);
		uint64_t cycles = scopes[i].leave - scopes[i].enter;
		const struct scope_sum one = {
			.n = 1, .cycles = cycles, .cycles_min = cycles, .cycles_max = cycles};

		if (at == NO_SUM)
			return -ENOMEM;
		if (!scopes[i].is_open)
			add_times(&sums->items[at], &one);
	}
	return 0;
}

/* Behind its scopes, which they are within. */
static int add_point(struct scope_sums *sums, const struct warp_point *p)
{
	uint32_t at = sum_of(sums, p->scope, p->parent);
	const struct scope_sum one = {
		.n_values = 1, .value = p->value, .value_min = p->value, .value_max = p->value};

	if (at == NO_SUM)
		return -ENOMEM;
	if (p->kind == WARP_POINT_MARK)
		sums->items[at].n_marks++;
	else
		add_values(&sums->items[at], &one);
	return 0;
}

static void add_sum(struct scope_sum *to, const struct warp_sum *s)
{
	const struct scope_sum one = {.n = s->n,
				      .cycles = s->cycles,
				      .cycles_min = s->cycles_min,
				      .cycles_max = s->cycles_max,
				      .n_values = s->n,
				      .value = s->value,
				      .value_min = s->value_min,
				      .value_max = s->value_max};

	if (!s->n)
		return;
	if (s->kind == WARP_SUM_SCOPE)
		add_times(to, &one);
	else if (s->kind == WARP_SUM_VALUE)
		add_values(to, &one);
	else
		to->n_marks += s->n;
}

/* What a warp added up by itself. */
static int add_sums(struct scope_sums *sums, const struct warp_sum *of, size_t n)
{
	if (ARRAY_ROOM(sums->of_warp, sums->cap_of_warp, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool is_event = of[i].kind == WARP_SUM_EVENT;

		sums->of_warp[i] =
			is_event ? SCOPE_SUMS_KERNEL : sum_of(sums, of[i].scope, of[i].parent);
		if (sums->of_warp[i] == NO_SUM)
			return -ENOMEM;
		if (!is_event)
			add_sum(&sums->items[sums->of_warp[i]], &of[i]);
	}
	return 0;
}

int scope_sums_add_warp(struct scope_sums *sums, const struct warp_contents *warp)
{
	int r = scope_sums_add(sums, warp->scopes, warp->n_scopes);

	for (size_t i = 0; i < warp->n_points && r == 0; i++)
		if (warp->points[i].kind == WARP_POINT_MARK ||
		    warp->points[i].kind == WARP_POINT_VALUE)
			r = add_point(sums, &warp->points[i]);
	return r < 0 ? r : add_sums(sums, warp->sums, warp->n_sums);
}

int scope_sums_add_events(struct scope_sums *sums, const struct scope_sum *events)
{
	uint32_t at = sum_of(sums, events->scope, UINT32_MAX);

	if (at == NO_SUM)
		return -ENOMEM;
	if (events->cycles_min != UINT64_MAX) {
		add_times(&sums->items[at], events);
		return 0;
	}
	sums->items[at].n_untimed += events->n;
	sums->items[at].cycles_untimed += events->cycles;
	return 0;
}
