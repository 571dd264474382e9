// SPDX-License-Identifier: MIT
// A loop that waits for the GPU: cuda_gpubound [-s seconds] [-u microseconds] [-a ahead] [-p pause].
// Each round launches one kernel that spins for `microseconds`; every `ahead` rounds the host
// synchronises. -p: the host sleeps `pause` microseconds a round; with kernels that last nearly as
// long, it always runs one launch ahead of the GPU: -u 9900 -p 10000 -a 1000000 is 100 launches/s.
#include <getopt.h>
#include <unistd.h>

#include "cuda_common.cuh"

__global__ void spin(long long ns)
{
	long long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	} while (now - start < ns);
}

int main(int argc, char **argv)
{
	double seconds = 5, start;
	long microseconds = 1000, ahead = 1, pause = 0, n = 0;
	int c;

	while ((c = getopt(argc, argv, "s:u:a:p:")) != -1) {
		switch (c) {
		case 's': seconds = atof(optarg); break;
		case 'u': microseconds = atol(optarg); break;
		case 'a': ahead = std::max(1L, atol(optarg)); break;
		case 'p': pause = atol(optarg); break;
		default: fprintf(stderr, "usage: %s [-s S] [-u US] [-a N] [-p US]\n", argv[0]); return 2;
		}
	}
	spin<<<1, 1>>>(0);
	CHECK(cudaDeviceSynchronize());
	start = now_ns();
	do {
		spin<<<1, 1>>>(microseconds * 1000);
		if (++n % ahead == 0)
			CHECK(cudaDeviceSynchronize());
		if (pause)
			usleep(pause);
	} while (now_ns() - start < seconds * 1e9);
	CHECK(cudaDeviceSynchronize());
	result("us_per_round", (now_ns() - start) / n / 1e3);
	expect("kernels", n + 1);
	// The kernel spins by %globaltimer, whose rate is not exactly that of the record's clock.
	expect("kernel_time_ns_at_least", n * microseconds * 999);
	return 0;
}
