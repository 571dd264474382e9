// SPDX-License-Identifier: MIT
// Copies timed by events of CUDA: cuda_bandwidth. Each size and direction in a scope of its own, 20 times, one copy between
// two events. Prints `expect_gbs SCOPE GB/S`: bytes over the sum of these times. bench/cuda_bandwidth.py compares.
#include <proton/proton.h>

#include "cuda_common.cuh"

static const int rounds = 20;

static double seconds(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s, const cudaEvent_t *e)
{
	float ms;

	CHECK(cudaEventRecord(e[0], s));
	CHECK(cudaMemcpyAsync(to, from, bytes, kind, s));
	CHECK(cudaEventRecord(e[1], s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaEventElapsedTime(&ms, e[0], e[1]));
	return ms / 1e3;
}

int main()
{
	static const struct {
		const char *word;
		cudaMemcpyKind kind;
	} ways[] = {{"up", cudaMemcpyHostToDevice}, {"down", cudaMemcpyDeviceToHost}, {"inside", cudaMemcpyDeviceToDevice}};
	static const size_t mib[] = {4, 32, 256, 1024};
	const size_t most = mib[3] << 20;
	char *host, *device, *other;
	cudaStream_t s;
	cudaEvent_t e[2];

	CHECK(cudaMallocHost(&host, most));
	CHECK(cudaMalloc(&device, most));
	CHECK(cudaMalloc(&other, most));
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e[0]));
	CHECK(cudaEventCreate(&e[1]));
	for (auto &way : ways)
		for (size_t m : mib) {
			void *to = way.kind == cudaMemcpyDeviceToHost ? host : device;
			const void *from = way.kind == cudaMemcpyHostToDevice   ? host
					   : way.kind == cudaMemcpyDeviceToHost ? device
										: other;
			double sum = 0;
			char scope[32];

			seconds(to, from, m << 20, way.kind, s, e); // the first is slower
			snprintf(scope, sizeof(scope), "%s_%zu", way.word, m);
			proton_enter_scope(scope);
			for (int i = 0; i < rounds; i++)
				sum += seconds(to, from, m << 20, way.kind, s, e);
			proton_exit_scope();
			printf("expect_gbs %s %.3f\n", scope, rounds * double(m << 20) / sum / 1e9);
		}
	return 0;
}
