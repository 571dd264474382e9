/* SPDX-License-Identifier: MIT */
/* Threads of OpenMP, each with scopes of its own: who of them waits for whom.
 *
 *	cc -O2 -fopenmp -o openmp_threads openmp_threads.c
 *	proton record -o run.hatchet ./openmp_threads && proton report --view host run.hatchet
 *
 * Rows of a triangle are dealt out in equal shares, so that the last thread has the most to do. Each
 * thread's scope says how long it was at it. */
#include <omp.h>
#include <proton/proton.h>
#include <stdio.h>
#include <stdlib.h>

static double row_sum(const double *row, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += row[i] * row[i];
	return s;
}

static double triangle_sum(const double *m, int n)
{
	double total = 0;

#pragma omp parallel reduction(+ : total)
	{
		char name[32];

		snprintf(name, sizeof(name), "thread_%d", omp_get_thread_num());
		proton_enter_scope(name);
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++)
			total += row_sum(m + (size_t)i * n, i + 1);
		proton_exit_scope();
	}
	return total;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2000, rounds = argc > 2 ? atoi(argv[2]) : 50;
	double *m = n > 0 ? malloc((size_t)n * n * sizeof(*m)) : NULL, total = 0;

	if (!m)
		return 1;
	for (size_t i = 0; i < (size_t)n * n; i++)
		m[i] = 1.0 / (double)(i % 97 + 1);
	for (int i = 0; i < rounds; i++) {
		proton_scope("triangle");
		proton_scope_metric("flops64", (double)n * (n + 1));
		total += triangle_sum(m, n);
	}
	printf("%.3f with %d threads\n", total, omp_get_max_threads());
	free(m);
	return 0;
}
