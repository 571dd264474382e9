/* SPDX-License-Identifier: MIT */
/* Kernels that were made to record beside what they were: cuda_ptx PLAIN.ptx PROBED.ptx [-n TURNS] [-k KERNEL].
 *
 * Both texts are loaded by the driver (cuda_ptx_kernels.cu). Each kernel runs in turn as one and as the other; printed is how much longer it
 * took as the other (median of the ratios of neighbours), and whether it wrote the same bytes. */
#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* name, symbol, parameters */
#define DRIVER(_)                                                                                  \
	_(Init, "cuInit", (unsigned))                                                              \
	_(Retain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                             \
	_(SetCurrent, "cuCtxSetCurrent", (CUcontext))                                              \
	_(Synchronize, "cuCtxSynchronize", (void))                                                 \
	_(Load, "cuModuleLoadDataEx",                                                              \
	  (CUmodule *, const void *, unsigned, CUjit_option *, void **))                           \
	_(GetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))              \
	_(Alloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                         \
	_(HtoD, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))                            \
	_(DtoH, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                                  \
	_(SetD8, "cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t))                            \
	_(EventCreate, "cuEventCreate", (CUevent *, unsigned))                                     \
	_(EventRecord, "cuEventRecord", (CUevent, CUstream))                                       \
	_(EventElapsed, "cuEventElapsedTime", (float *, CUevent, CUevent))                         \
	_(Launch, "cuLaunchKernel",                                                                \
	  (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
	   CUstream, void **, void **))

#include "driver.h"

enum { N = 2048, TURNS_MOST = 1000 };
#define BYTES ((size_t)N * N * sizeof(float))

static const struct kernel {
	const char *name;
	int grid[2], block, n;
} kernels[] = {
	{"axpy", {N * N / 256, 1}, 256, N *N - 100},
	{"tiles", {N / 16, N / 16}, 256, N},
	{"sgemm", {N / 128, N / 128}, 256, N},
	{"rows", {N, 1}, 256, N},
	{"early", {4000, 1}, 128, N *N},
	{"delays", {132, 1}, 128, 10},
	{"roles", {132, 1}, 256, 2000},
};

static CUdeviceptr arrays[3];
static CUevent events[2];

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t most = 16 << 20, n;
	char *text = malloc(most);

	if (!f || !text) {
		perror(path);
		exit(1);
	}
	n = fread(text, 1, most - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static CUmodule load(const char *path)
{
	static char why[8192];
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {why, (void *)sizeof(why)};
	char *text = read_file(path);
	CUmodule module;

	if (driver.Load(&module, text, 2, options, values)) {
		fprintf(stderr, "%s: %s\n", path, why);
		exit(1);
	}
	free(text);
	return module;
}

static void fill(void)
{
	float *numbers = malloc(BYTES);

	if (!numbers)
		exit(1);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < BYTES / sizeof(float); k++)
			numbers[k] = (float)((k * 2654435761u + (unsigned)i * 40503u) % 1000003u) /
				     1000003.0f;
		CHECK(driver.HtoD(arrays[i], numbers, BYTES));
	}
	free(numbers);
}

/* Milliseconds. */
static float run(CUfunction f, const struct kernel *k)
{
	int n = k->n;
	void *parameters[] = {&arrays[0], &arrays[1], &arrays[2], &n};
	float ms;

	CHECK(driver.EventRecord(events[0], NULL));
	CHECK(driver.Launch(f, (unsigned)k->grid[0], (unsigned)k->grid[1], 1, (unsigned)k->block, 1,
			    1, 0, NULL, parameters, NULL));
	CHECK(driver.EventRecord(events[1], NULL));
	CHECK(driver.Synchronize());
	CHECK(driver.EventElapsed(&ms, events[0], events[1]));
	return ms;
}

static char *written_by(CUfunction f, const struct kernel *k)
{
	char *bytes = malloc(BYTES);

	if (!bytes)
		exit(1);
	CHECK(driver.SetD8(arrays[2], 0xaa, BYTES));
	run(f, k);
	CHECK(driver.DtoH(bytes, arrays[2], BYTES));
	return bytes;
}

static int compare(const void *x, const void *y)
{
	float a = *(const float *)x, b = *(const float *)y;

	return (a > b) - (a < b);
}

static void try(CUmodule plain, CUmodule probed, const struct kernel *k, int n)
{
	static float ratio[TURNS_MOST];
	CUfunction f, g;
	char *a, *b;
	float before = 0, behind = 0;

	CHECK(driver.GetFunction(&f, plain, k->name));
	CHECK(driver.GetFunction(&g, probed, k->name));
	a = written_by(f, k);
	b = written_by(g, k);
	printf("expect %s_same=%d\n", k->name, !memcmp(a, b, BYTES));
	for (int i = 0; i < n; i++) {
		float ms[2];

		ms[i % 2] = run(i % 2 ? g : f, k);
		ms[(i + 1) % 2] = run(i % 2 ? f : g, k);
		ratio[i] = ms[1] / ms[0];
		before += ms[0] / (float)n;
		behind += ms[1] / (float)n;
	}
	qsort(ratio, (size_t)n, sizeof(*ratio), compare);
	printf("result %s_ratio=%.4f\nresult %s_us=%.1f\nresult %s_probed_us=%.1f\n", k->name,
	       ratio[n / 2], k->name, before * 1e3f, k->name, behind * 1e3f);
	free(a);
	free(b);
}

int main(int argc, char **argv)
{
	const char *only = NULL;
	CUmodule plain, probed;
	CUcontext context;
	int n = 21, c;

	while ((c = getopt(argc, argv, "n:k:")) != -1) {
		if (c == 'n')
			n = atoi(optarg);
		else if (c == 'k')
			only = optarg;
		else
			return 2;
	}
	if (argc - optind != 2 || n < 1 || n > TURNS_MOST)
		return 2;
	load_driver();
	CHECK(driver.Init(0));
	CHECK(driver.Retain(&context, 0));
	CHECK(driver.SetCurrent(context));
	plain = load(argv[optind]);
	probed = load(argv[optind + 1]);
	for (int i = 0; i < 3; i++)
		CHECK(driver.Alloc(&arrays[i], BYTES));
	for (int i = 0; i < 2; i++)
		CHECK(driver.EventCreate(&events[i], 0));
	fill();
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if (!only || !strcmp(only, kernels[i].name))
			try(plain, probed, &kernels[i], n);
	return 0;
}
