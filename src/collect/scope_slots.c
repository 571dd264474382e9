/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/scope_slots.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "collect/internal.h"
#include "collect/slots.h"

uint32_t scope_frame(const char *name)
{
	return frame_intern(FRAME_INSTRUMENT, string_intern(name, strlen(name)));
}

uint32_t scope_frame_unnamed(uint32_t scope)
{
	char name[SCOPE_SUMS_NAME_MAX];

	scope_sums_name(scope, name);
	return scope_frame(name);
}

static void put_sum(uint32_t slot, const struct scope_sum *sum, double n_warps)
{
	_Atomic uint64_t *values = &collector->value[collector->slot[slot].values];

	slot_add_u64(slot, SCOPES_CYCLES, sum->cycles);
	slot_add_f64(slot, SCOPES_NORMALIZED, (double)sum->cycles / n_warps);
	slot_add_u64(slot, SCOPES_ENTRIES, sum->n);
	value_lower(&values[SCOPES_MIN], sum->cycles_min);
	value_raise(&values[SCOPES_MAX], sum->cycles_max);
	slot_touch(slot);
}

int scope_slots_put(const struct scope_place *at, const struct scope_sums *sums, double n_warps,
		    scope_frame_fn *frame, const void *ctx)
{
	_cleanup_(freep) uint32_t *nodes = calloc(sums->n, sizeof(*nodes));
	uint32_t slot;

	if (!nodes)
		return -ENOMEM;
	nodes[SCOPE_SUMS_KERNEL] = at->node;
	for (size_t i = SCOPE_SUMS_KERNEL + 1; i < sums->n; i++) {
		const struct scope_sum *sum = &sums->items[i];

		nodes[i] = node_intern(nodes[sum->parent], frame(ctx, sum->scope));
		slot = sum->n ? slot_intern(nodes[i], at->lane, SET_ID_SCOPES, at->epoch)
			      : WIRE_NONE;
		if (slot != WIRE_NONE)
			put_sum(slot, sum, n_warps);
	}
	return 0;
}

void scopes_lose(uint64_t n, const char *why)
{
	char text[256];

	lose(LOSS_WARP_LAUNCHES, n);
	snprintf(text, sizeof(text), "scopes within some kernels are not in this profile: %s", why);
	collect_note(NOTE_WARNING, text);
}
