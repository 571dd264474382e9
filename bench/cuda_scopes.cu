// SPDX-License-Identifier: MIT
// Known kernels in ranges of NVTX, for hardware metrics of scopes (--metrics NAMES --range nvtx):
//   cuda_scopes
// Each kernel executes the same instructions, so a range has as many times those of the range `one` as a line "range NAME
// KERNELS" says. They nest, are of threads by turns, of a graph, many, and open at the end.
#include <nvtx3/nvToolsExt.h>
#include <thread>

#include "cuda_common.cuh"

enum { MANY = 1500, GRAPH = 4, REPLAYS = 3 };

static float *p;

__global__ void work(float *q, int n)
{
	float v = q[threadIdx.x];

	for (int i = 0; i < n; i++)
		v = v * 1.0001f + 0.5f;
	q[threadIdx.x] = v;
}

static void run(int times, cudaStream_t s = 0)
{
	for (int i = 0; i < times; i++)
		work<<<132, 128, 0, s>>>(p, 1000);
}

template <typename F> static void range(const char *name, F f)
{
	nvtxRangePushA(name);
	f();
	nvtxRangePop();
}

int main()
{
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaMalloc(&p, 1 << 20));
	CHECK(cudaMemset(p, 0, 1 << 20));
	CHECK(cudaStreamCreate(&s));
	run(10); // in no range: not to be within the first one, which begins at once
	range("one", [] { run(1); });
	range("twenty", [] { run(20); });
	range("outer", [] {
		run(3);
		range("inner", [] { run(5); });
		run(2);
	});
	range("left", [s] {
		run(1);
		std::thread([s] { range("right", [s] { run(7, s); }); }).join();
		run(1);
	});
	range("capture", [&] {
		CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
		run(GRAPH, s);
		CHECK(cudaStreamEndCapture(s, &graph));
		CHECK(cudaGraphInstantiate(&exec, graph, 0));
	});
	range("graph", [&] {
		for (int i = 0; i < REPLAYS; i++)
			CHECK(cudaGraphLaunch(exec, s));
	});
	for (int i = 0; i < MANY; i++)
		range("many", [] { run(2); });
	nvtxRangePushA("open");
	run(2);
	CHECK(cudaDeviceSynchronize());
	printf("range one 1\nrange twenty 20\nrange outer 5\nrange inner 5\nrange left 2\nrange right 7\n");
	printf("range graph %d\nrange many %d\nrange open 2\n", GRAPH * REPLAYS, 2 * MANY);
	return 0;
}
