/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_HIST_H
#define PROTON_CORE_HIST_H
/* Histograms of durations: how many executions took how long.
 *
 *   bin   0  1 … 31 │ 32   33   …  63 │ 64   66  …  126 │ …      starts, ns
 *          octave 0 │     octave 1    │    octave 2     │        32 bins each
 *
 * Below 64 ns a bin is one ns, above it one thirty-second of where its octave begins: two durations of
 * one bin differ by 3.1 % at most. Kernels take about as long each time, so that only few octaves have
 * counters. Counts stop at UINT32_MAX.
 *   thread  one
 *   errors  0 or -ENOMEM */
#include <stddef.h>
#include <stdint.h>

#define HIST_WIDTH   32 /* bins of an octave */
#define HIST_OCTAVES 36 /* up to 18 minutes; what took longer is in the last bin */
#define HIST_BINS    (HIST_WIDTH * HIST_OCTAVES)

struct hist_octave {
	uint32_t octave;
	uint32_t n[HIST_WIDTH];
};

struct hist {
	struct hist_octave *v; /* those that something fell in, the shortest first */
	size_t n;
};

void hist_done(struct hist *h); /* it is empty then, and may be used again */
int hist_count(struct hist *h, unsigned bin, uint32_t n);
/* Replace what is known of an octave. */
int hist_put(struct hist *h, unsigned octave, const uint32_t n[HIST_WIDTH]);
int hist_merge(struct hist *h, const struct hist *more);
uint64_t hist_total(const struct hist *h);

/* Older files and tapes have four buckets an octave. Their executions are spread evenly over the bins. */
#define HIST_OLD_BUCKETS 160
int hist_count_old(struct hist *h, unsigned bucket, uint32_t n);

static inline unsigned hist_bin(uint64_t ns)
{
	unsigned log2, bin;

	if (ns < HIST_WIDTH)
		return (unsigned)ns;
	log2 = 63u - (unsigned)__builtin_clzll(ns);
	bin = (log2 - 4) * HIST_WIDTH + ((unsigned)(ns >> (log2 - 5)) & (HIST_WIDTH - 1));
	return bin < HIST_BINS ? bin : HIST_BINS - 1;
}

/* The shortest duration of a bin, ns. */
static inline uint64_t hist_bin_start(unsigned bin)
{
	unsigned octave = bin / HIST_WIDTH;

	return octave ? (uint64_t)(HIST_WIDTH + bin % HIST_WIDTH) << (octave - 1) : bin;
}

/* The sum of several. All zero: of none. */
struct hist_sums {
	uint32_t n[HIST_BINS];
	unsigned from, to; /* the others are 0 */
};

void hist_sums_clear(struct hist_sums *sums);
void hist_sums_count(struct hist_sums *sums, unsigned bin, uint32_t n);
void hist_sums_add(struct hist_sums *sums, const struct hist *h);
uint64_t hist_sums_total(const struct hist_sums *sums);
/* The shortest and the longest duration that executions of a bin may have had, where least and most, of all of
 * them, are known; NaN: they are not. */
void hist_bin_ends(unsigned bin, double least, double most, double *ret_first, double *ret_last);
/* The shortest duration that `share` (0..1) of the executions do not exceed, ns; 0 when there are none.
 * least and most: the shortest and the longest one (NaN: unknown). A place inside a bin is an
 * estimate, wrong by less than 3 %: it is one between the two, and exact for the first and the last
 * execution. */
double hist_quantile(const struct hist_sums *sums, double share, double least, double most);

#endif
