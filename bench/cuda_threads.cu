// SPDX-License-Identifier: MIT
// Four threads, each with streams and a kernel of its own: cuda_threads [-n launches] [-s streams].
// Thread i launches kernel_of_thread<i> n + i times, and copies i + 1 KiB to the device once.
#include <getopt.h>

#include <string>
#include <thread>

#include "cuda_common.cuh"

template <int thread> __global__ void kernel_of_thread()
{
}

template <int thread> static void work(long n_launches, int n_streams)
{
	std::vector<cudaStream_t> streams(n_streams);
	void *device, *host;

	for (cudaStream_t &s : streams)
		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&device, (thread + 1) << 10));
	CHECK(cudaMallocHost(&host, (thread + 1) << 10));
	CHECK(cudaMemcpyAsync(device, host, (thread + 1) << 10, cudaMemcpyHostToDevice, streams[0]));
	for (long i = 0; i < n_launches + thread; i++)
		kernel_of_thread<thread><<<1, 32, 0, streams[i % n_streams]>>>();
	for (cudaStream_t s : streams)
		CHECK(cudaStreamSynchronize(s));
	CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
	long n_launches = 10000;
	int n_streams = 2, c;

	while ((c = getopt(argc, argv, "n:s:")) != -1) {
		switch (c) {
		case 'n': n_launches = atol(optarg); break;
		case 's': n_streams = std::max(1, atoi(optarg)); break;
		default: fprintf(stderr, "usage: %s [-n N] [-s N]\n", argv[0]); return 2;
		}
	}
	std::thread threads[] = {std::thread(work<0>, n_launches, n_streams),
				 std::thread(work<1>, n_launches, n_streams),
				 std::thread(work<2>, n_launches, n_streams),
				 std::thread(work<3>, n_launches, n_streams)};
	for (std::thread &t : threads)
		t.join();
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 4; i++)
		expect(("kernels_of_thread_" + std::to_string(i)).c_str(), n_launches + i);
	expect("kernels", 4 * n_launches + 6);
	expect("HostToDevice_count", 4);
	expect("HostToDevice_bytes", 10 << 10);
	return 0;
}
