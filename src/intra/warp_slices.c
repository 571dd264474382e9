/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_slices.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

enum form { FORM_RECORD = 0, FORM_WHOLE = 3 };

/* A unit, and when it was written on the warp's clock, which does not wrap. */
struct unit {
	bool leaves;
	enum form form;
	uint32_t scope;
	uint64_t written, entered; /* the latter: of a whole scope */
};

static uint32_t ring_word(const struct warp_ring *ring, uint64_t position)
{
	return warp_word((const char *)ring->data + (position & (ring->size - 1)), 0);
}

static uint64_t ring_long(const struct warp_ring *ring, uint64_t position)
{
	return ring_word(ring, position) | (uint64_t)ring_word(ring, position + 4) << 32;
}

/* Of all but the first pair, and the last one, which is it. */
static uint32_t sum_of(const struct warp_ring *ring, uint64_t at, uint32_t bytes)
{
	static const uint32_t of_pair[] = {1, 3}, of_unit[] = {1, 3, 5, 7};
	uint32_t sum = 0, word = 2;

	for (; word < WARP_SLICE_HEAD / 4 - 2; word++)
		sum += of_pair[word % 2] * ring_word(ring, at + word * 4);
	for (word += 2; word < bytes / 4; word++)
		sum += of_unit[word % 4] * ring_word(ring, at + word * 4);
	return sum;
}

bool warp_slice_read(const struct warp_ring *ring, uint64_t at, struct warp_slice *ret)
{
	uint32_t bytes = ring_word(ring, at + 8), units = bytes - WARP_SLICE_HEAD;

	if (ring_long(ring, at) != at + 1 || bytes < WARP_SLICE_HEAD || bytes > ring->size ||
	    units % WARP_SLICE_UNIT || units / WARP_SLICE_UNIT > WARP_UNITS_MOST ||
	    ring_word(ring, at + 12) < units / WARP_SLICE_UNIT ||
	    ring_word(ring, at + 72) != sum_of(ring, at, bytes))
		return false;
	*ret = (struct warp_slice){
		.launch = ring_long(ring, at + 16),
		.block = ring_long(ring, at + 24),
		.multiprocessor = ring_word(ring, at + 32),
		.warp = ring_word(ring, at + 36),
		.entered_ns = ring_long(ring, at + 40),
		.left_ns = ring_long(ring, at + 56),
		.entered_clock = ring_long(ring, at + 48),
		.left_clock = ring_long(ring, at + 64),
		.written = ring_word(ring, at + 12),
		.n_units = units / WARP_SLICE_UNIT,
		.bytes = bytes,
	};
	return true;
}

/* Clocks of 32 bits follow one another from `now` on. */
static struct unit read_unit(const struct warp_ring *ring, uint64_t at, uint64_t now)
{
	uint32_t tag = ring_word(ring, at), clock = ring_word(ring, at + 4),
		 left = ring_word(ring, at + 8);
	struct unit unit = {.leaves = tag >> 31,
			    .form = (enum form)(tag >> 29 & 3),
			    .scope = tag >> 11 & ((1u << WARP_SCOPE_BITS) - 1)};
	bool is_whole = unit.form == FORM_WHOLE;

	unit.written = now + (uint32_t)((is_whole ? left : clock) - (uint32_t)now);
	unit.entered = is_whole ? unit.written - (uint32_t)(left - clock) : unit.written;
	return unit;
}

/* The innermost one that is open, as far as its leaving is not known. */
static struct warp_scope *find_open(struct warp_scope *scopes, size_t n, uint32_t scope)
{
	for (size_t i = n; i-- > 0;)
		if (scopes[i].is_open && scopes[i].scope == scope)
			return &scopes[i];
	return NULL;
}

static bool add_unit(struct warp_scope *scopes, size_t *n, const struct unit *unit)
{
	struct warp_scope *open;

	if (unit->leaves && unit->form == FORM_RECORD) {
		open = find_open(scopes, *n, unit->scope);
		if (open) {
			open->leave = unit->written;
			open->is_open = false;
		}
		return open;
	}
	scopes[(*n)++] =
		(struct warp_scope){.enter = unit->entered,
				    .leave = unit->form == FORM_WHOLE ? unit->written : UINT64_MAX,
				    .scope = unit->scope,
				    .is_open = unit->form != FORM_WHOLE};
	return true;
}

static int compare_scopes(const void *x, const void *y)
{
	const struct warp_scope *a = x, *b = y;

	return a->enter != b->enter ? COMPARE(a->enter, b->enter) : COMPARE(b->leave, a->leave);
}

/* In their order; the one that each was entered in is the innermost that was not left by then. */
static void place(struct warp_scope *scopes, size_t n)
{
	uint32_t parent = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		while (parent != UINT32_MAX && scopes[parent].leave <= scopes[i].enter)
			parent = scopes[parent].parent;
		scopes[i].parent = parent;
		parent = (uint32_t)i;
	}
}

int warp_slice_scopes(const struct warp_ring *ring, uint64_t at, const struct warp_slice *slice,
		      struct warp_scope **ret_scopes, size_t *ret_n, struct warp_losses *losses)
{
	struct warp_scope *scopes = calloc(slice->n_units + 1, sizeof(*scopes));
	uint64_t now = slice->entered_clock;
	size_t n = 0;

	if (!scopes)
		return -ENOMEM;
	for (uint32_t i = 0; i < slice->n_units; i++) {
		struct unit unit = read_unit(ring, at + WARP_SLICE_HEAD + i * WARP_SLICE_UNIT, now);

		now = unit.written;
		if (unit.form != FORM_RECORD && unit.form != FORM_WHOLE)
			losses->others++;
		else if (!add_unit(scopes, &n, &unit))
			losses->unmatched++;
	}
	for (size_t i = 0; i < n; i++)
		losses->unmatched += scopes[i].is_open;
	losses->overwritten += slice->written - slice->n_units;
	qsort(scopes, n, sizeof(*scopes), compare_scopes);
	place(scopes, n);
	*ret_scopes = scopes;
	*ret_n = n;
	return 0;
}
