// SPDX-License-Identifier: MIT
// Parts of a kernel by name, shown below it: of a product by tiles what loads, what multiplies, and how long copies are under way that
// begin in one iteration and end in the next.
//   nvcc -O3 -std=c++17 -DPROTON_KERNEL -o kernel_scopes kernel_scopes.cu && proton record -- ./kernel_scopes
#include <cstdio>
#define PROTON_KERNEL_WARPS   8   // of a block
#define PROTON_KERNEL_RECORDS 256 // of a warp: 7 for each tile, and one
#include <proton/kernel.cuh>

constexpr int N = 512, TILE = 16;

__global__ void product(const float *a, const float *b, float *c)
{
	PROTON_KERNEL_INIT();
	__shared__ float left[TILE][TILE], right[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
	float sum = 0;

	float next_left = a[row * N + x], next_right = b[y * N + column];

	PROTON_EVENT_BEGIN("under way");
	for (int k = 0; k < N; k += TILE) {
		PROTON_ENTER("load");
		left[y][x] = next_left;
		right[y][x] = next_right;
		PROTON_EVENT_END("under way");
		__syncthreads();
		PROTON_EXIT("load");
		if (k + TILE < N) {
			PROTON_EVENT_BEGIN("under way");
			next_left = a[row * N + k + TILE + x];
			next_right = b[(k + TILE + y) * N + column];
		} else {
			PROTON_MARK("last tile");
		}
		{
			PROTON_SCOPE("multiply");
			for (int i = 0; i < TILE; i++)
				sum += left[y][i] * right[i][x];
		}
		PROTON_SCOPE("wait");
		__syncthreads();
	}
	PROTON_METRIC("sum", sum);
	c[row * N + column] = sum;
}

int main()
{
	float *a, *b, *c;

	if (cudaMalloc(&a, N * N * sizeof(float)) || cudaMalloc(&b, N * N * sizeof(float)) || cudaMalloc(&c, N * N * sizeof(float)))
		return 1;
	cudaMemset(a, 0, N * N * sizeof(float));
	cudaMemset(b, 0, N * N * sizeof(float));
	for (int i = 0; i < 10; i++)
		product<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c);
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 1;
	printf("done\n");
	return 0;
}
