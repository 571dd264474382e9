/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_slices.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

enum form { FORM_RECORD = 0, FORM_POINT = 1, FORM_EVENT = 2, FORM_WHOLE = 3 };
enum { MORE_BITS = 11, UNITS_OF_SUM = 3, LOOKED_AT_MOST = 4096 };
enum { LONE_WARP = (1 << WARP_LONE_WARP_BITS) - 1, LONE_BLOCK_BITS = 48 };
#define LONE_BLOCK ((UINT64_C(1) << LONE_BLOCK_BITS) - 1)

/* A unit, and when it was written on the warp's clock, which does not wrap. */
struct unit {
	bool leaves;
	enum form form;
	uint32_t scope, more;
	uint64_t written, entered; /* the latter: of a whole scope */
};

/* What is made of them. */
struct decoder {
	const struct warp_ring *ring;
	uint64_t at; /* of the first unit */
	const struct warp_slice *slice;
	struct warp_contents *to;
	struct warp_losses *losses;
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
	uint32_t sum = 3 * ring_word(ring, at + WARP_SLICE_HEAD - 4), word = 2;

	for (; word < WARP_SLICE_HEAD / 4 - 2; word++)
		sum += of_pair[word % 2] * ring_word(ring, at + word * 4);
	for (word += 2; word < bytes / 4; word++)
		sum += of_unit[word % 4] * ring_word(ring, at + word * 4);
	return sum;
}

/* Of all but the sum. */
static uint32_t lone_sum(const struct warp_ring *ring, uint64_t at)
{
	static const uint32_t of_part[] = {WARP_LONE_WEIGHT, 3, 5, 7};
	uint32_t sum = 0;

	for (uint32_t word = 0; word < WARP_SLICE_LONE / 4; word++)
		if (word != 3)
			sum += of_part[word % 4] * ring_word(ring, at + word * 4);
	return sum;
}

static bool read_lone(const struct warp_ring *ring, uint64_t at, struct warp_slice *ret)
{
	uint32_t what = ring_word(ring, at + 8);
	uint64_t block = ring_long(ring, at + 24);

	if (ring_long(ring, at) != at + 1 || ring_word(ring, at + 12) != lone_sum(ring, at))
		return false;
	*ret = (struct warp_slice){
		.launch = ring_long(ring, at + 16),
		.block = block & LONE_BLOCK,
		.multiprocessor = (uint32_t)(block >> LONE_BLOCK_BITS),
		.warp = what & LONE_WARP,
		.entered_ns = ring_long(ring, at + 32),
		.entered_clock = ring_long(ring, at + 40),
		.left_ns = ring_long(ring, at + 48),
		.left_clock = ring_long(ring, at + 56),
		.written = 1,
		.n_units = 1,
		.bytes = WARP_SLICE_LONE,
		.is_lone = true,
		.scope = what >> WARP_LONE_WARP_BITS & ((1u << WARP_SCOPE_BITS) - 1),
	};
	return true;
}

bool warp_slice_read(const struct warp_ring *ring, uint64_t at, struct warp_slice *ret)
{
	uint32_t bytes = ring_word(ring, at + 8), units = bytes - WARP_SLICE_HEAD;

	if (bytes & WARP_SLICE_IS_LONE)
		return read_lone(ring, at, ret);
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
		.how = ring_word(ring, at + 76),
	};
	return true;
}

static uint64_t unit_at(const struct decoder *d, uint32_t i)
{
	return d->at + (uint64_t)i * WARP_SLICE_UNIT;
}

/* Clocks of 32 bits follow one another from `now` on. */
static struct unit read_unit(const struct decoder *d, uint32_t i, uint64_t now)
{
	uint64_t at = unit_at(d, i);
	uint32_t tag = ring_word(d->ring, at), clock = ring_word(d->ring, at + 4),
		 left = ring_word(d->ring, at + 8);
	struct unit unit = {.leaves = tag >> 31,
			    .form = (enum form)(tag >> 29 & 3),
			    .scope = tag >> MORE_BITS & ((1u << WARP_SCOPE_BITS) - 1),
			    .more = tag & ((1u << MORE_BITS) - 1)};
	bool is_whole = unit.form == FORM_WHOLE;

