/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_STATS_IMPL_H
#define PROTON_INTRA_WARP_STATS_IMPL_H
/* What the files of statistics share, and nobody else.
 *
 *   warp_stats.c      the tree of scopes, their sums, quantiles
 *   warp_outliers.c   blocks that stand out
 *   warp_waves.c      how blocks followed each other on multiprocessors */
#include "intra/warp_stats.h"

/* What statistics are made of. */
struct warp_sample {
	const struct warp_trace *t;
	size_t first, n;    /* launches */
	const uint32_t *of; /* of each scope its stat; the first one is that of scope `scopes` */
	size_t scopes;
	const uint32_t *kernels; /* of each launch, from the first one on */
};

/* Each returns 0 or -ENOMEM. */
int warp_stats_outliers(struct warp_stats *s, const struct warp_sample *sample);
int warp_stats_waves(struct warp_stats *s, const struct warp_sample *sample);

/* The k-th smallest of n values, k < n, which are put in another order. */
double warp_stats_nth(double *v, size_t n, size_t k);

/* Does this one have a duration? */
static inline bool warp_stats_lasts(const struct warp_trace_scope *s)
{
	return !s->is_open && (s->event == WARP_EVENT_SCOPE || s->event == WARP_EVENT_ASYNC);
}

/* Of two clocks that could disagree, as those of other warps do: never below 0. */
static inline double warp_stats_cycles(const struct warp_trace_scope *s)
{
	return s->leave > s->enter ? (double)(s->leave - s->enter) : 0;
}

#endif
