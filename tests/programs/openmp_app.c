/* SPDX-License-Identifier: MIT */
/* openmp_app LIBRARY N [LIBCUDA]: N target regions of a runtime that is a mock, N copies to a GPU that
 * another backend would see, all in a parallel region; the program ends in another target region. With
 * LIBCUDA, N regions before that of which the runtime and CUPTI both tell. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "mocks/mock_omp.h"

static struct mock_omp *omp;

/* Compiled code would call the runtime here, and be called from there. */
__attribute__((noinline)) static void daxpy(int device, int endpoint)
{
	__label__ here;
here:
	omp->target(ABI_TARGET_REGION, endpoint, device, (const char *)&&here + 1);
}

__attribute__((noinline)) static void solve(int endpoint)
{
	__label__ here;
here:
	omp->parallel(endpoint, 0, (const char *)&&here + 1);
}

__attribute__((noinline)) static void dgemm(int endpoint)
{
	__label__ here;
here:
	omp->target(ABI_TARGET_REGION, endpoint, 1, (const char *)&&here + 1);
}

/* What a runtime does for a device of CUDA, and tells. */
static void on_cuda(const char *path, int n)
{
	uint32_t (*init)(uint32_t), (*to_device)(uint64_t, const void *, size_t);
	uint32_t (*launch)(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
			   uint32_t, void *, void **, void **);
	void *driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	static char host[2000];

	if (!driver)
		exit(2);
	*(void **)&init = dlsym(driver, "cuInit");
	*(void **)&to_device = dlsym(driver, "cuMemcpyHtoD_v2");
	*(void **)&launch = dlsym(driver, "cuLaunchKernel");
	init(0);
	for (; n > 0; n--) {
		dgemm(ABI_BEGIN);
		omp->copy(ABI_TO_DEVICE, 4, 1, sizeof(host));
		to_device(4096, host, sizeof(host));
		omp->kernel();
		launch("gemm", 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		dgemm(ABI_END);
	}
}

int main(int argc, char **argv)
{
	void *handle = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	mock_omp_fn *get;
	int n;

	if (!handle)
		return 2;
	*(void **)&get = dlsym(handle, "mock_omp");
	omp = get();
	printf("%s\n", omp->start() ? "a tool" : "no tool");
	omp->device(0, "generic-64bit");
	omp->device(1, "sm_90");
	if (argc > 3)
		on_cuda(argv[3], (int)strtol(argv[2], NULL, 10));
	solve(ABI_BEGIN);
	for (n = (int)strtol(argv[2], NULL, 10); n > 0; n--) {
		daxpy(0, ABI_BEGIN);
		omp->copy(ABI_TO_DEVICE, 4, 0, 1000);
		omp->kernel();
		daxpy(0, ABI_END);
		omp->copy(ABI_TO_DEVICE, 4, 1, 1000);
	}
	solve(ABI_END);
	daxpy(1, ABI_BEGIN);
	return 7;
}
