// SPDX-License-Identifier: MIT
// Many calling contexts: 8 threads x 1,250 scopes x 4 streams, one kernel in each. Prints the
// resident memory of the process at the end: the collector's is the difference to a bare run.
#include <string>
#include <thread>

#include <proton/proton.h>

#include "cuda_common.cuh"

__global__ void context_kernel()
{
}

static void work(int thread)
{
	cudaStream_t streams[4];

	for (cudaStream_t &s : streams)
		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (int i = 0; i < 1250; i++) {
		proton_enter_scope(("scope_" + std::to_string(thread) + "_" + std::to_string(i)).c_str());
		for (cudaStream_t s : streams)
			context_kernel<<<1, 1, 0, s>>>();
		proton_exit_scope();
	}
	for (cudaStream_t s : streams)
		CHECK(cudaStreamSynchronize(s));
}

int main()
{
	std::vector<std::thread> threads;
	char line[256];

	for (int i = 0; i < 8; i++)
		threads.emplace_back(work, i);
	for (std::thread &t : threads)
		t.join();
	FILE *f = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmRSS", 5))
			printf("%s", line);
	fclose(f);
	expect("kernels", 8 * 1250 * 4);
	return 0;
}
