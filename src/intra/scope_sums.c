/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/scope_sums.h"

#include <errno.h>
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
	sums->items[sums->n] = (struct scope_sum){
		.parent = place->parent, .scope = place->scope, .cycles_min = UINT64_MAX};
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

static uint32_t sum_of(struct scope_sums *sums, const struct warp_scope *scope)
{
	const struct place place = {.parent = scope->parent == UINT32_MAX
						      ? SCOPE_SUMS_KERNEL
						      : sums->of_warp[scope->parent],
				    .scope = scope->scope};
	uint32_t i = scope->scope < WARP_SCOPES ? sums->placed[scope->scope] : SCOPE_SUMS_KERNEL;

	if (i != SCOPE_SUMS_KERNEL)
		return i;
	i = idindex_find(&sums->index, hash_pair(place.parent, place.scope), is_at, sums, &place);
	return i == IDINDEX_NONE ? make(sums, &place) : i;
}

int scope_sums_add(struct scope_sums *sums, const struct warp_scope *scopes, size_t n)
{
	if (ARRAY_ROOM(sums->of_warp, sums->cap_of_warp, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = sums->of_warp[i] = sum_of(sums, &scopes[i]);
		uint64_t cycles = scopes[i].leave - scopes[i].enter;
		struct scope_sum *sum;

		if (at == NO_SUM)
			return -ENOMEM;
		if (scopes[i].is_open)
			continue;
		sum = &sums->items[at];
		sum->n++;
		sum->cycles += cycles;
		sum->cycles_min = MIN(sum->cycles_min, cycles);
		sum->cycles_max = MAX(sum->cycles_max, cycles);
	}
	return 0;
}
