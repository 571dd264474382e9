/* SPDX-License-Identifier: MIT */
/* N empty parallel regions, and with "target" as many empty regions on the first device: what one
 * costs. The figure is that of the median block of 100.
 *
 *	omp_regions N [target]        prints `result ns_per_region=…` and `expect regions=N`
 *
 * bench/openmp.py compiles it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCK 100

static volatile int done;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void parallel(void)
{
	for (int i = 0; i < BLOCK; i++) {
#pragma omp parallel
		done = 1;
	}
}

static void target(void)
{
	for (int i = 0; i < BLOCK; i++) {
#pragma omp target
		{
		}
	}
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	void (*work)(void) = argc > 2 ? target : parallel;
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0, blocks = n / BLOCK;
	double *ns = blocks > 0 ? malloc((size_t)blocks * sizeof(*ns)) : NULL;

	if (!ns) {
		fprintf(stderr, "usage: omp_regions N [target], N at least %d\n", BLOCK);
		return 2;
	}
	for (long i = 0; i < blocks; i++) {
		double start = now_ns();

		work();
		ns[i] = (now_ns() - start) / BLOCK;
	}
	qsort(ns, (size_t)blocks, sizeof(*ns), by_size);
	printf("result ns_per_region=%.1f\nexpect regions=%ld\n", ns[blocks / 2], blocks * BLOCK);
	free(ns);
	return 0;
}
