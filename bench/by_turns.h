/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BENCH_BY_TURNS_H
#define PROTON_BENCH_BY_TURNS_H
/* Ways to do something, compared: they take turns, so that what else the machine does is of all of them. Time is the
 * processor's. */
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/util.h"

struct way {
	const char *what;
	void (*run)(void);
	void (*prepare)(unsigned arg); /* not measured */
	unsigned arg;
};

enum { MAX_ROUNDS = 1000 };

static inline int by_turns_compare(const void *a, const void *b)
{
	return COMPARE(*(const double *)a, *(const double *)b);
}

/* A line each: the least and the middle one of so many rounds, in ns an n-th. rounds <= MAX_ROUNDS. */
static inline void by_turns(const struct way *ways, size_t n_ways, unsigned rounds, double n)
{
	double(*ns)[MAX_ROUNDS] = calloc(n_ways, sizeof(*ns));

	for (unsigned r = 0; ns && r < rounds; r++)
		for (size_t w = 0; w < n_ways; w++) {
			uint64_t start;

			ways[w].prepare(ways[w].arg);
			start = clock_thread_cpu_ns();
			ways[w].run();
			ns[w][r] = (double)(clock_thread_cpu_ns() - start) / n;
		}
	for (size_t w = 0; ns && w < n_ways; w++) {
		qsort(ns[w], rounds, sizeof(double), by_turns_compare);
		printf("%-36s min %6.1f  median %6.1f ns\n", ways[w].what, ns[w][0],
		       ns[w][rounds / 2]);
	}
	free(ns);
}

/* PROGRAM N [ROUNDS]. False: said how it is used. */
static inline bool by_turns_options(int argc, char **argv, uint32_t *ret_n, unsigned *ret_rounds)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	*ret_n = (uint32_t)n;
	*ret_rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 7;
	if (n && n <= UINT32_MAX && *ret_rounds && *ret_rounds <= MAX_ROUNDS)
		return true;
	fprintf(stderr, "usage: %s N [ROUNDS]\n", argv[0]);
	return false;
}

#endif
