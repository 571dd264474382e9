// SPDX-License-Identifier: MIT
// A decode loop: one graph of kernels of 2 to 20 us and a small copy, replayed and waited for once a token:
// decode [-n tokens] [-k kernels] [-b batch] [-1] [-e] [-m].
//   -1  the same kernels and copy launched one by one
//   -e  kernels that do nothing
//   -m  prints how much memory of the device is in use by and by
// As a shared library (decode.so): decode_run(), for a profiler that wants to be in the same process.
#include <getopt.h>
#include <math.h>

#include "cuda_common.cuh"

static long long *device, *token; // token: in memory of the host that does not move

__global__ void decode_kernel(long long *p, long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*p += 1;
}

// Most are short: 4.6 us on average.
static long long cycles_of(int i, int khz, bool empty)
{
	double x = (i * 7919 % 997) / 997.0;

	return empty ? 0 : (long long)((2 + 18 * pow(x, 6)) * khz / 1000);
}

struct loop {
	int kernels, batch, khz;
	bool empty;
	cudaStream_t stream;
};

static void step(const struct loop *l)
{
	for (int i = 0; i < l->kernels; i++)
		decode_kernel<<<l->batch * 4, 128, 0, l->stream>>>(
			device, cycles_of(i, l->khz, l->empty));
	CHECK(cudaMemcpyAsync(token, device, sizeof(*token), cudaMemcpyDeviceToHost, l->stream));
}

static cudaGraphExec_t make(const struct loop *l)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(l->stream, cudaStreamCaptureModeThreadLocal));
	step(l);
	CHECK(cudaStreamEndCapture(l->stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

static double used_mib(void)
{
	size_t left, all;

	CHECK(cudaMemGetInfo(&left, &all));
	return (double)(all - left) / (1 << 20);
}

// Tokens a second.
extern "C" double decode_run(long tokens, int kernels, int batch, int one_by_one, int empty, int memory)
{
	struct loop l = {kernels, batch, 0, empty != 0, NULL};
	cudaGraphExec_t exec = NULL;
	double start = 0, paused = 0, t;

	CHECK(cudaDeviceGetAttribute(&l.khz, cudaDevAttrClockRate, 0));
	CHECK(cudaMalloc(&device, sizeof(*device)));
	CHECK(cudaMemset(device, 0, sizeof(*device)));
	CHECK(cudaMallocHost(&token, sizeof(*token)));
	CHECK(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
	step(&l); // loads the module: may not happen in a capture
	CHECK(cudaStreamSynchronize(l.stream));
	if (!one_by_one)
		exec = make(&l);
	for (long i = -20; i < tokens; i++) {
		if (i == 0)
			start = now_ns();
		if (one_by_one)
			step(&l);
		else
			CHECK(cudaGraphLaunch(exec, l.stream));
		CHECK(cudaStreamSynchronize(l.stream));
		if (memory && i >= 0 && i % (tokens / 10 + 1) == 0) {
			t = now_ns();
			result("device_mib", used_mib());
			fflush(stdout);
			paused += now_ns() - t;
		}
	}
	t = (now_ns() - start - paused) / 1e9;
	if (*token != (tokens + 21) * (long long)kernels)
		fprintf(stderr, "decode: %lld kernels have run\n", *token);
	if (exec)
		CHECK(cudaGraphExecDestroy(exec));
	return tokens / t;
}

#ifndef DECODE_LIBRARY
int main(int argc, char **argv)
{
	bool one_by_one = false, empty = false, memory = false;
	int kernels = 300, batch = 1, c;
	long tokens = 2000;

	while ((c = getopt(argc, argv, "n:k:b:1em")) != -1) {
		switch (c) {
		case 'n': tokens = std::max(1L, atol(optarg)); break;
		case 'k': kernels = std::max(1, atoi(optarg)); break;
		case 'b': batch = std::max(1, atoi(optarg)); break;
		case '1': one_by_one = true; break;
		case 'e': empty = true; break;
		case 'm': memory = true; break;
		default:
			fprintf(stderr, "usage: %s [-n TOKENS] [-k KERNELS] [-b BATCH] [-1] [-e] [-m]\n", argv[0]);
			return 2;
		}
	}
	result("tokens_per_s", decode_run(tokens, kernels, batch, one_by_one, empty, memory));
	if (!one_by_one)
		expect("graph_launches", tokens + 20);
	expect("kernels", (tokens + 21) * kernels);
	expect("DeviceToHost_count", tokens + 21);
	return 0;
}
#endif
