// SPDX-License-Identifier: MIT
// What names of functions PC sampling hands out over time (bench/cupti_pc_names.c counts them):
//   cuda_pc_names SECONDS [CUBIN]
// 16 kernels of one module in turn; with CUBIN (this file, nvcc -cubin), loaded and unloaded each time, three of its kernels.
// Says ten times what memory it has: in use of the heap, and resident.
#include <cuda.h>
#include <malloc.h>
#include <unistd.h>

#include "cuda_common.cuh"

template <int N> __device__ void chain(float *p, int n)
{
	float v = p[threadIdx.x];

	for (int i = 0; i < n; i++)
		v = v * 1.0001f + N;
	p[threadIdx.x] = v;
}

#define KERNEL(n)                                                                                  \
	extern "C" __global__ void a_kernel_with_a_name_of_usual_length_##n(float *p, int n_times) \
	{                                                                                          \
		chain<n>(p, n_times);                                                              \
	}
#define KERNELS(_)                                                                                 \
	_(10) _(11) _(12) _(13) _(14) _(15) _(16) _(17) _(20) _(21) _(22) _(23) _(24) _(25) _(26) _(27)

KERNELS(KERNEL)

static long long n_launches, n_modules;

static void by_module(CUdeviceptr memory, const char *path)
{
	const char *const names[] = {"a_kernel_with_a_name_of_usual_length_10",
				     "a_kernel_with_a_name_of_usual_length_17",
				     "a_kernel_with_a_name_of_usual_length_27"};
	int n_times = 20000;
	void *arguments[] = {&memory, &n_times};
	CUmodule module;
	CUfunction function;

	if (cuModuleLoad(&module, path) != CUDA_SUCCESS)
		exit(3);
	for (const char *name : names) {
		if (cuModuleGetFunction(&function, module, name) != CUDA_SUCCESS ||
		    cuLaunchKernel(function, 264, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL) != CUDA_SUCCESS)
			exit(4);
		n_launches++;
	}
	CHECK(cudaDeviceSynchronize());
	cuModuleUnload(module);
	n_modules++;
}

static void by_runtime(float *memory)
{
#define LAUNCH(n) a_kernel_with_a_name_of_usual_length_##n<<<264, 256>>>(memory, 20000), n_launches++;
	KERNELS(LAUNCH)
	CHECK(cudaDeviceSynchronize());
}

static void tell()
{
	struct mallinfo2 heap = mallinfo2();
	FILE *f = fopen("/proc/self/statm", "r");
	long size = 0, resident = 0;

	if (f && fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	printf("result launches=%lld modules=%lld heap_kib=%zu resident_kib=%ld\n", n_launches, n_modules,
	       (heap.uordblks + heap.hblkhd) / 1024, resident * (sysconf(_SC_PAGESIZE) / 1024));
}

int main(int argc, char **argv)
{
	double lasts_ns = 1e9 * (argc > 1 ? atof(argv[1]) : 20), from_ns = now_ns();
	float *memory;
	int n_told = 0;

	CHECK(cudaMalloc(&memory, 1 << 20));
	CHECK(cudaMemset(memory, 0, 1 << 20));
	while (n_told < 10) {
		if (argc > 2)
			by_module((CUdeviceptr)memory, argv[2]);
		else
			by_runtime(memory);
		if (now_ns() - from_ns > lasts_ns * (n_told + 1) / 10) {
			tell();
			n_told++;
		}
	}
	return 0;
}
