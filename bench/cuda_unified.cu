// SPDX-License-Identifier: MIT
// Unified memory whose traffic is known, 46 MiB of it: cuda_unified, to be recorded with --unified. What must be counted
// is said in lines for a script:
//   place PATH METRIC=VALUE
//   least PATH METRIC=VALUE     as many, or more: pages are missed in groups, and some move more than once
// Where host and devices share page tables (Grace Hopper) nothing moves, and none of it holds.
#include <string.h>

#include "cuda_common.cuh"
#include "proton/proton.h"

static const size_t MIB = 1 << 20;
enum { TURNS = 40 };

__device__ __managed__ char own[1 << 16];
__device__ unsigned long long total;

__global__ void reads(const char *p, size_t n)
{
	unsigned long long sum = 0;

	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += p[i];
	if (sum == 1)
		atomicAdd(&total, sum);
}

__global__ void writes(char *p, size_t n, int value)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] = (char)value;
}

static void say(const char *what, const char *scope, const char *metric, unsigned long long value)
{
	printf("%s %s/alloc managed %s=%llu\n", what, scope, metric, value);
}

static char *managed(const char *scope, size_t bytes)
{
	char *p;

	proton_enter_scope(scope);
	CHECK(cudaMallocManaged(&p, bytes));
	proton_exit_scope();
	return p;
}

static void read_by_device(char *p, size_t bytes)
{
	reads<<<64, 256>>>(p, bytes);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
}

static void write_by_device(char *p, size_t bytes, int value)
{
	writes<<<64, 256>>>(p, bytes, value);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
}

static void prefetch(char *p, size_t bytes)
{
#if CUDART_VERSION >= 13000
	struct cudaMemLocation there = {cudaMemLocationTypeDevice, 0};

	CHECK(cudaMemPrefetchAsync(p, bytes, there, 0, 0));
#else
	CHECK(cudaMemPrefetchAsync(p, bytes, 0, 0));
#endif
	CHECK(cudaDeviceSynchronize());
}

// From the host, as it is missed.
static void down(void)
{
	char *p = managed("down", 16 * MIB);

	memset(p, 7, 16 * MIB);
	read_by_device(p, 16 * MIB);
	say("place", "down", "migrated_to_device_bytes", 16 * MIB);
	say("place", "down", "migrated_to_host_bytes", 0);
	say("place", "down", "migrated_as_asked_bytes", 0);
	say("least", "down", "gpu_page_faults", 1);
	CHECK(cudaFree(p));
}

static void asked(void)
{
	char *p = managed("asked", 8 * MIB);

	memset(p, 7, 8 * MIB);
	prefetch(p, 8 * MIB);
	read_by_device(p, 8 * MIB);
	say("place", "asked", "migrated_to_device_bytes", 8 * MIB);
	say("place", "asked", "migrated_as_asked_bytes", 8 * MIB);
	say("place", "asked", "gpu_page_faults", 0);
	CHECK(cudaFree(p));
}

// To the host: what a device has written first.
static void up(void)
{
	char *p = managed("up", 4 * MIB);
	int sum = 0;

	write_by_device(p, 4 * MIB, 3);
	for (size_t i = 0; i < 4 * MIB; i += 512)
		sum += p[i];
	if (sum != 3 * 8192)
		exit(1);
	say("place", "up", "migrated_to_host_bytes", 4 * MIB);
	say("place", "up", "migrated_to_device_bytes", 0);
	say("least", "up", "cpu_page_faults", 1);
	CHECK(cudaFree(p));
}

// In turn.
static void turns(void)
{
	char *p = managed("turns", 16 * MIB);

	for (int i = 0; i < TURNS; i++) {
		memset(p, i, 16 * MIB);
		write_by_device(p, 16 * MIB, i);
	}
	// Once the driver sees what is going on it may map pages where they are.
	say("least", "turns", "migrated_to_device_bytes", 32 * MIB);
	say("least", "turns", "migrated_to_host_bytes", 16 * MIB);
	CHECK(cudaFree(p));
}

static void nobodys(void)
{
	memset(own, 1, sizeof(own));
	read_by_device(own, sizeof(own));
	printf("least alloc managed variables migrated_to_device_bytes=%zu\n", sizeof(own));
}

int main()
{
	char *unused;

	CHECK(cudaFree(0));
	unused = managed("unused", 2 * MIB);
	nobodys();
	down();
	asked();
	up();
	turns();
	say("place", "unused", "migrations", 0);
	CHECK(cudaFree(unused));
	return 0;
}
