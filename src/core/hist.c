/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/hist.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

static void add_up(uint32_t *to, uint32_t n)
{
	*to += MIN(n, UINT32_MAX - *to);
}

/* ---- of one context ---- */

void hist_done(struct hist *h)
{
	free(h->v);
	*h = (struct hist){0};
}

/* The counters of an octave, 0 when they are new; NULL: out of memory. */
static uint32_t *counters(struct hist *h, unsigned octave)
{
	struct hist_octave *grown;
	size_t at = h->n;

	while (at > 0 && h->v[at - 1].octave >= octave)
		at--;
	if (at < h->n && h->v[at].octave == octave)
		return h->v[at].n;
	grown = realloc(h->v, (h->n + 1) * sizeof(*h->v));
	if (!grown)
		return NULL;
	h->v = grown;
	memmove(&h->v[at + 1], &h->v[at], (h->n++ - at) * sizeof(*h->v));
	h->v[at] = (struct hist_octave){.octave = octave};
	return h->v[at].n;
}

int hist_count(struct hist *h, unsigned bin, uint32_t n)
{
	uint32_t *to = counters(h, bin / HIST_WIDTH);

	if (!to)
		return -ENOMEM;
	add_up(&to[bin % HIST_WIDTH], n);
	return 0;
}

int hist_put(struct hist *h, unsigned octave, const uint32_t n[HIST_WIDTH])
{
	uint32_t *to = counters(h, octave);

	if (!to)
		return -ENOMEM;
	memcpy(to, n, HIST_WIDTH * sizeof(*to));
	return 0;
}

int hist_merge(struct hist *h, const struct hist *more)
{
	for (size_t i = 0; i < more->n; i++) {
		uint32_t *to = counters(h, more->v[i].octave);

		if (!to)
			return -ENOMEM;
		for (unsigned b = 0; b < HIST_WIDTH; b++)
			add_up(&to[b], more->v[i].n[b]);
	}
	return 0;
}

uint64_t hist_total(const struct hist *h)
{
	uint64_t total = 0;

	for (size_t i = 0; i < h->n; i++)
		for (unsigned b = 0; b < HIST_WIDTH; b++)
			total += h->v[i].n[b];
	return total;
}

/* Where an old bucket begins, ns. */
static uint64_t old_start(unsigned bucket)
{
	return bucket < 16 ? bucket : (uint64_t)(4 + (bucket - 16) % 4) << ((bucket - 16) / 4 + 2);
}

int hist_count_old(struct hist *h, unsigned bucket, uint32_t n)
{
	unsigned from = hist_bin(old_start(bucket));
	unsigned width = bucket + 1 < HIST_OLD_BUCKETS ? hist_bin(old_start(bucket + 1)) - from
						       : HIST_BINS - from;
	uint64_t before = 0, end;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < width; i++, before = end) {
		end = (uint64_t)n * (i + 1) / width;
		r = end > before ? hist_count(h, from + i, (uint32_t)(end - before)) : 0;
	}
	return r;
}

/* ---- of several ---- */

void hist_sums_clear(struct hist_sums *sums)
{
	memset(sums->n + sums->from, 0, (sums->to - sums->from) * sizeof(*sums->n));
	sums->from = sums->to = 0;
}

static void widen(struct hist_sums *sums, unsigned from, unsigned to)
{
	bool empty = sums->from == sums->to;

	sums->from = empty ? from : MIN(sums->from, from);
	sums->to = empty ? to : MAX(sums->to, to);
}

void hist_sums_count(struct hist_sums *sums, unsigned bin, uint32_t n)
{
	widen(sums, bin, bin + 1);
	add_up(&sums->n[bin], n);
}

void hist_sums_add(struct hist_sums *sums, const struct hist *h)
{
	for (size_t i = 0; i < h->n; i++) {
		unsigned from = h->v[i].octave * HIST_WIDTH;

		widen(sums, from, from + HIST_WIDTH);
		for (unsigned b = 0; b < HIST_WIDTH; b++)
			add_up(&sums->n[from + b], h->v[i].n[b]);
	}
}

uint64_t hist_sums_total(const struct hist_sums *sums)
{
	uint64_t total = 0;

	for (unsigned b = sums->from; b < sums->to; b++)
		total += sums->n[b];
	return total;
}

/* In ascending order, the index of the first execution that `share` of all do not exceed. */
static uint64_t quantile_rank(double share, uint64_t total)
{
	double rank = ceil(share * (double)total * (1 - 1e-12)); /* 0.07 * 100 is more than 7 */

	return rank < 1 ? 0 : MIN((uint64_t)rank, total) - 1;
}

/* Of a bin whose executions are spread evenly, as far as one knows, nothing is said to lie at the very
 * edges: if all were at the other one, it would be wrong by the whole width. */
#define EDGE 0.05

/* Is a known shortest or longest duration in a bin? If not, it belongs to executions that are not counted
 * here. */
static bool is_in_bin(double end, unsigned bin)
{
	return !isnan(end) && hist_bin((uint64_t)end) == bin;
}

void hist_bin_ends(unsigned bin, double least, double most, double *ret_first, double *ret_last)
{
	*ret_first = (double)hist_bin_start(bin);
	*ret_last = bin + 1 < HIST_BINS ? (double)hist_bin_start(bin + 1) - 1 : *ret_first;
	if (is_in_bin(most, bin))
		*ret_last = fmin(*ret_last, most);
	if (is_in_bin(least, bin))
		*ret_first = fmin(fmax(*ret_first, least), *ret_last);
}

/* The duration of the execution with this index; want is less than their number. */
static double duration_at(const struct hist_sums *sums, uint64_t want, double least, double most)
{
	unsigned b = sums->from;
	uint64_t below = 0;
	double first, last, within;

	for (; b + 1 < sums->to && below + sums->n[b] <= want; b++)
		below += sums->n[b];
	hist_bin_ends(b, least, most, &first, &last);
	if (last <= first)
		return first;
	within = ((double)(want - below) + 0.5) / MAX(sums->n[b], 1u);
	return first - 0.5 + (last + 1 - first) * (EDGE + (1 - 2 * EDGE) * within);
}

double hist_quantile(const struct hist_sums *sums, double share, double least, double most)
{
	uint64_t total = hist_sums_total(sums), rank = total ? quantile_rank(share, total) : 0;
	double ns = total ? duration_at(sums, rank, least, most) : 0;

	if (rank == 0 && is_in_bin(least, hist_bin((uint64_t)ns)))
		return least;
	if (rank + 1 == total && is_in_bin(most, hist_bin((uint64_t)ns)))
		return most;
	return fmax(fmin(ns, most), least); /* fmin() and fmax() ignore a NaN */
}
