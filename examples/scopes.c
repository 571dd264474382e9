/* SPDX-License-Identifier: MIT */
/* Scopes in a program without a GPU: who spends the time, who counts what.
 *
 *	proton record -o run.hatchet ./scopes && proton view run.hatchet
 *
 * It sorts numbers in three ways, each in a scope of its own, and says how many it compared. */
#include <proton/proton.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2000

static uint64_t n_compared;

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	n_compared++;
	return (x > y) - (x < y);
}

static void fill(int *v)
{
	uint32_t x = 1;

	for (int i = 0; i < N; i++) {
		x = x * 1664525u + 1013904223u;
		v[i] = (int)(x >> 8);
	}
}

static void insertion_sort(int *v)
{
	for (int i = 1; i < N; i++)
		for (int j = i; j > 0 && compare(&v[j - 1], &v[j]) > 0; j--) {
			int t = v[j];

			v[j] = v[j - 1];
			v[j - 1] = t;
		}
}

static void merge_sort(int *v, int *tmp, int n)
{
	int half = n / 2, i = 0, j = half, k = 0;

	if (n < 2)
		return;
	/* Recursion gives nested scopes; this much depth is enough to see. */
	if (n > N / 4) {
		proton_scope("halves");
		merge_sort(v, tmp, half);
		merge_sort(v + half, tmp, n - half);
	} else {
		merge_sort(v, tmp, half);
		merge_sort(v + half, tmp, n - half);
	}
	while (i < half && j < n)
		tmp[k++] = compare(&v[i], &v[j]) <= 0 ? v[i++] : v[j++];
	while (i < half)
		tmp[k++] = v[i++];
	while (j < n)
		tmp[k++] = v[j++];
	memcpy(v, tmp, (size_t)n * sizeof(*v));
}

/* One way of sorting, in its scope; metrics go to the scope that is open. */
static void run(const char *name, int way, int *v, int *tmp)
{
	proton_scope(name);

	n_compared = 0;
	fill(v);
	if (way == 0)
		insertion_sort(v);
	else if (way == 1)
		merge_sort(v, tmp, N);
	else
		qsort(v, N, sizeof(*v), compare);
	proton_scope_metric_u64("comparisons", n_compared);
	proton_scope_property_u64("items", N);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	int *v = malloc(N * sizeof(*v)), *tmp = malloc(N * sizeof(*tmp));

	if (!v || !tmp)
		return 1;
	for (int i = 0; i < rounds; i++) {
		proton_enter_scope("round");
		run("insertion", 0, v, tmp);
		run("merge", 1, v, tmp);
		run("library", 2, v, tmp);
		proton_exit_scope();
	}
	printf("%d rounds%s\n", rounds, proton_active() ? ", profiled" : "");
	free(v);
	free(tmp);
	return 0;
}
