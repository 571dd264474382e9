// SPDX-License-Identifier: MIT
// Copies with flaws that a profiler must find, and without: cuda_patterns. What it must count is said in lines for a
// script:
//   place PATH METRIC=VALUE
//   finding RULE PATH
#include <string.h>

#include "cuda_common.cuh"
#include "proton/proton.h"

enum { BYTES = 1 << 24, TIMES = 200 };

static char *device, *host;
static cudaStream_t stream;

static void place(const char *path, const char *metric, unsigned long long value)
{
	printf("place %s %s=%llu\n", path, metric, value);
}

// The same, unchanged.
static void again(const char *name, bool is_async)
{
	proton_enter_scope(name);
	memset(host, 7, BYTES);
	for (int i = 0; i < TIMES; i++) {
		if (is_async)
			CHECK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
		else
			CHECK(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice));
	}
	CHECK(cudaDeviceSynchronize());
	proton_exit_scope();
}

// A batch after the other, by one buffer.
static void batches(const char *name)
{
	proton_enter_scope(name);
	for (int i = 0; i < TIMES; i++) {
		memset(host, i, BYTES);
		CHECK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
		CHECK(cudaStreamSynchronize(stream));
	}
	proton_exit_scope();
}

// What was brought goes back at once.
static void to_and_fro(const char *name)
{
	proton_enter_scope(name);
	for (int i = 0; i < TIMES / 2; i++) {
		CHECK(cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDeviceToHost, stream));
		CHECK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
	}
	CHECK(cudaStreamSynchronize(stream));
	proton_exit_scope();
}

// Many small ones, each waited for.
static void crumbs(const char *name)
{
	const int n = 100000;
	char path[64];

	proton_enter_scope(name);
	for (int i = 0; i < n; i++)
		CHECK(cudaMemcpy(device + i % 64 * 256, host, 256, cudaMemcpyHostToDevice));
	proton_exit_scope();
	snprintf(path, sizeof(path), "%s/memcpy HtoD pinned", name);
	place(path, "count", n);
	place(path, "bytes", 256 * n);
	printf("finding small-copies %s\n", name);
	printf("finding synchronous-copies %s\n", name);
}

static void look_at(const char *kind)
{
	char name[3][64], path[128];

	snprintf(name[0], sizeof(name[0]), "again %s", kind);
	snprintf(name[1], sizeof(name[1]), "batches %s", kind);
	snprintf(name[2], sizeof(name[2]), "to and fro %s", kind);
	batches(name[1]);
	snprintf(path, sizeof(path), "%s/memcpy HtoD %s", name[1], kind);
	place(path, "count", TIMES);
	place(path, "copies_again", TIMES - 1);
	place(path, "copies_compared", 10); // 2 to 8, 64, 128, 192
	place(path, "copies_same", 0);
	again(name[0], true);
	snprintf(path, sizeof(path), "%s/memcpy HtoD %s", name[0], kind);
	place(path, "copies_again", TIMES);
	place(path, "copies_compared", 3); // 256, 320, 384 of what went before
	place(path, "copies_same", 2);
	to_and_fro(name[2]);
	place(path, "copies_back", 0);
	snprintf(path, sizeof(path), "%s/memcpy DtoH %s", name[2], kind);
	place(path, "copies_back", TIMES / 2);
	snprintf(path, sizeof(path), "%s/memcpy HtoD %s", name[2], kind);
	place(path, "copies_back", TIMES / 2);
	snprintf(name[0], sizeof(name[0]), "again %s, waited for", kind);
	again(name[0], false);
	snprintf(path, sizeof(path), "%s/memcpy HtoD %s", name[0], kind);
	place(path, "copies_again", TIMES);
	place(path, "copies_compared", 10);
	place(path, "copies_same", 10);
	printf("finding repeated-copies %s\n", path);
}

int main()
{
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc(&device, BYTES));
	CHECK(cudaMallocHost(&host, BYTES));
	look_at("pinned");
	crumbs("crumbs");
	CHECK(cudaFreeHost(host));
	CHECK(cudaFree(device));
	CHECK(cudaMalloc(&device, BYTES + 4096));
	host = (char *)malloc(BYTES);
	look_at("pageable");
	printf("finding round-trips to and fro\n");
	// Which three of four are named, all about as long, is chance.
	printf("finding pageable-copies memcpy HtoD pageable\n");
	return 0;
}
