/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"
#include "intra/warp_clock.h"
#include "intra/warp_stats_impl.h"

#define NONE WARP_TRACE_NO_PARENT

struct maker {
	struct warp_stats *s;
	const struct warp_trace *t;
	size_t first, n;         /* launches */
	size_t scopes, n_scopes; /* of these */
	uint32_t *of;            /* of each scope its stat */
	uint32_t *kernels;       /* of each launch */
	size_t *last; /* of each stat, while they are found: the latest warp that had it, + 1 */
	size_t cap_last;
	struct idindex by_place, by_name;
	bool by_context;
};

/* ---- which kernels and scopes there are ---- */

static bool is_kernel(const void *ctx, uint32_t i, const void *key)
{
	const struct warp_kernel *a = &((const struct warp_stats *)ctx)->kernels[i], *b = key;

	return a->name == b->name && a->path == b->path;
}

static uint32_t kernel_of(struct maker *m, const struct warp_trace_launch *l)
{
	struct warp_stats *s = m->s;
	const struct warp_kernel key = {.name = l->kernel, .path = m->by_context ? l->path : 0};
	uint64_t hash = hash_pair(key.name, key.path);
	uint32_t i = idindex_find(&m->by_name, hash, is_kernel, s, &key);

	if (i != IDINDEX_NONE)
		return i;
	if (ARRAY_ROOM(s->kernels, s->cap_kernels, s->n_kernels + 1) < 0 ||
	    idindex_add(&m->by_name, hash, (uint32_t)s->n_kernels) < 0)
		return NONE;
	s->kernels[s->n_kernels] = key;
	return (uint32_t)s->n_kernels++;
}

static bool is_stat(const void *ctx, uint32_t i, const void *key)
{
	const struct warp_stat *a = &((const struct warp_stats *)ctx)->stats[i], *b = key;

	return a->kernel == b->kernel && a->parent == b->parent && a->name == b->name &&
	       a->event == b->event;
}

static uint32_t stat_of(struct maker *m, uint32_t kernel, uint32_t parent,
			const struct warp_trace_scope *scope)
{
	struct warp_stats *s = m->s;
	const struct warp_stat key = {.kernel = kernel,
				      .parent = parent,
				      .name = scope->name,
				      .event = scope->event,
				      .depth = parent == NONE ? 0 : s->stats[parent].depth + 1};
	uint64_t hash =
		hash_u64(hash_pair(kernel, parent) ^ hash_pair(scope->name, scope->event + 1));
	uint32_t i = idindex_find(&m->by_place, hash, is_stat, s, &key);

	if (i != IDINDEX_NONE)
		return i;
	if (ARRAY_ROOM(s->stats, s->cap_stats, s->n_stats + 1) < 0 ||
	    ARRAY_ROOM(m->last, m->cap_last, s->n_stats + 1) < 0 ||
	    idindex_add(&m->by_place, hash, (uint32_t)s->n_stats) < 0)
		return NONE;
	s->stats[s->n_stats] = key;
	m->last[s->n_stats] = 0;
	return (uint32_t)s->n_stats++;
}

static void count(struct maker *m, struct warp_stat *stat, const struct warp_trace_scope *scope,
		  size_t warp)
{
	size_t *last = &m->last[stat - m->s->stats];

	stat->n += !scope->is_open;
	stat->n_open += scope->is_open;
	stat->n_warps += *last != warp + 1;
	*last = warp + 1;
}

/* By its clock, or, where that was not read, what its outermost scopes took. */
static double warp_cycles(const struct warp_trace *t, const struct warp_trace_warp *w)
{
	double cycles = 0;

	if (w->left_clock > w->entered_clock)
		return (double)(w->left_clock - w->entered_clock);
	for (size_t i = w->scopes; i < w->scopes + w->n_scopes; i++)
		if (t->scopes[i].parent == NONE && t->scopes[i].event == WARP_EVENT_SCOPE &&
		    warp_stats_lasts(&t->scopes[i]))
			cycles += warp_stats_cycles(&t->scopes[i]);
	return cycles;
}

