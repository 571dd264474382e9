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

static void put_cycles(uint32_t slot, uint64_t n, uint64_t cycles, double n_warps)
{
	slot_add_u64(slot, SCOPES_CYCLES, cycles);
	slot_add_f64(slot, SCOPES_NORMALIZED, (double)cycles / n_warps);
	slot_add_u64(slot, SCOPES_ENTRIES, n);
}

static void put_times(uint32_t slot, const struct scope_sum *sum, double n_warps)
{
	_Atomic uint64_t *values = &collector->value[collector->slot[slot].values];

	put_cycles(slot, sum->n, sum->cycles, n_warps);
	value_lower(&values[SCOPES_MIN], sum->cycles_min);
	value_raise(&values[SCOPES_MAX], sum->cycles_max);
}

static void put_untimed(uint32_t slot, const struct scope_sum *sum, double n_warps)
{
	put_cycles(slot, sum->n_untimed, sum->cycles_untimed, n_warps);
}

static void put_marks(uint32_t slot, const struct scope_sum *sum, double n_warps)
{
	(void)n_warps;
	slot_add_u64(slot, 0, sum->n_marks);
}

static void put_values(uint32_t slot, const struct scope_sum *sum, double n_warps)
{
	(void)n_warps;
	slot_add_u64(slot, VALUES_ENTRIES, sum->n_values);
	slot_add_f64(slot, VALUES_SUM, sum->value);
	slot_extend_f64(slot, VALUES_MIN, sum->value_min, false);
	slot_extend_f64(slot, VALUES_MAX, sum->value_max, true);
}

static void put_sum(uint32_t node, const struct scope_place *at, const struct scope_sum *sum,
		    double n_warps)
{
	const struct {
		uint64_t n;
		uint32_t set;
		void (*put)(uint32_t slot, const struct scope_sum *sum, double n_warps);
	} parts[] = {{sum->n, SET_ID_SCOPES, put_times},
		     {sum->n_untimed, SET_ID_SCOPE_SUMS, put_untimed},
		     {sum->n_marks, SET_ID_MARKS, put_marks},
		     {sum->n_values, SET_ID_VALUES, put_values}};
	uint32_t slot;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		slot = parts[i].n ? slot_intern(node, at->lane, parts[i].set, at->epoch)
				  : WIRE_NONE;
		if (slot == WIRE_NONE)
			continue;
		parts[i].put(slot, sum, n_warps);
		slot_touch(slot);
	}
}

int scope_slots_put(const struct scope_place *at, const struct scope_sums *sums, double n_warps,
		    scope_frame_fn *frame, const void *ctx)
{
	_cleanup_(freep) uint32_t *nodes = calloc(sums->n, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	nodes[SCOPE_SUMS_KERNEL] = at->node;
	for (size_t i = SCOPE_SUMS_KERNEL + 1; i < sums->n; i++) {
		const struct scope_sum *sum = &sums->items[i];

		nodes[i] = node_intern(nodes[sum->parent], frame(ctx, sum->scope));
		put_sum(nodes[i], at, sum, n_warps);
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
