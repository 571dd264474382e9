// SPDX-License-Identifier: MIT
// Launches an empty kernel at a steady rate and never waits for the GPU: cuda_rate -r RATE
// [-s SECONDS] [-o FILE]. FILE gets the CLOCK_MONOTONIC time of each launch, 8 bytes each: with the
// tape of the run it tells how long each launch takes to reach the reader.
#include <getopt.h>
#include <stdint.h>
#include <time.h>

#include "cuda_common.cuh"

__global__ void rate_kernel()
{
}

int main(int argc, char **argv)
{
	double rate = 1000, seconds = 3;
	const char *file = NULL;
	int c;

	while ((c = getopt(argc, argv, "r:s:o:")) != -1) {
		switch (c) {
		case 'r': rate = atof(optarg); break;
		case 's': seconds = atof(optarg); break;
		case 'o': file = optarg; break;
		default: fprintf(stderr, "usage: %s -r RATE [-s SECONDS] [-o FILE]\n", argv[0]); return 2;
		}
	}
	CHECK(cudaFree(0));
	long n = (long)(rate * seconds);
	std::vector<uint64_t> times(n);
	double start = now_ns();
	for (long i = 0; i < n; i++) {
		double due = start + i * 1e9 / rate;
		struct timespec ts, pause = {0, 200000};

		while (due - now_ns() > 400000)
			nanosleep(&pause, NULL);
		while (now_ns() < due)
			;
		rate_kernel<<<1, 1>>>();
		clock_gettime(CLOCK_MONOTONIC, &ts);
		times[i] = (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
	}
	CHECK(cudaDeviceSynchronize());
	if (file) {
		FILE *f = fopen(file, "wb");

		fwrite(times.data(), 8, n, f);
		fclose(f);
	}
	expect("kernels", n);
	return 0;
}
