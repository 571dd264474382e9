/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_records.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define WORD_BYTES   4u
#define RECORD_WORDS (WARP_RECORD_BYTES / WORD_BYTES)
#define NO_SCOPE     UINT32_MAX
/* Of devices that do not say it: none is as fast. */
#define CLOCK_MOST_KHZ 4294968u

enum type { TYPE_SCOPE, TYPE_EVENT, TYPE_MARK, TYPE_VALUE };
enum value {
	VALUE_BOOL = 1,
	VALUE_I8,
	VALUE_I16,
	VALUE_I32,
	VALUE_U8,
	VALUE_U16,
	VALUE_U32,
	VALUE_F16,
	VALUE_BF16,
	VALUE_F32,
};

struct decoder {
	const struct warp_layout *layout;
	struct warp_losses *losses;
	struct warp_contents warp; /* the one at hand */
	size_t cap, cap_points;
	uint64_t mask, now; /* of its clock: what it counts to, less one, and where it is */
	bool has_now;
	bool has_before; /* there is a record before, which was read then: */
	uint64_t before;
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
	uint8_t scope, type, value;
	uint32_t word; /* the second one */
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
		.value = tag >> 16 & 0xf,
		.word = warp_word(p, 1),
		.clock = (uint64_t)(tag & 0x7ff) << 32 | warp_word(p, 1),
	};
}

/* What a clock of this warp counts to, less one. Which it is nobody says; one of 43 bits that stays below 2^32 wraps at
 * neither. */
static uint64_t clock_mask(const struct ring *ring)
{
	for (size_t i = 0; i < ring->n; i++)
		if (ring_record(ring, i).type != TYPE_VALUE && ring_record(ring, i).clock >> 32)
			return ((uint64_t)1 << 43) - 1;
	return UINT32_MAX;
}

static int enter(struct decoder *d, const struct record *record)
{
	struct warp_contents *w = &d->warp;

	if (ARRAY_ROOM(w->scopes, d->cap, w->n_scopes + 1) < 0 ||
	    ARRAY_ROOM(d->open, d->cap_open, d->n_open + 1) < 0)
		return -ENOMEM;
	w->scopes[w->n_scopes] = (struct warp_scope){
		.enter = record->clock, /* as it was read, until it is left */
		.parent = d->n_open ? d->open[d->n_open - 1] : NO_SCOPE,
		.scope = record->scope,
		.is_open = true,
	};
	d->open[d->n_open++] = (uint32_t)w->n_scopes++;
	return 0;
}

/* Scopes need not be left in the order in which they were entered. False: it was not entered. */
static bool leave(struct decoder *d, const struct record *record)
{
	for (size_t i = d->n_open; i-- > 0;) {
		struct warp_scope *scope = &d->warp.scopes[d->open[i]];

		if (scope->scope != record->scope)
			continue;
		scope->leave = d->now;
		scope->enter = d->now - ((record->clock - scope->enter) & d->mask);
		scope->is_open = false;
		memmove(&d->open[i], &d->open[i + 1], (--d->n_open - i) * sizeof(*d->open));
		return true;
	}
	return false;
}

/* Clocks are only compared with those of leaving, and of what is a moment, whose records are in their order: so one that wraps
 * is told from an entering that was written late. The first turn is 1, for what was entered in the turn before. */
static void go_on(struct decoder *d, uint64_t clock)
{
	d->now = d->has_now ? d->now + ((clock - d->now) & d->mask) : d->mask + 1 + clock;
	d->has_now = true;
}

static int on_scope(struct decoder *d, const struct record *record)
{
	if (!record->leaves)
		return enter(d, record);
	go_on(d, record->clock);
	d->losses->unmatched += !leave(d, record);
	return 0;
}

static int add_point(struct decoder *d, const struct warp_point *point)
{
	struct warp_contents *w = &d->warp;

	if (ARRAY_ROOM(w->points, d->cap_points, w->n_points + 1) < 0)
		return -ENOMEM;
	w->points[w->n_points++] = *point;
	return 0;
}

/* Where a record is that may have been written late: not before what was told. */
static uint64_t time_late(struct decoder *d, uint64_t clock)
{
	if (!d->has_now || ((clock - d->now) & d->mask) <= d->mask / 2)
		go_on(d, clock);
	return d->now;
}

static int on_event(struct decoder *d, const struct record *record)
{
	struct warp_point point = {.scope = record->scope, .kind = WARP_POINT_BEGIN};

	if (record->leaves) {
		go_on(d, record->clock);
		point.kind = WARP_POINT_END;
		point.at = d->now;
	} else {
		point.at = time_late(d, record->clock);
	}
	return add_point(d, &point);
}

static int on_mark(struct decoder *d, const struct record *record)
{
	go_on(d, record->clock);
	return add_point(d, &(struct warp_point){
				    .at = d->now, .scope = record->scope, .kind = WARP_POINT_MARK});
}