static int find_in_warp(struct maker *m, uint32_t kernel, size_t warp)
{
	const struct warp_trace_warp *w = &m->t->warps[warp];
	uint32_t *of = &m->of[w->scopes - m->scopes];

	for (size_t i = 0; i < w->n_scopes; i++) {
		const struct warp_trace_scope *scope = &m->t->scopes[w->scopes + i];

		of[i] = stat_of(m, kernel, scope->parent == NONE ? NONE : of[scope->parent], scope);
		if (of[i] == NONE)
			return -ENOMEM;
		count(m, &m->s->stats[of[i]], scope, warp);
	}
	return 0;
}

static double unknown_cycles(const struct warp_trace *t, const struct warp_trace_warp *w)
{
	uint64_t known = warp_known_cycle(t, w);

	return (double)(CLAMP(known, w->entered_clock, w->left_clock) - w->entered_clock);
}

static void add_warp(struct warp_kernel *k, const struct warp_trace *t,
		     const struct warp_trace_warp *w)
{
	k->warp_cycles += warp_cycles(t, w);
	k->n_lost += w->n_lost;
	if (w->left_clock > w->entered_clock)
		k->unknown_cycles += unknown_cycles(t, w);
	if (!(warp_trace_cycle_ns(w) > 0))
		return;
	k->clocked_cycles += (double)(w->left_clock - w->entered_clock);
	k->clocked_ns += (double)(w->left_ns - w->entered_ns);
}

static int find_in_launch(struct maker *m, size_t launch)
{
	const struct warp_trace_launch *l = &m->t->launches[launch];
	uint32_t kernel = m->kernels[launch - m->first] = kernel_of(m, l);
	int r = kernel == NONE ? -ENOMEM : 0;

	for (size_t i = l->warps; r == 0 && i < l->warps + l->n_warps; i++) {
		r = find_in_warp(m, kernel, i);
		add_warp(&m->s->kernels[kernel], m->t, &m->t->warps[i]);
	}
	if (r < 0)
		return r;
	m->s->kernels[kernel].n_launches++;
	m->s->kernels[kernel].n_warps += l->n_warps;
	m->s->kernels[kernel].n_grid_warps +=
		l->n_blocks && l->n_block_warps ? l->n_blocks * l->n_block_warps : l->n_warps;
	m->s->kernels[kernel].n_dropped += l->n_dropped;
	return 0;
}

/* ---- their order ---- */

static int compare_kernels(const void *x, const void *y, void *ctx)
{
	const struct warp_kernel *k = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return k[a].warp_cycles != k[b].warp_cycles ? COMPARE(k[b].warp_cycles, k[a].warp_cycles)
						    : COMPARE(a, b);
}

/* Of each stat how many there are in it, itself among them. */
static void sizes_of(const struct warp_stats *s, uint32_t *sizes)
{
	for (size_t i = s->n_stats; i-- > 0;) {
		sizes[i]++;
		if (s->stats[i].parent != NONE)
			sizes[s->stats[i].parent] += sizes[i];
	}
}

/* Where each goes: behind its parent, and behind all that is in its elder siblings. Parents come before what is in them. */
static void places_of(struct warp_stats *s, const uint32_t *sizes, uint32_t *free_at,
		      uint32_t *places)
{
	for (size_t i = 0; i < s->n_stats; i++) {
		const struct warp_stat *stat = &s->stats[i];
		struct warp_kernel *k = &s->kernels[stat->kernel];

		if (stat->parent == NONE) {
			places[i] = (uint32_t)(k->stats + k->n_stats);
			k->n_stats += sizes[i];
		} else {
			places[i] = free_at[stat->parent];
			free_at[stat->parent] += sizes[i];
		}
		free_at[i] = places[i] + 1;
	}
}

