// SPDX-License-Identifier: MIT
// Kernels whose instructions and bytes are known, for hardware metrics: cuda_ranges [N [VARIANT…]], each of them N times
// (20). Variants: graph (a captured graph of all, launched N times), threads (two of them launch into one context), reset
// (the device is reset, and all launched once more). Prints what CUPTI must have counted, per metric and kernel.
#include <string.h>

#include <thread>

#include "cuda_common.cuh"

enum { BLOCKS = 264, THREADS = 256, ROUNDS = 512, FLOATS = 64 << 20 };

__global__ void multiply_add(float *out)
{
	float a = threadIdx.x, b = blockIdx.x;

#pragma unroll 1
	for (int i = 0; i < ROUNDS; i++)
		a = __fmaf_rn(a, b, 0.5f);
	out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

__global__ void stream_copy(float4 *out, const float4 *in, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
	     i += gridDim.x * (size_t)blockDim.x)
		out[i] = in[i];
}

__global__ void nothing(void)
{
}

static float *in, *out;
static const size_t bytes = sizeof(float) * FLOATS;

static void set_up(void)
{
	CHECK(cudaMalloc(&in, bytes));
	CHECK(cudaMalloc(&out, bytes));
	CHECK(cudaMemset(in, 0, bytes));
}

static void launch(cudaStream_t s)
{
	multiply_add<<<BLOCKS, THREADS, 0, s>>>(out);
	stream_copy<<<BLOCKS, THREADS, 0, s>>>((float4 *)out, (const float4 *)in, bytes / sizeof(float4));
	nothing<<<1, 32, 0, s>>>();
}

static void launch_all(int n)
{
	for (int i = 0; i < n; i++)
		launch(0);
}

static void graph(int n)
{
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t e;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	launch(s);
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaGraphInstantiate(&e, g, 0));
	for (int i = 0; i < n; i++)
		CHECK(cudaGraphLaunch(e, s));
	CHECK(cudaStreamSynchronize(s));
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20, times = 1;
	double begin;

	set_up();
	launch(0);
	CHECK(cudaDeviceSynchronize());
	begin = now_ns();
	launch_all(n - 1);
	CHECK(cudaDeviceSynchronize());
	printf("result us_a_kernel=%.2f\n", (now_ns() - begin) / 3e3 / (n > 1 ? n - 1 : 1));
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "graph"))
			graph(n);
		if (!strcmp(argv[i], "threads")) {
			std::thread other(launch_all, n);

			launch_all(n);
			other.join();
			times += 2;
		}
		if (!strcmp(argv[i], "reset")) {
			CHECK(cudaDeviceReset());
			set_up();
			launch_all(n);
			times++;
		}
	}
	CHECK(cudaDeviceSynchronize());
	expect("kernels", 3ull * n * times);
	expect("ffma_a_kernel", (unsigned long long)BLOCKS * THREADS * ROUNDS);
	expect("copied_bytes_a_kernel", 2 * bytes);
	return 0;
}
