/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/device_work.h"
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/hidden.h"

/* Those of one process on one device together, copies behind all else, each in the order of time. */
static int by_kind(const void *x, const void *y)
{
	const struct device_work *a = x, *b = y;

	if (a->process != b->process)
		return COMPARE(a->process, b->process);
	if (a->device != b->device)
		return COMPARE(a->device, b->device);
	if (a->is_copy != b->is_copy)
		return a->is_copy ? 1 : -1;
	return COMPARE(a->start_ns, b->start_ns);
}

static int compare_lanes(const struct device_work *a, const struct device_work *b)
{
	if (a->context != b->context)
		return COMPARE(a->context, b->context);
	if (a->stream != b->stream)
		return COMPARE(a->stream, b->stream);
	return COMPARE(a->direction, b->direction);
}

static int by_lane(const void *x, const void *y)
{
	const struct device_work *a = x, *b = y;
	int by = compare_lanes(a, b);

	return by ? by : COMPARE(a->start_ns, b->start_ns);
}

/* ---- one device ---- */

enum { RUN = 128, LANE_SPANS = 2 * RUN };

/* What a look at a device needs. Copies come in the order of time: of one lane no more has to be remembered than the
 * last of it, and all lanes use the same memory. */
struct look {
	struct session *s;
	struct coverage others;
	struct span run[RUN], lane[LANE_SPANS], scratch[LANE_SPANS];
};

/* The next of them, as many as go into a run, sorted by their start as they are. */
static uint32_t take_run(struct look *k, const struct device_work *v, size_t n)
{
	uint32_t n_run = (uint32_t)MIN(n, RUN);

	for (uint32_t i = 0; i < n_run; i++)
		k->run[i] = (struct span){v[i].start_ns, v[i].end_ns};
	return n_run;
}

/* All that is no copy is remembered whole. */
static int cover_others(struct look *k, const struct device_work *v, size_t n)
{
	uint32_t max = (uint32_t)MAX(n, 2 * RUN), n_run;
	struct span *room = calloc(2 * (size_t)max, sizeof(*room));

	if (!room)
		return -ENOMEM;
	coverage_init(&k->others, room, max);
	for (size_t i = 0; i < n; i += n_run) {
		n_run = take_run(k, v + i, n - i);
		coverage_add(&k->others, k->run, n_run);
	}
	return 0;
}

static void hide(struct look *k, const struct device_work *v, size_t n, struct hidden *h)
{
	uint32_t n_run;

	hidden_init(h, k->lane, k->scratch, LANE_SPANS);
	for (size_t i = 0; i < n; i += n_run) {
		n_run = take_run(k, v + i, n - i);
		hidden_add(h, &k->others, k->run, n_run);
	}
}

static int tell_lane(struct look *k, const struct device_work *v, size_t n)
{
	const struct session_copy_lane of = {.process = v->process,
					     .device = v->device,
					     .context = v->context,
					     .stream = v->stream,
					     .direction = v->direction};
	struct session_copy_lane *l = session_copy_lane_of(k->s, &of);
	struct hidden h;

	if (!l)
		return -ENOMEM;
	hide(k, v, n, &h);
	l->count = n;
	l->time_ns = hidden_copies_ns(&h);
	l->hidden_ns = h.hidden_ns;
	return 0;
}

static int tell_lanes(struct look *k, struct device_work *v, size_t n)
{
	int r = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_lane);
	for (size_t from = 0, to; r == 0 && from < n; from = to) {
		for (to = from + 1; to < n && compare_lanes(&v[to], &v[from]) == 0; to++)
			;
		r = tell_lane(k, v + from, to - from);
	}
	return r;
}

/* Those of one process on one device. */
static int tell_device(struct look *k, struct device_work *v, size_t n)
{
	struct session_use use = {.process = v->process, .device = v->device};
	size_t n_others = 0;
	struct hidden h;
	int r;

	while (n_others < n && !v[n_others].is_copy)
		n_others++;
	r = cover_others(k, v, n_others);
	if (r < 0)
		return r;
	hide(k, v + n_others, n - n_others, &h);
	use.copies_ns = hidden_copies_ns(&h);
	use.hidden_ns = h.hidden_ns;
	use.busy_ns = k->others.covered_ns + use.copies_ns - use.hidden_ns;
	r = session_use_set(k->s, &use);
	if (r == 0)
		r = tell_lanes(k, v + n_others, n - n_others);
	free(k->others.v);
	return r;
}

/* ---- all ---- */

int device_work_add_up(struct session *s, struct device_work *work, size_t n)
{
	_cleanup_(freep) struct look *k = n ? calloc(1, sizeof(*k)) : NULL;
	int r = 0;

	if (!n)
		return 0;
	if (!k)
		return -ENOMEM;
	k->s = s;
	qsort(work, n, sizeof(*work), by_kind);
	for (size_t from = 0, to; r == 0 && from < n; from = to) {
		for (to = from + 1; to < n && work[to].process == work[from].process &&
				    work[to].device == work[from].device;
		     to++)
			;
		r = tell_device(k, work + from, to - from);
	}
	return r;
}