static int put_stats_in_order(struct maker *m)
{
	struct warp_stats *s = m->s;
	_cleanup_(freep) uint32_t *work = calloc(3 * s->n_stats + 1, sizeof(*work));
	uint32_t *sizes = work, *free_at = work + s->n_stats, *places = work + 2 * s->n_stats;
	struct warp_stat *ordered = calloc(s->n_stats + 1, sizeof(*ordered));
	size_t at = 0;

	if (!work || !ordered) {
		free(ordered);
		return -ENOMEM;
	}
	sizes_of(s, sizes);
	for (size_t i = 0; i < s->n_stats; i++)
		if (s->stats[i].parent == NONE)
			s->kernels[s->stats[i].kernel].stats += sizes[i];
	for (size_t i = 0; i < s->n_kernels; i++) {
		size_t n = s->kernels[i].stats;

		s->kernels[i].stats = at;
		at += n;
	}
	places_of(s, sizes, free_at, places);
	for (size_t i = 0; i < s->n_stats; i++) {
		ordered[places[i]] = s->stats[i];
		if (s->stats[i].parent != NONE)
			ordered[places[i]].parent = places[s->stats[i].parent];
	}
	for (size_t i = 0; i < m->n_scopes; i++)
		m->of[i] = places[m->of[i]];
	free(s->stats);
	s->stats = ordered;
	s->cap_stats = s->n_stats + 1;
	return 0;
}

static int put_kernels_in_order(struct maker *m)
{
	struct warp_stats *s = m->s;
	_cleanup_(freep) uint32_t *order = malloc((2 * s->n_kernels + 1) * sizeof(*order));
	struct warp_kernel *ordered = calloc(s->n_kernels + 1, sizeof(*ordered));
	uint32_t *places = order + s->n_kernels;

	if (!order || !ordered) {
		free(ordered);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->n_kernels; i++)
		order[i] = i;
	qsort_r(order, s->n_kernels, sizeof(*order), compare_kernels, s->kernels);
	for (uint32_t i = 0; i < s->n_kernels; i++) {
		places[order[i]] = i;
		ordered[i] = s->kernels[order[i]];
	}
	for (size_t i = 0; i < s->n_stats; i++)
		s->stats[i].kernel = places[s->stats[i].kernel];
	for (size_t i = 0; i < m->n; i++)
		m->kernels[i] = places[m->kernels[i]];
	free(s->kernels);
	s->kernels = ordered;
	s->cap_kernels = s->n_kernels + 1;
	return 0;
}

/* ---- sums and quantiles ---- */

double warp_stats_nth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		/* Hoare's: up to j nothing is above the pivot, from i on nothing below. */
		while (i <= j) {
			double swap;

			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i > j)
				break;
			swap = v[i];
			v[i++] = v[j];
			v[j] = swap;
			if (j == 0)
				break;
			j--;
		}
		if (k <= j && j < high)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

/* The least value that so much of all are not above. */
static double quantile(double *v, size_t n, double of)
{
	size_t k = (size_t)ceil(of * (double)n);

	return warp_stats_nth(v, n, k ? k - 1 : 0);
}

static double known_time(const struct warp_kernel *k)
{
	return k->warp_cycles - k->unknown_cycles;
}

static void sum_up(struct warp_stat *stat, double *v, double known_time)
{
	if (stat->event == WARP_EVENT_MARK || stat->event == WARP_EVENT_VALUE || !stat->n) {
		stat->cycles = stat->min = stat->max = stat->p50 = stat->p99 = stat->share = NAN;
		return;
	}
	stat->cycles = 0;
	stat->min = stat->max = v[0];
	for (uint64_t i = 0; i < stat->n; i++) {
		stat->cycles += v[i];
		stat->min = MIN(stat->min, v[i]);
		stat->max = MAX(stat->max, v[i]);
	}
	stat->p50 = quantile(v, stat->n, 0.5);
	stat->p99 = quantile(v, stat->n, 0.99);
	stat->share = known_time > 0 ? stat->cycles / known_time : NAN;
}

static void add_value(struct warp_stat *stat, double v)
{
	bool first = isnan(stat->value_min);

	stat->value = first ? v : stat->value + v;
	stat->value_min = first ? v : MIN(stat->value_min, v);
	stat->value_max = first ? v : MAX(stat->value_max, v);
}

