// SPDX-License-Identifier: MIT
// Launches of an empty kernel, as fast as the host can: cuda_storm [-n launches] [-t threads]
// [-s streams] [-b block] [-y]. Prints ns per launch, smallest and median over blocks of launches;
// -y synchronises after each block, outside of the measured time.
#include <getopt.h>

#include <thread>

#include "cuda_common.cuh"

__global__ void empty_kernel()
{
}

struct options {
	long n_launches = 400000;
	int n_threads = 1;
	int n_streams = 1;
	long block = 10000;
	bool synchronize = false;
};

static void storm(const options &o, std::vector<double> *blocks)
{
	std::vector<cudaStream_t> streams(o.n_streams);

	for (cudaStream_t &s : streams)
		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (long done = 0; done < o.n_launches; done += o.block) {
		long n = std::min(o.block, o.n_launches - done);
		double start = now_ns();

		for (long i = 0; i < n; i++)
			empty_kernel<<<1, 1, 0, streams[i % o.n_streams]>>>();
		blocks->push_back((now_ns() - start) / n);
		if (o.synchronize)
			CHECK(cudaDeviceSynchronize());
	}
	for (cudaStream_t s : streams)
		CHECK(cudaStreamSynchronize(s));
	CHECK(cudaGetLastError());
}

static options parse(int argc, char **argv)
{
	options o;
	int c;

	while ((c = getopt(argc, argv, "n:t:s:b:y")) != -1) {
		switch (c) {
		case 'n': o.n_launches = atol(optarg); break;
		case 't': o.n_threads = std::max(1, atoi(optarg)); break;
		case 's': o.n_streams = std::max(1, atoi(optarg)); break;
		case 'b': o.block = std::max(1L, atol(optarg)); break;
		case 'y': o.synchronize = true; break;
		default: fprintf(stderr, "usage: %s [-n N] [-t N] [-s N] [-b N] [-y]\n", argv[0]); exit(2);
		}
	}
	return o;
}

int main(int argc, char **argv)
{
	const options o = parse(argc, argv);
	std::vector<std::vector<double>> blocks(o.n_threads);
	std::vector<std::thread> threads;
	std::vector<double> all;
	const long n_warm = 1000;

	for (long i = 0; i < n_warm; i++)
		empty_kernel<<<1, 1>>>();
	CHECK(cudaDeviceSynchronize());
	double start = now_ns();
	for (int i = 1; i < o.n_threads; i++)
		threads.emplace_back(storm, std::cref(o), &blocks[i]);
	storm(o, &blocks[0]);
	for (std::thread &t : threads)
		t.join();
	CHECK(cudaDeviceSynchronize());
	double total = now_ns() - start;

	for (const std::vector<double> &b : blocks)
		all.insert(all.end(), b.begin(), b.end());
	result_spread("ns_per_launch", all);
	result("ns_per_launch_total", total / (double(o.n_launches) * o.n_threads));
	expect("kernels", n_warm + o.n_launches * o.n_threads);
	return 0;
}
