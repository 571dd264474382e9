/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BENCH_CUDA_COMMON_CUH
#define PROTON_BENCH_CUDA_COMMON_CUH
/* What the CUDA workloads share. Each prints lines for a script:
 *   expect NAME=VALUE   what a profiler must have counted, exactly
 *   maybe NAME=VALUE    what CUPTI may or may not record, or count otherwise
 *   result NAME=VALUE   what was measured */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <vector>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,              \
				cudaGetErrorString(error_));                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * t.tv_sec + t.tv_nsec;
}

static inline void expect(const char *name, unsigned long long value)
{
	printf("expect %s=%llu\n", name, value);
}

static inline void maybe(const char *name, unsigned long long value)
{
	printf("maybe %s=%llu\n", name, value);
}

static inline void result(const char *name, double value)
{
	printf("result %s=%.1f\n", name, value);
}

/* Smallest and median of measurements. */
static inline void result_spread(const char *name, std::vector<double> v)
{
	if (v.empty())
		return;
	std::sort(v.begin(), v.end());
	printf("result %s_min=%.1f\nresult %s_median=%.1f\n", name, v[0], name, v[v.size() / 2]);
}

#endif
