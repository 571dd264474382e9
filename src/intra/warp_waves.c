/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* How blocks followed each other on multiprocessors: how many were there at once, how often they were replaced, and how long parts of
 * the device had nothing more to run while the last ones ended.
 *
 *   SM 0  [block 0][block 4][ block 8 ]
 *   SM 1  [block 1][block 5]            │ tail
 *   SM 2  [block 2 ][block 6]           │ */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "intra/warp_stats_impl.h"

struct block {
	uint64_t block, start_ns, end_ns;
	uint32_t multiprocessor;
};

struct multiprocessor {
	size_t n, resident;
	uint64_t end_ns; /* of its last one */
};

static int compare_blocks(const void *x, const void *y)
{
	return COMPARE(((const struct block *)x)->block, ((const struct block *)y)->block);
}

/* The blocks of a launch, from the first warp that entered to the last one that left. Malloc'd; NULL: out of memory. */
static struct block *blocks_of(const struct warp_trace *t, const struct warp_trace_launch *l,
			       size_t *ret_n)
{
	struct block *v = malloc((l->n_warps + 1) * sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; v && i < l->n_warps; i++) {
		const struct warp_trace_warp *w = &t->warps[l->warps + i];

		v[i] = (struct block){w->block, w->entered_ns, w->left_ns, w->multiprocessor};
	}
	if (v)
		qsort(v, l->n_warps, sizeof(*v), compare_blocks);
	for (size_t i = 0; v && i < l->n_warps; i++) {
		if (n > 0 && v[n - 1].block == v[i].block) {
			v[n - 1].start_ns = MIN(v[n - 1].start_ns, v[i].start_ns);
			v[n - 1].end_ns = MAX(v[n - 1].end_ns, v[i].end_ns);
		} else {
			v[n++] = v[i];
		}
	}
	*ret_n = n;
	return v;
}

static int compare_places(const void *x, const void *y)
{
	const struct block *a = x, *b = y;

	return a->multiprocessor != b->multiprocessor
		       ? COMPARE(a->multiprocessor, b->multiprocessor)
		       : COMPARE(a->start_ns, b->start_ns);
}

static int compare_times(const void *x, const void *y)
{
	return COMPARE(*(const uint64_t *)x, *(const uint64_t *)y);
}

/* Of n blocks of one, in the order in which they began. `ends` has room for as many. */
static struct multiprocessor one(const struct block *v, size_t n, uint64_t *ends)
{
	struct multiprocessor m = {.n = n};
	size_t ended = 0;

	for (size_t i = 0; i < n; i++)
		ends[i] = v[i].end_ns;
	qsort(ends, n, sizeof(*ends), compare_times);
	for (size_t i = 0; i < n; i++) {
		while (ends[ended] <= v[i].start_ns && ended < i)
			ended++;
		m.resident = MAX(m.resident, i + 1 - ended);
	}
	m.end_ns = ends[n - 1];
	return m;
}

struct device {
	size_t n, n_most,
		resident; /* multiprocessors; blocks of the one with the most; blocks at once */
	uint64_t start_ns, end_ns, first_end_ns;
	double sum_end_ns; /* of each, from start_ns on */
};

static void add(struct device *d, const struct multiprocessor *m)
{
	d->n++;
	d->n_most = MAX(d->n_most, m->n);
	d->resident = MAX(d->resident, m->resident);
	d->end_ns = MAX(d->end_ns, m->end_ns);
	d->first_end_ns = MIN(d->first_end_ns, m->end_ns);
	d->sum_end_ns += (double)(int64_t)(m->end_ns - d->start_ns);
}

static void settle(struct warp_kernel *k, const struct device *d)
{
	double duration = (double)(d->end_ns - d->start_ns);

	k->n_multiprocessors = (uint32_t)d->n;
	if (!d->start_ns || d->end_ns <= d->start_ns)
		return;
	k->resident = (double)d->resident;
	k->waves = (double)d->n_most / (double)d->resident;
	k->duration_ns = duration;
	k->tail_ns = (double)(d->end_ns - d->first_end_ns);
	k->tail_share = 1 - d->sum_end_ns / ((double)d->n * duration);
}

static int look(struct warp_kernel *k, struct block *v, size_t n)
{
	_cleanup_(freep) uint64_t *ends = malloc((n + 1) * sizeof(*ends));
	struct device d = {.start_ns = UINT64_MAX, .first_end_ns = UINT64_MAX};

	if (!ends)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		d.start_ns = MIN(d.start_ns, v[i].start_ns);
	qsort(v, n, sizeof(*v), compare_places);
	for (size_t i = 0, m; i < n; i += m) {
		struct multiprocessor of;

		m = 1;
		while (i + m < n && v[i + m].multiprocessor == v[i].multiprocessor)
			m++;
		of = one(&v[i], m, ends);
		add(&d, &of);
	}
	settle(k, &d);
	return 0;
}

/* The launch that a kernel's numbers are of. */
struct best {
	size_t n; /* blocks */
	bool is_whole;
};

/* Of blocks that are not there nobody knows when they ran, nor where. */
static bool is_whole(const struct warp_trace_launch *l, size_t n_blocks)
{
	return n_blocks >= l->n_blocks;
}

static bool is_better(const struct best *a, const struct best *b)
{
	return a->is_whole != b->is_whole ? a->is_whole : a->n > b->n;
}

static void know_nothing(struct warp_kernel *k)
{
	k->resident = k->waves = k->duration_ns = k->tail_ns = k->tail_share = NAN;
}

/* A launch of a kernel, if it is better than those before. */
static int look_at(struct warp_kernel *k, struct best *best, const struct warp_trace *t,
		   uint32_t launch)
{
	const struct warp_trace_launch *l = &t->launches[launch];
	struct best here = {.n = 0};
	_cleanup_(freep) struct block *blocks = blocks_of(t, l, &here.n);
	int r;

	if (!blocks)
		return -ENOMEM;
	here.is_whole = is_whole(l, here.n);
	k->n_blocks += here.n;
	if (!here.n || !is_better(&here, best))
		return 0;
	*best = here;
	k->launch = launch;
	k->is_partial = !here.is_whole;
	know_nothing(k);
	r = look(k, blocks, here.n);
	if (k->is_partial)
		know_nothing(k);
	return r;
}

int warp_stats_waves(struct warp_stats *s, const struct warp_sample *sample)
{
	_cleanup_(freep) struct best *best = calloc(s->n_kernels + 1, sizeof(*best));
	int r = best ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->n_kernels; i++)
		know_nothing(&s->kernels[i]);
	for (size_t i = 0; r == 0 && i < sample->n; i++) {
		uint32_t kernel = sample->kernels[i];

		r = look_at(&s->kernels[kernel], &best[kernel], sample->t,
			    (uint32_t)(sample->first + i));
	}
	return r;
}
