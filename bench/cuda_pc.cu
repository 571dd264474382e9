// SPDX-License-Identifier: MIT
// Kernels whose warps wait for what is known, for samples of code (--pc-sampling):
//   cuda_pc [ROUNDS [KERNEL]]
// spin: nothing but arithmetic that depends on what came before; latency: a chain of loads from memory; conflict: all
// threads of a warp in one bank of shared memory; divergent: each thread of a warp takes a way of its own; barrier: warps
// wait for the slowest one; product: a product of matrices. Prints the time of each round of all, in microseconds.
#include <string.h>

#include "cuda_common.cuh"

enum { N = 1 << 24, SIDE = 1024, TILE = 16 };

extern "C" __global__ void spin(float *p, int n)
{
	float v = p[threadIdx.x];

	for (int i = 0; i < n; i++)
		v = v * 1.0001f + 0.5f; // spin: waits for itself
	p[threadIdx.x] = v;
}

extern "C" __global__ void latency(const int *next, int *out, int n)
{
	int at = (blockIdx.x * blockDim.x + threadIdx.x) % N;

	for (int i = 0; i < n; i++)
		at = next[at]; // latency: waits for memory
	out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

extern "C" __global__ void conflict(float *p, int n)
{
	__shared__ float held[32 * 32];
	float sum = 0;

	held[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	for (int i = 0; i < n; i++) {
		sum += held[(threadIdx.x % 32) * 32 + (i & 31)]; // conflict: one bank
		held[(threadIdx.x % 32) * 32 + (i & 31)] = sum;
	}
	p[threadIdx.x] = sum;
}

extern "C" __global__ void divergent(float *p, int n)
{
	float v = p[threadIdx.x];

	for (int i = 0; i < n; i++)
		switch ((threadIdx.x + i) % 8) {
		case 0: v = __sinf(v); break;
		case 1: v = v / 3.3f; break;
		case 2: v = __cosf(v); break;
		case 3: v = sqrtf(v + 2); break;
		case 4: v = __expf(v * 0.01f); break;
		case 5: v = __logf(v + 3); break;
		case 6: v = v * v - 0.5f; break;
		default: v = 1 / (v + 4); break;
		}
	p[threadIdx.x] = v;
}

extern "C" __global__ void barrier(float *p, int n)
{
	float v = p[threadIdx.x];

	for (int i = 0; i < n; i++) {
		if (threadIdx.x < 32)
			for (int k = 0; k < 40; k++)
				v = v * 1.0001f + 0.5f;
		__syncthreads(); // barrier: waits for the first warp
	}
	p[threadIdx.x] = v;
}

extern "C" __global__ void product(const float *a, const float *b, float *c)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum = 0;

	for (int t = 0; t < SIDE; t += TILE) {
		ta[threadIdx.y][threadIdx.x] = a[y * SIDE + t + threadIdx.x];
		tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * SIDE + x];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += ta[threadIdx.y][k] * tb[k][threadIdx.x]; // product
		__syncthreads();
	}
	c[y * SIDE + x] = sum;
}

__global__ void chain(int *next)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	next[i] = (int)((i * 1664525ll + 1013904223ll) % N);
}

static bool is_wanted(const char *only, const char *name)
{
	return !only || !strcmp(only, name);
}

static int *next_at, *out;
static float *memory, *a, *b, *c;

static void run_all(const char *only)
{
	const dim3 grid(SIDE / TILE, SIDE / TILE), block(TILE, TILE);

	if (is_wanted(only, "spin"))
		spin<<<1056, 256>>>(memory, 20000);
	if (is_wanted(only, "latency"))
		latency<<<1056, 256>>>(next_at, out, 200);
	if (is_wanted(only, "conflict"))
		conflict<<<528, 1024>>>(memory, 500);
	if (is_wanted(only, "divergent"))
		divergent<<<1056, 256>>>(memory, 500);
	if (is_wanted(only, "barrier"))
		barrier<<<1056, 256>>>(memory, 500);
	if (is_wanted(only, "product"))
		for (int i = 0; i < 4; i++)
			product<<<grid, block>>>(a, b, c);
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	const char *only = argc > 2 ? argv[2] : NULL;
	size_t bytes = (size_t)SIDE * SIDE * sizeof(float);

	CHECK(cudaMalloc(&memory, 1 << 20));
	CHECK(cudaMalloc(&next_at, N * sizeof(int)));
	CHECK(cudaMalloc(&out, N * sizeof(int)));
	CHECK(cudaMalloc(&a, bytes));
	CHECK(cudaMalloc(&b, bytes));
	CHECK(cudaMalloc(&c, bytes));
	CHECK(cudaMemset(memory, 0, 1 << 20));
	CHECK(cudaMemset(a, 0, bytes));
	CHECK(cudaMemset(b, 0, bytes));
	chain<<<N / 256, 256>>>(next_at);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < rounds; i++) {
		double from = now_ns() / 1e3;

		run_all(only);
		printf("round %d %.0f\n", i, now_ns() / 1e3 - from);
	}
	return 0;
}