	unit.written = now + (uint32_t)((is_whole ? left : clock) - (uint32_t)now);
	if (d->slice->how & WARP_SLICE_CLOCK64 &&
	    (unit.form == FORM_RECORD || unit.form == FORM_EVENT))
		unit.written = ring_long(d->ring, at + 4);
	unit.entered = is_whole ? unit.written - (uint32_t)(left - clock) : unit.written;
	/* Nothing is entered before the warp begins: it was left a wrap later. */
	if (is_whole && (int64_t)(d->slice->entered_clock - unit.entered) > INT32_MAX) {
		unit.entered += UINT64_C(1) << 32;
		unit.written += UINT64_C(1) << 32;
	}
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

static void add_scope(const struct decoder *d, const struct unit *unit)
{
	struct warp_contents *to = d->to;
	struct warp_scope *open;

	if (unit->leaves && unit->form == FORM_RECORD) {
		open = find_open(to->scopes, to->n_scopes, unit->scope);
		d->losses->unmatched += !open;
		if (open) {
			open->leave = unit->written;
			open->is_open = false;
		}
		return;
	}
	to->scopes[to->n_scopes++] =
		(struct warp_scope){.enter = unit->entered,
				    .leave = unit->form == FORM_WHOLE ? unit->written : UINT64_MAX,
				    .scope = unit->scope,
				    .is_open = unit->form != FORM_WHOLE,
				    .is_whole = unit->form == FORM_WHOLE};
}

static double as_f64(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static double value_of(enum warp_value what, uint64_t bits)
{
	switch (what) {
	case WARP_U32:
		return (double)(uint32_t)bits;
	case WARP_I32:
		return (double)(int32_t)(uint32_t)bits;
	case WARP_F32:
		return warp_f32((uint32_t)bits);
	case WARP_U64:
		return (double)bits;
	case WARP_I64:
		return (double)(int64_t)bits;
	case WARP_F64:
		return as_f64(bits);
	default:
		return 0;
	}
}

static void add_event(const struct decoder *d, const struct unit *unit)
{
	d->to->points[d->to->n_points++] =
		(struct warp_point){.at = unit->written,
				    .scope = unit->scope,
				    .kind = unit->leaves ? WARP_POINT_END : WARP_POINT_BEGIN,
				    .event = unit->more};
}

/* A value that is none (NaN) is told as what is not understood. */
static void add_point(const struct decoder *d, const struct unit *unit, uint32_t i)
{
	enum warp_value what = (enum warp_value)(unit->more & WARP_VALUE_MASK);
	double value = value_of(what, ring_long(d->ring, unit_at(d, i) + 8));

	if (isnan(value)) {
		d->losses->others++;
		return;
	}
	d->to->points[d->to->n_points++] =
		(struct warp_point){.at = unit->written,
				    .scope = unit->scope,
				    .kind = what == WARP_MARK ? WARP_POINT_MARK : WARP_POINT_VALUE,
				    .value = value};
}

/* False: it is none. */
static bool add_sum(const struct decoder *d, const struct unit *unit, uint32_t i)
{
	struct warp_contents *to = d->to;
	uint64_t at = unit_at(d, i), sum = ring_long(d->ring, at + 16),
		 least = ring_long(d->ring, at + 24), most = ring_long(d->ring, at + 32);
	struct warp_sum s = {.parent = ring_word(d->ring, at + 4),
			     .scope = unit->scope,
			     .kind = (enum warp_sum_kind)(unit->more >> WARP_SUM_SHIFT),
			     .n = ring_word(d->ring, at + 8),
			     .n_begun = ring_word(d->ring, at + 12)};

	if (d->slice->n_units - i < UNITS_OF_SUM || s.kind >= WARP_SUM_KINDS ||
	    (s.parent != UINT32_MAX && s.parent >= to->n_sums))
		return false;
	if (s.kind == WARP_SUM_VALUE) {
		s.value = as_f64(sum);
		s.value_min = as_f64(least);
		s.value_max = as_f64(most);
	} else {
		s.cycles = sum;
		s.cycles_min = least;
		s.cycles_max = most;
	}
	if (s.kind == WARP_SUM_SCOPE)
		d->losses->unmatched += (s.n_begun & 1) + s.n_begun / 2;
	to->sums[to->n_sums++] = s;
	return true;
}

static bool is_sum(const struct unit *unit)
{
	return unit->form == FORM_POINT && (unit->more & WARP_VALUE_MASK) == WARP_SUM;
}

/* How many units it was. */
static uint32_t add_unit(const struct decoder *d, const struct unit *unit, uint32_t i)
{
	if (is_sum(unit) && add_sum(d, unit, i))
		return UNITS_OF_SUM;
	if (is_sum(unit))
		d->losses->others++;
	else if (unit->form == FORM_POINT)
		add_point(d, unit, i);
	else if (unit->form == FORM_EVENT)
		add_event(d, unit);
	else
		add_scope(d, unit);
	return 1;
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

/* Where the first unit's clock of 32 bits counts from: that of entering, or, where what came before it is gone, so that the last
 * one is less than 2^32 cycles before leaving. */
static uint64_t clock_before(const struct decoder *d)
{
	const struct warp_slice *s = d->slice;
	uint64_t now = s->entered_clock;

	if (s->written == s->n_units || s->how & WARP_SLICE_CLOCK64)
		return now;
	for (uint32_t i = 0; i < s->n_units; i++)
		now = read_unit(d, i, now).written;
	return s->left_clock < now
		       ? s->entered_clock
		       : s->entered_clock + ((s->left_clock - now) & ~(uint64_t)UINT32_MAX);
}

/* Is it of the kernel as a whole, of which the head has all of the clocks? It is the last one. */
static bool is_of_kernel(const struct warp_slice *s, const struct unit *unit, uint32_t i)
{
	return unit->form == FORM_WHOLE && i + 1 == s->n_units &&
	       (uint32_t)unit->entered == (uint32_t)s->entered_clock;
}

static void take_clocks_of_head(const struct warp_slice *s, struct unit *unit)
{
	unit->entered = s->entered_clock;
	unit->written =
		s->left_clock - (uint32_t)((uint32_t)s->left_clock - (uint32_t)unit->written);
}

/* When a scope was left the last time, by the latest records; else when the warp began. */
static uint64_t left_before(const struct decoder *d, uint32_t scope)
{
	const struct warp_contents *c = d->to;
	size_t last = c->n_scopes > LOOKED_AT_MOST ? c->n_scopes - LOOKED_AT_MOST : 0;

	for (size_t i = c->n_scopes; i-- > last;)
		if (c->scopes[i].scope == scope && c->scopes[i].is_whole)
			return c->scopes[i].leave;
	return d->slice->entered_clock;
}

/* A whole scope says how long it was, but for wraps; and it was not entered before it was left the last time. */
static bool may_be_longer(const struct decoder *d, const struct unit *unit)
{
	return unit->form == FORM_WHOLE && unit->entered > d->slice->entered_clock &&
	       unit->entered - d->slice->entered_clock > UINT32_MAX &&
	       unit->entered - left_before(d, unit->scope) > UINT32_MAX;
}

static void read_units(const struct decoder *d)
{
	const struct warp_slice *s = d->slice;
	uint64_t now = clock_before(d);
	bool is_unclear = false, is_known = false;

	for (uint32_t i = 0; i < s->n_units;) {
		struct unit unit = read_unit(d, i, now);

		if (!is_sum(&unit))
			now = unit.written;
		is_known = is_of_kernel(s, &unit, i);
		if (is_known)
			take_clocks_of_head(s, &unit);
		else
			is_unclear |= may_be_longer(d, &unit);
		i += add_unit(d, &unit, i);
	}
	/* Others than the kernel's wrapped between two records: not known is which. */
	if (!is_known || s->n_units > 1)
		is_unclear |= s->left_clock > now && s->left_clock - now > UINT32_MAX;
	d->losses->wraps += d->to->n_scopes && is_unclear && !(s->how & WARP_SLICE_CLOCK64);
}

static void add_lone(const struct warp_slice *s, struct warp_contents *to)
{
	to->scopes[to->n_scopes++] =
		(struct warp_scope){.enter = s->entered_clock,
				    .leave = MAX(s->entered_clock, s->left_clock),
				    .scope = s->scope,
				    .is_whole = true};
}

int warp_slice_decode(const struct warp_ring *ring, uint64_t at, const struct warp_slice *slice,
		      struct warp_contents *ret, struct warp_losses *losses)
{
	size_t room = (size_t)slice->n_units + 1;
	struct warp_contents c = {.scopes = calloc(room, sizeof(*c.scopes)),
				  .points = calloc(room, sizeof(*c.points)),
				  .sums = calloc(room, sizeof(*c.sums))};
	const struct decoder d = {ring, at + WARP_SLICE_HEAD, slice, &c, losses};

	if (!c.scopes || !c.points || !c.sums) {
		warp_contents_done(&c);
		return -ENOMEM;
	}
	if (slice->is_lone)
		add_lone(slice, &c);
	else
		read_units(&d);
	for (size_t i = 0; i < c.n_scopes; i++)
		losses->unmatched += c.scopes[i].is_open;
	*(slice->how & WARP_SLICE_SUMS ? &losses->rowless : &losses->overwritten) +=
		slice->written - slice->n_units;
	qsort(c.scopes, c.n_scopes, sizeof(*c.scopes), compare_scopes);
	place(c.scopes, c.n_scopes);
	warp_contents_place_points(&c);
	*ret = c;
	return 0;
}
