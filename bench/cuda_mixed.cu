// SPDX-License-Identifier: MIT
// All that a profiler can be asked for at once: cuda_mixed [-n rounds]. A round allocates from a pool, copies to the
// device, launches eight kernels, copies back, releases and waits. Prints ns a round, smallest and median over blocks of
// rounds.
#include <getopt.h>

#include "cuda_common.cuh"

static const size_t BYTES = 4096;

__global__ void mixed_kernel(char *p)
{
	p[threadIdx.x] += 1;
}

static void round_of(cudaStream_t stream, char *pinned)
{
	char *p;

	CHECK(cudaMallocAsync(&p, 1 << 20, stream));
	CHECK(cudaMemcpyAsync(p, pinned, BYTES, cudaMemcpyHostToDevice, stream));
	for (int i = 0; i < 8; i++)
		mixed_kernel<<<1, 128, 0, stream>>>(p);
	CHECK(cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaFreeAsync(p, stream));
	CHECK(cudaStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	const long block = 500;
	long n = 20000;
	std::vector<double> blocks;
	cudaStream_t stream;
	char *pinned;
	int c;

	while ((c = getopt(argc, argv, "n:")) != -1) {
		if (c != 'n') {
			fprintf(stderr, "usage: %s [-n rounds]\n", argv[0]);
			return 2;
		}
		n = std::max(block, atol(optarg));
	}
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaMallocHost(&pinned, BYTES));
	for (long i = 0; i < block; i++)
		round_of(stream, pinned);
	for (long done = 0; done < n; done += block) {
		double start = now_ns();

		for (long i = 0; i < block; i++)
			round_of(stream, pinned);
		blocks.push_back((now_ns() - start) / block);
	}
	std::sort(blocks.begin(), blocks.end());
	result("ns_per_round_min", blocks.front());
	result("ns_per_round_median", blocks[blocks.size() / 2]);
	return 0;
}
