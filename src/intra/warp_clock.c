/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/util.h"

#define SAME_BLOCK                                                                                 \
	8192 /* cycles: warps of a block do not begin further apart than their clocks may be read */
#define OTHER_TURN (UINT64_C(1) << 31) /* cycles: clocks of 32 bits that began anew */

void warp_clock_done(struct warp_clock *c)
{
	free(c->shift);
	*c = (struct warp_clock){.shift = NULL};
}

uint64_t warp_last_cycle(const struct warp_trace *t, const struct warp_trace_warp *w)
{
	uint64_t last = warp_trace_first_cycle(t, w);

	if (w->left_clock > last)
		last = w->left_clock;
	for (size_t i = 0; i < w->n_scopes; i++)
		last = MAX(last, t->scopes[w->scopes + i].leave);
	return last;
}

uint64_t warp_known_cycle(const struct warp_trace *t, const struct warp_trace_warp *w)
{
	uint64_t known = UINT64_MAX;

	if (!w->n_lost)
		return warp_trace_first_cycle(t, w);
	for (size_t i = 0; i < w->n_scopes; i++)
		known = MIN(known, t->scopes[w->scopes + i].enter);
	return w->n_scopes ? known : warp_last_cycle(t, w);
}

static int compare_doubles(const void *a, const void *b)
{
	return COMPARE(*(const double *)a, *(const double *)b);
}

/* The median of what warps say: a single one may have been moved, or have been too short. */
static int find_rate(struct warp_clock *c, const struct warp_trace *t,
		     const struct warp_trace_launch *l)
{
	double *rates = malloc((l->n_warps + 1) * sizeof(*rates)), ns;
	size_t n = 0;

	if (!rates)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_warps; i++) {
		ns = warp_trace_cycle_ns(&t->warps[l->warps + i]);
		if (ns > 0)
			rates[n++] = ns;
	}
	qsort(rates, n, sizeof(*rates), compare_doubles);
	c->cycle_ns = n ? rates[n / 2] : 0;
	c->is_common = n > 0 && n == l->n_warps;
	free(rates);
	return 0;
}

/* ---- by the device's clock ---- */

/* What brings a warp's clock to that of the device, in cycles since base_ns. */
static int64_t device_shift(const struct warp_clock *c, const struct warp_trace_warp *w,
			    uint64_t base_ns)
{
	return llround((double)(int64_t)(w->entered_ns - base_ns) / c->cycle_ns) -
	       (int64_t)w->entered_clock;
}

static bool is_near(int64_t a, int64_t b)
{
	return a - b < SAME_BLOCK && b - a < SAME_BLOCK;
}

/* Warps of a block stand together. The device's clock is never ahead of what it was read at: who read the latest was nearest
 * to its step. */
static void join_blocks(struct warp_clock *c, const struct warp_trace_warp *warps, size_t n)
{
	for (size_t from = 0, to; from < n; from = to) {
		int64_t best = c->shift[from], first = best;

		for (to = from; to < n && warps[to].block == warps[from].block; to++)
			if (is_near(c->shift[to], first))
				best = MAX(best, c->shift[to]);
		for (size_t i = from; i < to; i++)
			if (is_near(c->shift[i], first))
				c->shift[i] = best;
	}
}

static void shift_by_device(struct warp_clock *c, const struct warp_trace_warp *warps, size_t n)
{
	uint64_t base_ns = n ? warps[0].entered_ns : 0;

	for (size_t i = 0; i < n; i++)
		c->shift[i] = device_shift(c, &warps[i], base_ns);
	join_blocks(c, warps, n);
}

/* ---- without it ---- */

struct begun {
	uint32_t multiprocessor, warp; /* index in the launch */
	uint64_t first;
};

static int compare_begun(const void *a, const void *b)
{
	const struct begun *x = a, *y = b;

	return x->multiprocessor != y->multiprocessor
		       ? COMPARE(x->multiprocessor, y->multiprocessor)
		       : COMPARE(x->first, y->first);
}

static int shift_by_first(struct warp_clock *c, const struct warp_trace *t,
			  const struct warp_trace_launch *l)
{
	struct begun *v = malloc((l->n_warps + 1) * sizeof(*v));
	uint64_t zero = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_warps; i++) {
		const struct warp_trace_warp *w = &t->warps[l->warps + i];

		v[i] = (struct begun){w->multiprocessor, (uint32_t)i, warp_trace_first_cycle(t, w)};
	}
	qsort(v, l->n_warps, sizeof(*v), compare_begun);
	for (size_t i = 0; i < l->n_warps; i++) {
		if (i == 0 || v[i].multiprocessor != v[i - 1].multiprocessor ||
		    v[i].first - v[i - 1].first >= OTHER_TURN)
			zero = v[i].first;
		c->shift[v[i].warp] = -(int64_t)zero;
	}
	free(v);
	return 0;
}

/* ---- both ---- */

/* The earliest is at 0. */
static void begin_at_zero(struct warp_clock *c, const struct warp_trace *t,
			  const struct warp_trace_launch *l)
{
	int64_t first = INT64_MAX, last = 0;

	for (size_t i = 0; i < l->n_warps; i++) {
		const struct warp_trace_warp *w = &t->warps[l->warps + i];

		first = MIN(first, (int64_t)warp_trace_first_cycle(t, w) + c->shift[i]);
	}
	for (size_t i = 0; i < l->n_warps; i++) {
		c->shift[i] -= first;
		last = MAX(last,
			   (int64_t)warp_last_cycle(t, &t->warps[l->warps + i]) + c->shift[i]);
	}
	c->end = (uint64_t)MAX(last, 1);
}

int warp_clock_init(struct warp_clock *c, const struct warp_trace *t, size_t launch)
{
	const struct warp_trace_launch *l = &t->launches[launch];
	int r = -ENOMEM;

	*c = (struct warp_clock){.shift = calloc(l->n_warps + 1, sizeof(*c->shift))};
	if (c->shift)
		r = find_rate(c, t, l);
	if (r == 0 && c->is_common)
		shift_by_device(c, &t->warps[l->warps], l->n_warps);
	else if (r == 0)
		r = shift_by_first(c, t, l);
	if (r < 0) {
		warp_clock_done(c);
		return r;
	}
	begin_at_zero(c, t, l);
	return 0;
}
