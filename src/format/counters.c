/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "format/counters.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/busy.h"
#include "core/levels.h"

#define BUSY_COLUMNS 1000 /* of the time that a device had work in */

#define UNIT_PERCENT " %"
#define UNIT_BYTES   " (bytes/s)"
#define UNIT_HZ      " (Hz)"
#define UNIT_COUNT   " (per second)"

const struct counter_track counter_tracks[COUNTER_N] = {[COUNTER_BUSY] = {"busy %", "busy"},
							[COUNTER_MEMORY] = {"memory", "bytes"},
#define _(id, number, key, unit, title, word)                                                      \
	[COUNTER_HARDWARE + COUNTED_##id] = {title UNIT_##unit, key},
							COUNTERS(_)
#undef _
};

struct putter {
	const struct timeline *t;
	const struct session *s;
	counter_put *put;
	void *ctx;
	uint64_t first_ns; /* of the trace */
};

static uint32_t group_of(const struct timeline *t, const struct strip_lane *lane)
{
	for (size_t i = 0; i < t->n_groups; i++)
		if (t->groups[i].process == lane->process && t->groups[i].device == lane->device)
			return (uint32_t)i;
	return SESSION_NONE;
}

/* The share of each column, of what is known of it, on the clock of its own process. */
static void put_busy(const struct putter *x, uint32_t group, const struct busy *b,
		     uint64_t shift_ns)
{
	const struct busy_piece *last = &b->pieces[b->n - 1];
	uint64_t end_ns = last->start_ns + b->total_ns - last->before_ns, from_ns, to_ns;
	struct strip_view view = {b->pieces[0].start_ns, MAX(end_ns, b->pieces[0].start_ns + 1),
				  BUSY_COLUMNS};
	double share, before = -1;

	view.n = (unsigned)MIN(view.n, view.to_ns - view.from_ns);
	for (unsigned i = 0; i < view.n; i++) {
		from_ns = strip_column_ns(&view, i);
		to_ns = strip_column_ns(&view, i + 1);
		share = busy_share(b, from_ns, to_ns);
		if (!isnan(share) && share != before)
			x->put(x->ctx, group, COUNTER_BUSY, from_ns - shift_ns, share * 100);
		before = share;
	}
	if (!unrecorded_at(&b->unrecorded, view.to_ns))
		x->put(x->ctx, group, COUNTER_BUSY, view.to_ns - shift_ns, 0);
}

/* What was held before the first event is said with that. */
static int put_memory(const struct putter *x, uint32_t group, const struct strip_lane *lane)
{
	struct levels levels;
	int r = levels_init(&levels, x->s, lane->process, lane->device, 0);

	for (size_t i = 0; r == 0 && i < levels.n; i++)
		if (i + 1 == levels.n || levels.v[i + 1].start_ns > x->first_ns)
			x->put(x->ctx, group, COUNTER_MEMORY,
			       MAX(levels.v[i].start_ns, x->first_ns), levels.v[i].bytes);
	levels_done(&levels);
	return r;
}

static int put_device(const struct putter *x, const struct strips *strips, uint32_t lane)
{
	const struct strip_lane *of = &strips->lanes[lane];
	uint32_t group = group_of(x->t, of);
	struct busy busy;
	int r;

	if (group == SESSION_NONE)
		return 0;
	r = busy_init(&busy, strips, lane);
	if (r < 0)
		return r;
	if (busy.n) /* it may have pages alone */
		put_busy(x, group, &busy, of->shift_ns);
	busy_done(&busy);
	return put_memory(x, group, of);
}

/* ---- hardware ---- */

static int compare_times(const void *a, const void *b)
{
	const struct counted *x = *(const struct counted *const *)a;
	const struct counted *y = *(const struct counted *const *)b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Of a device, in the order of time: where runs were merged, theirs come one after the other. */
static size_t list_times(const struct session *s, uint32_t device, const struct counted **out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_counters; i++)
		if (s->counters[i].device == device)
			out[n++] = &s->counters[i].of;
	qsort(out, n, sizeof(*out), compare_times);
	return n;
}

/* What begins before the first event is said with that. */
static void put_times(const struct putter *x, uint32_t group, enum counter_id id,
		      const struct counted *const *times, size_t n, int64_t offset_ns)
{
	double before = NAN;

	for (size_t i = 0; i < n; i++) {
		int64_t start_ns, end_ns;

		if (isnan(times[i]->v[id]) || times[i]->v[id] == before ||
		    __builtin_sub_overflow((int64_t)times[i]->start_ns, offset_ns, &start_ns) ||
		    __builtin_sub_overflow((int64_t)times[i]->end_ns, offset_ns, &end_ns) ||
		    end_ns <= (int64_t)x->first_ns)
			continue;
		x->put(x->ctx, group, COUNTER_HARDWARE + id,
		       (uint64_t)MAX(start_ns, (int64_t)x->first_ns), times[i]->v[id]);
		before = times[i]->v[id];
	}
}

/* The first group of the device whose process told its clock beside the time of day. */
static uint32_t group_with_clock(const struct putter *x, uint32_t device, int64_t *ret_offset_ns)
{
	for (uint32_t i = 0; i < x->t->n_groups; i++) {
		const struct timeline_group *g = &x->t->groups[i];

		if (g->device == device && g->process != SESSION_NONE &&
		    session_clock_offset(x->s, g->process, ret_offset_ns))
			return i;
	}
	return SESSION_NONE;
}

static int put_hardware(const struct putter *x)
{
	_cleanup_(freep) const struct counted **times =
		malloc((x->s->n_counters + 1) * sizeof(*times));

	if (!times)
		return -ENOMEM;
	for (uint32_t device = 0; x->s->n_counters && device < x->s->n_devices; device++) {
		size_t n = list_times(x->s, device, times);
		int64_t offset_ns = 0;
		uint32_t group = n ? group_with_clock(x, device, &offset_ns) : SESSION_NONE;

		for (unsigned id = 0; group != SESSION_NONE && id < COUNTED_N; id++)
			put_times(x, group, (enum counter_id)id, times, n, offset_ns);
	}
	return 0;
}

int counters_put(const struct timeline *t, const struct session *s, counter_put *put, void *ctx)
{
	const struct putter x = {t, s, put, ctx, s->intervals[t->events[0].interval].start_ns};
	struct strips strips;
	int r = strips_init(&strips, s);

	for (uint32_t i = 0; r == 0 && i < strips.n_lanes; i++)
		if (!strips.lanes[i].is_host && strips_device_lane(&strips, i) == i)
			r = put_device(&x, &strips, i);
	if (r != -ENODATA)
		strips_done(&strips);
	return r < 0 && r != -ENODATA ? r : put_hardware(&x);
}

/* ---- what is not known ---- */

static uint64_t last_end_ns(const struct timeline *t, const struct session *s)
{
	uint64_t end_ns = 0;

	for (size_t i = 0; i < t->n_events; i++)
		end_ns = MAX(end_ns, s->intervals[t->events[i].interval].end_ns);
	return end_ns;
}

int unrecorded_put_all(const struct timeline *t, const struct session *s, unrecorded_put *put,
		       void *ctx)
{
	uint64_t first_ns = s->intervals[t->events[0].interval].start_ns,
		 last_ns = s->n_unrecorded ? last_end_ns(t, s) : 0;
	struct unrecorded all;
	int r = 0;

	for (uint32_t i = 0; s->n_unrecorded && r == 0 && i < t->n_groups; i++) {
		if (t->groups[i].device == SESSION_NONE)
			continue;
		r = unrecorded_init(&all, s, t->groups[i].process, 0);
		for (size_t k = 0; r == 0 && k < all.n; k++) {
			struct unrecorded_span span = all.v[k];

			span.start_ns = MAX(span.start_ns, first_ns);
			span.end_ns = MIN(span.end_ns, last_ns);
			if (span.start_ns < span.end_ns)
				put(ctx, i, &span);
		}
		unrecorded_done(&all);
	}
	return r;
}
