/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define WORD_BYTES   4u
#define RECORD_WORDS (WARP_RECORD_BYTES / WORD_BYTES)
#define NO_SCOPE     UINT32_MAX

struct decoder {
	const struct warp_layout *layout;
	struct warp_losses *losses;
	struct warp_scope *scopes; /* of the warp at hand */
	size_t n, cap;
	uint32_t *open; /* indices of those that were not left, outermost first */
	size_t n_open, cap_open;
};

static uint64_t long_word(const unsigned char *p, size_t i)
{
	return warp_word(p, i) | (uint64_t)warp_word(p, i + 1) << 32;
}

/* A ring of records: n of them, the oldest first at `first`. */
struct ring {
	const unsigned char *at;
	size_t size, first, n; /* records */
};

struct record {
	bool leaves;
	uint8_t scope, type;
	uint64_t clock;
};

static struct record ring_record(const struct ring *ring, size_t i)
{
	const unsigned char *p = ring->at + (ring->first + i) % ring->size * WARP_RECORD_BYTES;
	uint32_t tag = warp_word(p, 0);

	return (struct record){
		.leaves = tag >> 31,
		.scope = tag >> 23 & 0xff,
		.type = tag >> 20 & 7,
		.clock = (uint64_t)(tag & 0x7ff) << 32 | warp_word(p, 1),
	};
}

/* What a clock of this warp counts to, less one. Which it is nobody says; one of 43 bits that stays below 2^32 wraps at
 * neither. */
static uint64_t clock_mask(const struct ring *ring)
{
	for (size_t i = 0; i < ring->n; i++)
		if (ring_record(ring, i).clock >> 32)
			return ((uint64_t)1 << 43) - 1;
	return UINT32_MAX;
}

static int enter(struct decoder *d, const struct record *record)
{
	if (ARRAY_ROOM(d->scopes, d->cap, d->n + 1) < 0 ||
	    ARRAY_ROOM(d->open, d->cap_open, d->n_open + 1) < 0)
		return -ENOMEM;
	d->scopes[d->n] = (struct warp_scope){
		.enter = record->clock, /* as it was read, until it is left */
		.parent = d->n_open ? d->open[d->n_open - 1] : NO_SCOPE,
		.scope = record->scope,
		.is_open = true,
	};
	d->open[d->n_open++] = (uint32_t)d->n++;
	return 0;
}

/* Scopes need not be left in the order in which they were entered. False: it was not entered. */
static bool leave(struct decoder *d, const struct record *record, uint64_t now, uint64_t mask)
{
	for (size_t i = d->n_open; i-- > 0;) {
		struct warp_scope *scope = &d->scopes[d->open[i]];

		if (scope->scope != record->scope)
			continue;
		scope->leave = now;
		scope->enter = now - ((record->clock - scope->enter) & mask);
		scope->is_open = false;
		memmove(&d->open[i], &d->open[i + 1], (--d->n_open - i) * sizeof(*d->open));
		return true;
	}
	return false;
}

/* Clocks are only compared with those of leaving, whose records are in their order: so one that wraps is told from an entering
 * that was written late. The first turn is 1, for what was entered in the turn before. */
static int decode_ring(struct decoder *d, const struct ring *ring)
{
	uint64_t mask = clock_mask(ring), now = mask + 1;
	bool has_left = false;

	d->n = d->n_open = 0;
	for (size_t i = 0; i < ring->n; i++) {
		struct record record = ring_record(ring, i);

		if (record.type) {
			d->losses->others++;
			continue;
		}
		if (!record.leaves) {
			if (enter(d, &record) < 0)
				return -ENOMEM;
			continue;
		}
		now = has_left ? now + ((record.clock - now) & mask) : mask + 1 + record.clock;
		has_left = true;
		if (!leave(d, &record, now, mask))
			d->losses->unmatched++;
	}
	d->losses->unmatched += d->n_open;
	return 0;
}

static int decode_block(struct decoder *d, const unsigned char *p, warp_fn *fn, void *ctx)
{
	const struct warp_layout *l = d->layout;
	size_t head = WARP_BLOCK_WORDS + l->n_warps, bytes = warp_word(p, 3);
	const struct warp_block block = {.block = warp_word(p, 1),
					 .multiprocessor = warp_word(p, 2),
					 .entered_ns = long_word(p, 4),
					 .left_ns = long_word(p, 6),
					 .copied_ns = long_word(p, 8)};
	size_t segment = bytes / l->n_recording / WARP_RECORD_BYTES * WARP_RECORD_BYTES;

	if (warp_word(p, 0) != WARP_BLOCK_MAGIC || !segment || block.block >= l->n_blocks ||
	    head * WORD_BYTES + bytes > l->block_bytes) {
		if (warp_word(p, 0))
			d->losses->broken++;
		else
			d->losses->blocks++;
		return 0;
	}
	for (uint32_t i = 0; i < l->n_recording; i++) {
		size_t written = warp_word(p, WARP_BLOCK_WORDS + l->recording[i]) / RECORD_WORDS;
		struct ring ring = {.at = p + head * WORD_BYTES + i * segment,
				    .size = segment / WARP_RECORD_BYTES,
				    .n = written};
		int r;

		if (written > ring.size) {
			ring.first = written % ring.size;
			ring.n = ring.size;
			d->losses->overwritten += written - ring.size;
		}
		r = decode_ring(d, &ring);
		if (r == 0 && ring.n)
			r = fn(ctx, &block, l->recording[i], d->scopes, d->n);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_layout(const struct warp_layout *l, size_t size)
{
	if (!l->n_warps || l->n_warps > WARP_MOST || !l->n_recording ||
	    l->n_recording > l->n_warps ||
	    l->block_bytes < (WARP_BLOCK_WORDS + l->n_warps) * WORD_BYTES ||
	    size % l->block_bytes || size / l->block_bytes > l->n_blocks)
		return false;
	for (uint32_t i = 0; i < l->n_recording; i++)
		if (l->recording[i] >= l->n_warps || (i && l->recording[i] <= l->recording[i - 1]))
			return false;
	return true;
}

int warp_records_decode(const void *data, size_t size, const struct warp_layout *layout,
			warp_fn *fn, void *ctx, struct warp_losses *losses)
{
	struct decoder d = {.layout = layout, .losses = losses};
	int r = is_layout(layout, size) ? 0 : -EINVAL;

	for (size_t at = 0; r == 0 && at < size; at += layout->block_bytes)
		r = decode_block(&d, (const unsigned char *)data + at, fn, ctx);
	free(d.scopes);
	free(d.open);
	return r;
}

static int compare_times(const void *x, const void *y)
{
	const uint64_t *const *a = x, *const *b = y;

	return COMPARE(**a, **b);
}

int warp_scopes_shift(struct warp_scope *scopes, size_t n, uint32_t cost)
{
	_cleanup_(freep) uint64_t **times = malloc((2 * n + 1) * sizeof(*times));
	size_t n_times = 0;

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (scopes[i].is_open)
			continue;
		times[n_times++] = &scopes[i].enter;
		times[n_times++] = &scopes[i].leave;
	}
	qsort(times, n_times, sizeof(*times), compare_times);
	for (size_t i = 0; i < n_times; i++)
		*times[i] -= (i + 1) * cost;
	for (size_t i = 0; i < n; i++)
		if (!scopes[i].is_open && scopes[i].leave < scopes[i].enter)
			scopes[i].leave = scopes[i].enter + cost / 2;
	return 0;
}
