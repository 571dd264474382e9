// SPDX-License-Identifier: MIT
// A graph that kernels launch, and the host: cuda_device_graphs. Recorded whole (--graphs whole) each run of it is there,
// as are those of the graphs in which the kernels ran that launched it.
#include "cuda_common.cuh"

enum { FORGET = 3, TAIL = 2, HOST = 1 };

static cudaStream_t stream;

__global__ void launched_kernel(long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
}

__global__ void forget_kernel(cudaGraphExec_t exec)
{
	cudaGraphLaunch(exec, cudaStreamGraphFireAndForget);
}

__global__ void tail_kernel(cudaGraphExec_t exec)
{
	cudaGraphLaunch(exec, cudaStreamGraphTailLaunch);
}

template <typename F> static cudaGraphExec_t made(F work, unsigned flags)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	work();
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, flags));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

static void run(cudaGraphExec_t exec, int times)
{
	for (int i = 0; i < times; i++) {
		CHECK(cudaGraphLaunch(exec, stream));
		CHECK(cudaStreamSynchronize(stream));
	}
}

int main()
{
	cudaGraphExec_t launched, forget, tail;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	launched = made(
		[] {
			launched_kernel<<<1, 1, 0, stream>>>(200000);
			launched_kernel<<<1, 1, 0, stream>>>(100000);
		},
		cudaGraphInstantiateFlagDeviceLaunch);
	CHECK(cudaGraphUpload(launched, stream));
	forget = made([&] { forget_kernel<<<1, 1, 0, stream>>>(launched); }, 0);
	tail = made([&] { tail_kernel<<<1, 1, 0, stream>>>(launched); }, 0);
	run(forget, FORGET);
	run(tail, TAIL);
	run(launched, HOST);
	CHECK(cudaDeviceSynchronize());
	expect("graph_count", 2 * FORGET + 2 * TAIL + HOST);
	expect("graph_kernels_count", FORGET + TAIL + 2 * (FORGET + TAIL + HOST));
	return 0;
}
