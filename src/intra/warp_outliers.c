/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Blocks whose mean of a scope is far above the median of all blocks: by more than five deviations, as their own median has it, and
 * by a fifth. A few blocks have no usual. */
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "intra/warp_stats_impl.h"

#define BLOCKS_LEAST  8
#define OUTLIERS_MOST 8 /* of a scope, those that are furthest off */
#define DEVIATIONS    5.0
#define DEVIATION     1.4826 /* of a normal distribution, by the median of distances */
#define TIMES_LEAST   1.2

/* What a block has of a scope. */
struct share {
	uint64_t block, n;
	double cycles; /* their sum; then their mean */
	uint32_t stat, launch, multiprocessor;
};

struct shares {
	struct share *v;
	size_t n, cap;
	size_t *latest; /* of each stat, its latest share, + 1 */
};

static struct share *share_of(struct shares *s, uint32_t stat, uint32_t launch,
			      const struct warp_trace_warp *w)
{
	struct share *latest = s->latest[stat] ? &s->v[s->latest[stat] - 1] : NULL;

	if (latest && latest->launch == launch && latest->block == w->block)
		return latest;
	if (ARRAY_ROOM(s->v, s->cap, s->n + 1) < 0)
		return NULL;
	s->v[s->n] = (struct share){.block = w->block,
				    .stat = stat,
				    .launch = launch,
				    .multiprocessor = w->multiprocessor};
	s->latest[stat] = ++s->n;
	return &s->v[s->n - 1];
}

static int add_warp(struct shares *s, const struct warp_sample *sample, uint32_t launch,
		    size_t warp)
{
	const struct warp_trace_warp *w = &sample->t->warps[warp];

	for (size_t i = 0; i < w->n_scopes; i++) {
		const struct warp_trace_scope *scope = &sample->t->scopes[w->scopes + i];
		struct share *share;

		if (!warp_stats_lasts(scope))
			continue;
		share = share_of(s, sample->of[w->scopes - sample->scopes + i], launch, w);
		if (!share)
			return -ENOMEM;
		share->n++;
		share->cycles += warp_stats_cycles(scope);
	}
	return 0;
}

static int compare_shares(const void *x, const void *y)
{
	const struct share *a = x, *b = y;

	if (a->stat != b->stat)
		return COMPARE(a->stat, b->stat);
	return a->launch != b->launch ? COMPARE(a->launch, b->launch) : COMPARE(a->block, b->block);
}

/* Warps of a block need not lie together: their shares become one; sums become means. */
static void join(struct shares *s)
{
	size_t n = 0;

	qsort(s->v, s->n, sizeof(*s->v), compare_shares);
	for (size_t i = 0; i < s->n; i++) {
		if (n > 0 && !compare_shares(&s->v[n - 1], &s->v[i])) {
			s->v[n - 1].n += s->v[i].n;
			s->v[n - 1].cycles += s->v[i].cycles;
		} else {
			s->v[n++] = s->v[i];
		}
	}
	s->n = n;
	for (size_t i = 0; i < n; i++)
		s->v[i].cycles /= (double)s->v[i].n;
}

static int compare_cycles(const void *x, const void *y)
{
	const struct share *a = x, *b = y;

	return a->cycles != b->cycles ? COMPARE(b->cycles, a->cycles) : compare_shares(a, b);
}

/* Of n shares of one scope. `work` has room for as many. */
static int add_outliers(struct warp_stats *s, struct share *v, size_t n, double *work)
{
	struct warp_stat *stat = &s->stats[v->stat];
	double median, limit;

	if (n < BLOCKS_LEAST)
		return 0;
	for (size_t i = 0; i < n; i++)
		work[i] = v[i].cycles;
	median = warp_stats_nth(work, n, n / 2);
	for (size_t i = 0; i < n; i++)
		work[i] = work[i] > median ? work[i] - median : median - work[i];
	limit = median + DEVIATIONS * DEVIATION * warp_stats_nth(work, n, n / 2);
	limit = MAX(limit, TIMES_LEAST * median);
	qsort(v, n, sizeof(*v), compare_cycles);
	stat->outliers = s->n_outliers;
	for (size_t i = 0; i < MIN(n, OUTLIERS_MOST) && v[i].cycles > limit; i++) {
		if (ARRAY_ROOM(s->outliers, s->cap_outliers, s->n_outliers + 1) < 0)
			return -ENOMEM;
		s->outliers[s->n_outliers++] =
			(struct warp_outlier){.stat = v[i].stat,
					      .launch = v[i].launch,
					      .block = v[i].block,
					      .multiprocessor = v[i].multiprocessor,
					      .cycles = v[i].cycles,
					      .times = v[i].cycles / median};
		stat->n_outliers++;
	}
	return 0;
}

static int find(struct warp_stats *s, struct shares *shares)
{
	_cleanup_(freep) double *work = malloc((shares->n + 1) * sizeof(*work));
	int r = work ? 0 : -ENOMEM;

	for (size_t i = 0, n; r == 0 && i < shares->n; i += n) {
		n = 1;
		while (i + n < shares->n && shares->v[i + n].stat == shares->v[i].stat)
			n++;
		r = add_outliers(s, &shares->v[i], n, work);
	}
	return r;
}

int warp_stats_outliers(struct warp_stats *s, const struct warp_sample *sample)
{
	struct shares shares = {.latest = calloc(s->n_stats + 1, sizeof(*shares.latest))};
	int r = shares.latest ? 0 : -ENOMEM;

	for (size_t i = sample->first; r == 0 && i < sample->first + sample->n; i++) {
		const struct warp_trace_launch *l = &sample->t->launches[i];

		for (size_t w = l->warps; r == 0 && w < l->warps + l->n_warps; w++)
			r = add_warp(&shares, sample, (uint32_t)i, w);
	}
	if (r == 0 && shares.n > 0) {
		join(&shares);
		r = find(s, &shares);
	}
	free(shares.v);
	free(shares.latest);
	return r;
}
