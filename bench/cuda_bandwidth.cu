// SPDX-License-Identifier: MIT
// Copies timed by events of CUDA: cuda_bandwidth. Each size and direction in a scope of its own: one copy between two
// events and many, several times. An event has a time of its own, 5 to 8 us, so a copy takes what the many take more
// than the one. Prints `expect_gbs SCOPE GB/S` by the median. bench/cuda_bandwidth.py compares.
#include <proton/proton.h>

#include "cuda_common.cuh"

static const int rounds = 5, many = 21;

struct way {
	const char *word;
	void *to;
	const void *from;
	cudaMemcpyKind kind;
};

// Of n copies, one behind the other.
static double seconds(const way &w, size_t bytes, int n, cudaStream_t s, const cudaEvent_t *e)
{
	float ms;

	CHECK(cudaEventRecord(e[0], s));
	for (int i = 0; i < n; i++)
		CHECK(cudaMemcpyAsync(w.to, w.from, bytes, w.kind, s));
	CHECK(cudaEventRecord(e[1], s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaEventElapsedTime(&ms, e[0], e[1]));
	return ms / 1e3;
}

static void measure(const way &w, size_t mib, cudaStream_t s, const cudaEvent_t *e)
{
	const size_t bytes = mib << 20;
	std::vector<double> one;
	char scope[32];

	seconds(w, bytes, 1, s, e); // the first is slower
	snprintf(scope, sizeof(scope), "%s_%zu", w.word, mib);
	proton_enter_scope(scope);
	for (int i = 0; i < rounds; i++) {
		double first = seconds(w, bytes, 1, s, e);

		one.push_back((seconds(w, bytes, many, s, e) - first) / (many - 1));
	}
	proton_exit_scope();
	std::sort(one.begin(), one.end());
	printf("expect_gbs %s %.3f\n", scope, bytes / one[rounds / 2] / 1e9);
}

// Memory of another device that this one reaches; NULL: there is none.
static char *peer_memory(size_t bytes)
{
	int n, reaches = 0;
	char *p = NULL;

	CHECK(cudaGetDeviceCount(&n));
	if (n > 1)
		CHECK(cudaDeviceCanAccessPeer(&reaches, 0, 1));
	if (!reaches)
		return NULL;
	CHECK(cudaDeviceEnablePeerAccess(1, 0));
	CHECK(cudaSetDevice(1));
	CHECK(cudaMalloc(&p, bytes));
	CHECK(cudaSetDevice(0));
	return p;
}

int main()
{
	static const size_t mib[] = {4, 32, 256, 1024};
	const size_t most = mib[3] << 20;
	char *host, *device, *other, *peer;
	cudaStream_t s;
	cudaEvent_t e[2];

	CHECK(cudaMallocHost(&host, most));
	CHECK(cudaMalloc(&device, most));
	CHECK(cudaMalloc(&other, most));
	peer = peer_memory(most);
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e[0]));
	CHECK(cudaEventCreate(&e[1]));
	const way ways[] = {{"up", device, host, cudaMemcpyHostToDevice},
			    {"down", host, device, cudaMemcpyDeviceToHost},
			    {"inside", device, other, cudaMemcpyDeviceToDevice},
			    {"peer", peer, device, cudaMemcpyDefault}};
	for (const way &w : ways)
		for (size_t m : mib)
			if (w.to)
				measure(w, m, s, e);
	return 0;
}
