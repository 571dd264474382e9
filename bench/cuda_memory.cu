// SPDX-License-Identifier: MIT
// Memory whose counts and bytes are known: cuda_memory [-r]. Of all ways to allocate it, some released, by this thread
// and another one; -r: the device is reset at the end, with what was not released. Prints one `expect_memory` line a
// calling context and kind: allocations, their bytes, releases, bytes that are left. Pitches are as the device has them.
// cuda_memory -n N [-a]: what N allocations and releases cost, of cudaMalloc or (-a) cudaMallocAsync, ns each.
#include <string.h>

#include <thread>

#include <proton/proton.h>

#include "cuda_common.cuh"

static const size_t MIB = 1 << 20;

__global__ void memory_kernel()
{
}

static void expect_memory(const char *where, unsigned long long n, unsigned long long bytes, unsigned long long n_freed,
			  unsigned long long left)
{
	printf("expect_memory %s n=%llu bytes=%llu freed_n=%llu left=%llu\n", where, n, bytes, n_freed, left);
}

static void device_memory()
{
	void *a, *b, *c;
	size_t pitch;

	proton_enter_scope("malloc");
	CHECK(cudaMalloc(&a, 10 * MIB));
	CHECK(cudaMalloc(&b, 6 * MIB));
	CHECK(cudaFree(b));
	CHECK(cudaMalloc(&b, 3 * MIB)); // never released
	proton_exit_scope();
	std::thread other([a] { CHECK(cudaFree(a)); });
	other.join();
	expect_memory("malloc/alloc device", 3, 19 * MIB, 2, 3 * MIB);
	proton_enter_scope("pitch");
	CHECK(cudaMallocPitch(&c, &pitch, 1000, 64));
	CHECK(cudaFree(c));
	proton_exit_scope();
	expect_memory("pitch/alloc device", 1, 64 * pitch, 1, 0);
}

static void pool_memory()
{
	cudaStream_t streams[2];
	void *p[8], *kept;

	for (cudaStream_t &s : streams)
		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	proton_enter_scope("async");
	for (void *&q : p)
		CHECK(cudaMallocAsync(&q, MIB, streams[0]));
	CHECK(cudaStreamSynchronize(streams[0]));
	for (void *q : p)
		CHECK(cudaFreeAsync(q, streams[1]));
	CHECK(cudaMallocAsync(&kept, 2 * MIB, streams[1]));
	proton_exit_scope();
	CHECK(cudaStreamSynchronize(streams[1]));
	expect_memory("async/alloc device pool", 9, 10 * MIB, 8, 2 * MIB);
}

static void host_memory()
{
	static char own[1 << 16] __attribute__((aligned(4096)));
	void *a, *b, *managed;

	proton_enter_scope("host");
	CHECK(cudaMallocHost(&a, 5 * MIB));
	CHECK(cudaHostAlloc(&b, 4 * MIB, cudaHostAllocMapped));
	CHECK(cudaHostRegister(own, sizeof(own), 0));
	CHECK(cudaHostUnregister(own));
	CHECK(cudaFreeHost(a));
	proton_exit_scope();
	expect_memory("host/alloc pinned", 3, 9 * MIB + sizeof(own), 2, 4 * MIB);
	proton_enter_scope("managed");
	CHECK(cudaMallocManaged(&managed, 7 * MIB));
	proton_exit_scope();
	expect_memory("managed/alloc managed", 1, 7 * MIB, 0, 7 * MIB);
}

static void cost(int n, bool async)
{
	std::vector<double> rounds;
	void *p;

	CHECK(cudaFree(0));
	for (int round = 0; round < 7; round++) {
		double begin = now_ns();

		for (int i = 0; i < n; i++)
			if (async) {
				CHECK(cudaMallocAsync(&p, 4096, 0));
				CHECK(cudaFreeAsync(p, 0));
			} else {
				CHECK(cudaMalloc(&p, 4096));
				CHECK(cudaFree(p));
			}
		CHECK(cudaDeviceSynchronize());
		rounds.push_back((now_ns() - begin) / n);
	}
	result_spread(async ? "malloc_async_ns" : "malloc_ns", rounds);
}

int main(int argc, char **argv)
{
	bool async = false, reset = false;
	int n = 0;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-n") && i + 1 < argc)
			n = atoi(argv[++i]);
		else if (!strcmp(argv[i], "-a"))
			async = true;
		else if (!strcmp(argv[i], "-r"))
			reset = true;
	if (n) {
		cost(n, async);
		return 0;
	}
	CHECK(cudaFree(0));
	device_memory();
	pool_memory();
	host_memory();
	memory_kernel<<<1, 1>>>();
	CHECK(cudaDeviceSynchronize());
	if (reset)
		CHECK(cudaDeviceReset());
	expect("kernels", 1);
	return 0;
}
