// SPDX-License-Identifier: MIT
// Copies between all devices of a host, each pair with a number and a size of its own: cuda_peers [-d DEVICE]. With -d
// only what leaves DEVICE, for one process a device. Prints `pair FROM TO COPIES BYTES`, as `tests/check_ranks.sh` compares
// it; a device that reaches no other one is served through the host, and is left out with a line.
#include <unistd.h>

#include "cuda_common.cuh"

static const int most_devices = 64;

int main(int argc, char **argv)
{
	char *memory[most_devices], *host;
	int n, only = -1, option;

	while ((option = getopt(argc, argv, "d:")) != -1) {
		if (option != 'd') {
			fprintf(stderr, "usage: cuda_peers [-d DEVICE]\n");
			return 2;
		}
		only = atoi(optarg);
	}
	CHECK(cudaGetDeviceCount(&n));
	n = std::min(n, most_devices);
	const size_t unit = 1 << 16, most = unit * (n * n + 1);

	CHECK(cudaMallocHost(&host, most));
	for (int d = 0; d < n; d++) {
		CHECK(cudaSetDevice(d));
		CHECK(cudaMalloc(&memory[d], most));
	}
	for (int from = 0; from < n; from++) {
		if (only >= 0 && from != only)
			continue;
		CHECK(cudaSetDevice(from));
		for (int to = 0; to < n; to++) {
			const int copies = 3 + from + 2 * to;
			const size_t bytes = unit * (1 + from * n + to);

			if (to == from) { // with the host instead, both ways
				for (int i = 0; i < copies; i++) {
					CHECK(cudaMemcpyAsync(host, memory[from], bytes, cudaMemcpyDeviceToHost));
					CHECK(cudaMemcpyAsync(memory[from], host, bytes / 2, cudaMemcpyHostToDevice));
				}
				printf("pair %d host %d %zu\n", from, copies, copies * bytes);
				printf("pair host %d %d %zu\n", from, copies, copies * (bytes / 2));
				continue;
			}
			int reaches;
			CHECK(cudaDeviceCanAccessPeer(&reaches, from, to));
			if (!reaches) {
				printf("skipped: %d does not reach %d\n", from, to);
				continue;
			}
			CHECK(cudaDeviceEnablePeerAccess(to, 0));
			for (int i = 0; i < copies; i++)
				CHECK(cudaMemcpyPeerAsync(memory[to], to, memory[from], from, bytes));
			printf("pair %d %d %d %zu\n", from, to, copies, copies * bytes);
		}
		CHECK(cudaDeviceSynchronize());
	}
	return 0;
}