/* False: it is none, or of a kind that is not known. */
static bool value_of(const struct record *record, double *ret)
{
	uint32_t word = record->word;

	switch ((enum value)record->value) {
	case VALUE_BOOL:
		*ret = word != 0;
		break;
	case VALUE_I8:
		*ret = (int8_t)word;
		break;
	case VALUE_I16:
		*ret = (int16_t)word;
		break;
	case VALUE_I32:
		*ret = (int32_t)word;
		break;
	case VALUE_U8:
		*ret = (uint8_t)word;
		break;
	case VALUE_U16:
		*ret = (uint16_t)word;
		break;
	case VALUE_U32:
		*ret = word;
		break;
	case VALUE_F16:
		*ret = warp_f16((uint16_t)word);
		break;
	case VALUE_BF16:
		*ret = warp_f32(word << 16);
		break;
	case VALUE_F32:
		*ret = warp_f32(word);
		break;
	default:
		return false;
	}
	return !isnan(*ret);
}

/* Its time is that of the record before it, which a ring may have no more. */
static int on_value(struct decoder *d, const struct record *record)
{
	struct warp_point point = {.scope = record->scope, .kind = WARP_POINT_VALUE};

	if (!d->has_before || !value_of(record, &point.value)) {
		d->losses->others++;
		return 0;
	}
	point.at = time_late(d, d->before);
	return add_point(d, &point);
}

static uint64_t first_of(const struct warp_contents *w, uint64_t now)
{
	for (size_t i = 0; i < w->n_scopes; i++)
		if (!w->scopes[i].is_open)
			now = MIN(now, w->scopes[i].enter);
	for (size_t i = 0; i < w->n_points; i++)
		now = MIN(now, w->points[i].at);
	return now;
}

/* Between two records a clock of 32 bits may wrap more often than they tell: if the block took so long, by the device's clock,
 * that there is room for one more turn. */
static bool may_have_wrapped(const struct decoder *d, const struct warp_block *block)
{
	uint32_t khz = d->layout->clock_khz ? d->layout->clock_khz : CLOCK_MOST_KHZ;
	double took_ns = (double)(int64_t)(block->left_ns - block->entered_ns);

	return d->mask == UINT32_MAX && d->has_now &&
	       took_ns * khz / 1e6 >=
		       (double)(d->now - first_of(&d->warp, d->now)) + (double)UINT32_MAX + 1;
}

static int decode_ring(struct decoder *d, const struct ring *ring)
{
	static int (*const types[])(struct decoder * d, const struct record *record) = {
		[TYPE_SCOPE] = on_scope,
		[TYPE_EVENT] = on_event,
		[TYPE_MARK] = on_mark,
		[TYPE_VALUE] = on_value,
	};
	int r = 0;

	d->warp.n_scopes = d->warp.n_points = d->n_open = 0;
	d->has_now = d->has_before = false;
	d->mask = clock_mask(ring);
	for (size_t i = 0; i < ring->n && r == 0; i++) {
		struct record record = ring_record(ring, i);

		if (record.type >= ARRAY_SIZE(types)) {
			d->losses->others++;
			continue;
		}
		r = types[record.type](d, &record);
		if (record.type == TYPE_VALUE)
			continue;
		d->has_before = true;
		d->before = record.clock;
	}
	d->losses->unmatched += d->n_open;
	warp_contents_place_points(&d->warp);
	return r;
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
		d->losses->wraps += may_have_wrapped(d, &block);
		if (r == 0 && ring.n)
			r = fn(ctx, &block, l->recording[i], &d->warp);
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
	warp_contents_done(&d.warp);
	free(d.open);
	return r;
}

static int compare_times(const void *x, const void *y)
{
	const uint64_t *const *a = x, *const *b = y;

	return COMPARE(**a, **b);
}

void warp_times_shift(uint64_t **times, size_t n, uint32_t cost)
{
	if (n > 0)
		qsort(times, n, sizeof(*times), compare_times);
	for (size_t i = 0; i < n; i++)
		*times[i] -= (i + 1) * cost;
}

int warp_contents_shift(struct warp_contents *c, uint32_t cost)
{
	_cleanup_(freep) uint64_t **times =
		malloc((2 * c->n_scopes + c->n_points + 1) * sizeof(*times));
	size_t n_times = 0;

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_scopes; i++) {
		if (c->scopes[i].is_open)
			continue;
		times[n_times++] = &c->scopes[i].enter;
		times[n_times++] = &c->scopes[i].leave;
	}
	for (size_t i = 0; i < c->n_points; i++)
		times[n_times++] = &c->points[i].at;
	warp_times_shift(times, n_times, cost);
	for (size_t i = 0; i < c->n_scopes; i++)
		if (!c->scopes[i].is_open && c->scopes[i].leave < c->scopes[i].enter)
			c->scopes[i].leave = c->scopes[i].enter + cost / 2;
	return 0;
}