/* Durations, those of a stat together; first[i]: its first one. */
static void sort_in(struct maker *m, size_t *at, double *durations)
{
	for (size_t i = 0; i < m->n_scopes; i++) {
		const struct warp_trace_scope *scope = &m->t->scopes[m->scopes + i];

		if (warp_stats_lasts(scope))
			durations[at[m->of[i]]++] = warp_stats_cycles(scope);
		else if (scope->event == WARP_EVENT_VALUE)
			add_value(&m->s->stats[m->of[i]], scope->value);
	}
}

static int sum_all(struct maker *m)
{
	struct warp_stats *s = m->s;
	_cleanup_(freep) double *durations = malloc((m->n_scopes + 1) * sizeof(*durations));
	_cleanup_(freep) size_t *at = malloc((s->n_stats + 1) * sizeof(*at));
	size_t n = 0;

	if (!durations || !at)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_stats; i++) {
		at[i] = n;
		n += s->stats[i].n;
		s->stats[i].value = s->stats[i].value_min = s->stats[i].value_max = NAN;
	}
	sort_in(m, at, durations);
	n = 0;
	for (size_t i = 0; i < s->n_stats; i++) {
		sum_up(&s->stats[i], durations + n, known_time(&s->kernels[s->stats[i].kernel]));
		n += s->stats[i].n;
	}
	return 0;
}

/* ---- all of it ---- */

static int make(struct maker *m)
{
	const struct warp_sample sample = {.t = m->t,
					   .first = m->first,
					   .n = m->n,
					   .of = m->of,
					   .scopes = m->scopes,
					   .kernels = m->kernels};
	int r = m->of && m->kernels ? 0 : -ENOMEM;

	for (size_t i = m->first; r == 0 && i < m->first + m->n; i++)
		r = find_in_launch(m, i);
	if (r == 0)
		r = put_kernels_in_order(m);
	if (r == 0)
		r = put_stats_in_order(m);
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->s->n_kernels; i++)
		m->s->kernels[i].cycle_ns =
			m->s->kernels[i].clocked_ns / m->s->kernels[i].clocked_cycles;
	r = sum_all(m);
	if (r == 0)
		r = warp_stats_outliers(m->s, &sample);
	return r == 0 ? warp_stats_waves(m->s, &sample) : r;
}

/* Scopes of launches lie together, as these do. */
static void find_scopes(struct maker *m)
{
	const struct warp_trace *t = m->t;

	for (size_t i = m->first; i < m->first + m->n; i++)
		for (size_t w = t->launches[i].warps;
		     w < t->launches[i].warps + t->launches[i].n_warps; w++) {
			if (!m->n_scopes)
				m->scopes = t->warps[w].scopes;
			m->n_scopes += t->warps[w].n_scopes;
		}
}

static int init(struct warp_stats *s, const struct warp_trace *t, size_t first, size_t n,
		bool by_context)
{
	struct maker m = {.s = s, .t = t, .first = first, .n = n, .by_context = by_context};
	int r;

	*s = (struct warp_stats){.n_kernels = 0};
	find_scopes(&m);
	m.of = malloc((m.n_scopes + 1) * sizeof(*m.of));
	m.kernels = malloc((n + 1) * sizeof(*m.kernels));
	r = make(&m);
	free(m.of);
	free(m.kernels);
	free(m.last);
	idindex_done(&m.by_place);
	idindex_done(&m.by_name);
	if (r < 0)
		warp_stats_done(s);
	return r;
}

int warp_stats_init(struct warp_stats *s, const struct warp_trace *t, size_t first, size_t n)
{
	return init(s, t, first, n, false);
}

int warp_stats_init_contexts(struct warp_stats *s, const struct warp_trace *t, size_t first,
			     size_t n)
{
	return init(s, t, first, n, true);
}

void warp_stats_done(struct warp_stats *s)
{
	free(s->kernels);
	free(s->stats);
	free(s->outliers);
	*s = (struct warp_stats){.n_kernels = 0};
}
