/* SPDX-License-Identifier: MIT */
/* Enters and leaves two nested scopes N times: what a scope costs. The figure is that of the median
 * block of 1,000 pairs. With a libcuda (the mock's: there is no context) the inner one allocates and releases.
 *
 *	bench/scopes [N [LIBCUDA]]     prints `result ns_per_scope=…` and `expect scopes=2N` */
#include <dlfcn.h>
#include <proton/proton.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCK 1000

static int (*allocate)(unsigned long long *address, size_t size),
	(*release)(unsigned long long address);

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double block(void)
{
	double start = now_ns();
	unsigned long long address;

	for (int i = 0; i < BLOCK; i++) {
		proton_enter_scope("outer");
		proton_enter_scope("inner");
		if (allocate && allocate(&address, 256) == 0)
			release(address);
		proton_exit_scope();
		proton_exit_scope();
	}
	return (now_ns() - start) / (2 * BLOCK);
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int load(const char *path)
{
	void *cuda = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	int (*init)(unsigned flags) = NULL;

	if (!cuda) {
		fprintf(stderr, "scopes: %s\n", dlerror());
		return -1;
	}
	*(void **)&init = dlsym(cuda, "cuInit");
	*(void **)&allocate = dlsym(cuda, "cuMemAlloc_v2");
	*(void **)&release = dlsym(cuda, "cuMemFree_v2");
	return init && allocate && release ? init(0) : -1;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000, blocks = n / BLOCK;
	double *ns = blocks > 0 ? malloc((size_t)blocks * sizeof(*ns)) : NULL;

	if (!ns) {
		fprintf(stderr, "usage: scopes [N [LIBCUDA]], N at least %d\n", BLOCK);
		return 2;
	}
	if (argc > 2 && load(argv[2]) != 0)
		return 1;
	for (long i = 0; i < blocks; i++)
		ns[i] = block();
	qsort(ns, (size_t)blocks, sizeof(*ns), by_size);
	printf("result ns_per_scope=%.1f\nexpect scopes=%ld\n", ns[blocks / 2], 2 * blocks * BLOCK);
	free(ns);
	return 0;
}
