// SPDX-License-Identifier: MIT
// Kernels with <proton/kernel.cuh>, of which is known what their scopes are: delays, loops that a ring has no room for, threads
// that return early, many warps at once, a graph, several streams, a function that records.
//   cuda_kernel_scopes [-n REPETITIONS]
#define PROTON_KERNEL
#include <proton/kernel.cuh>
#include <string.h>

#include "cuda_common.cuh"

__device__ __forceinline__ void wait_cycles(unsigned n)
{
	unsigned begin = proton_kernel::clock32();

	while (proton_kernel::clock32() - begin < n)
		;
}

__device__ void within(unsigned n PROTON_KERNEL_PARAMETER)
{
	PROTON_SCOPE("within");
	wait_cycles(n);
}

extern "C" __global__ void delays(unsigned a, unsigned b)
{
	PROTON_KERNEL_INIT();
	PROTON_SCOPE("delays");
	{
		PROTON_SCOPE("short");
		wait_cycles(a);
	}
	PROTON_ENTER("long");
	wait_cycles(b);
	within(a PROTON_KERNEL_ARGUMENT);
	PROTON_EXIT("long");
}

extern "C" __global__ void early(int n)
{
	PROTON_KERNEL_INIT();
	PROTON_SCOPE("all");
	if (blockIdx.x * blockDim.x + threadIdx.x >= n)
		return;
	PROTON_SCOPE("in");
	if (threadIdx.x % 2)
		return;
	wait_cycles(100);
}

extern "C" __global__ void turns(int n)
{
	PROTON_KERNEL_INIT();
	for (int i = 0; i < n; i++) {
		PROTON_SCOPE("turn");
		wait_cycles(50);
	}
}

extern "C" __global__ void plain(unsigned n)
{
	wait_cycles(n);
}

int main(int argc, char **argv)
{
	int n = argc > 2 && !strcmp(argv[1], "-n") ? atoi(argv[2]) : 10;
	cudaStream_t streams[2];
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	for (auto &s : streams)
		CHECK(cudaStreamCreate(&s));
	for (int i = 0; i < n; i++) {
		delays<<<132, 128, 0, streams[i % 2]>>>(1000, 20000);
		plain<<<1, 32, 0, streams[i % 2]>>>(1000);
	}
	early<<<100, 128>>>(100 * 128 - 70);
	turns<<<10, 64>>>(100);
	CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
	delays<<<10, 32, 0, streams[0]>>>(100, 200);
	CHECK(cudaStreamEndCapture(streams[0], &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphLaunch(exec, streams[0]));
	CHECK(cudaDeviceSynchronize());
	expect("delays", 132 * 4 * n + 30);
	expect("in", 398);
	expect("turn", 10 * 2 * 32);
	return 0;
}
