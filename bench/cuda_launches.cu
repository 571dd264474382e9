// SPDX-License-Identifier: MIT
// Kernels that are launched in known ways, each twice in its own: by registers, shared memory, memory of threads, size and
// clusters. Prints what CUDA says of them, as `tests/check_gpu.sh` compares it:
//   launch KERNEL GRID BLOCK CLUSTER REGISTERS STATIC DYNAMIC LOCAL BLOCKS WARPS
// CLUSTER: blocks of one, 0: none. BLOCKS: that a multiprocessor has room for, of WARPS in all.
#include <string.h>

#include "cuda_common.cuh"

static float *memory;

extern "C" __global__ void plain(float *p)
{
	p[threadIdx.x] += 1;
}

// As many values as are alive at once.
extern "C" __global__ void __launch_bounds__(256) registers(float *p)
{
	float v[100], sum = 0;

#pragma unroll
	for (int i = 0; i < 100; i++)
		v[i] = p[threadIdx.x + 256 * i];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < 100; i++)
		sum += v[i] * v[99 - i] + p[i];
	p[threadIdx.x] = sum;
}

extern "C" __global__ void static_shared(float *p)
{
	__shared__ float held[4096];

	held[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = held[(threadIdx.x + 7) % blockDim.x];
}

extern "C" __global__ void dynamic_shared(float *p)
{
	extern __shared__ float held[];

	held[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = held[(threadIdx.x + 7) % blockDim.x];
}

// Which place of the array is not known when it is compiled: it is in memory.
extern "C" __global__ void local_memory(float *p, int where)
{
	float held[128];

	for (int i = 0; i < 128; i++)
		held[i] = p[i];
	held[where + threadIdx.x % 7] = 1;
	p[threadIdx.x] = held[(where * 3) % 128] + held[(int)p[0] & 127];
}

extern "C" __global__ void clusters(float *p)
{
	p[threadIdx.x] += 2;
}

extern "C" __global__ void few(float *p)
{
	p[threadIdx.x] += 3;
}

static void launch(const char *name, void *function, int grid, int block, size_t dynamic, int cluster)
{
	int where = 5, n_blocks, device;
	void *arguments[] = {&memory, &where};
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	cudaFuncAttributes of;
	cudaDeviceProp properties;

	CHECK(cudaGetDevice(&device));
	CHECK(cudaGetDeviceProperties(&properties, device));
	if (dynamic > 48 << 10)
		CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic));
	config.gridDim = dim3(grid);
	config.blockDim = dim3(block);
	config.dynamicSmemBytes = dynamic;
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = cluster;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	config.attrs = &attribute;
	config.numAttrs = cluster > 0;
	for (int i = 0; i < 2; i++)
		CHECK(cudaLaunchKernelExC(&config, function, arguments));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFuncGetAttributes(&of, function));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n_blocks, function, block, dynamic));
	printf("launch %s %d %d %d %d %zu %zu %zu %d %d\n", name, grid, block, cluster, of.numRegs,
	       of.sharedSizeBytes, dynamic, of.localSizeBytes, n_blocks, properties.maxThreadsPerMultiProcessor / 32);
}

int main(void)
{
	CHECK(cudaMalloc(&memory, 1 << 20));
	CHECK(cudaMemset(memory, 0, 1 << 20));
	launch("plain", (void *)plain, 1000, 256, 0, 0);
	launch("plain", (void *)plain, 50, 1024, 0, 0);
	launch("registers", (void *)registers, 600, 256, 0, 0);
	launch("static_shared", (void *)static_shared, 300, 128, 0, 0);
	launch("dynamic_shared", (void *)dynamic_shared, 300, 128, 90 << 10, 0);
	launch("dynamic_shared", (void *)dynamic_shared, 300, 128, 20 << 10, 0);
	launch("local_memory", (void *)local_memory, 300, 96, 0, 0);
	launch("few", (void *)few, 3, 32, 0, 0);
	launch("clusters", (void *)clusters, 264, 128, 0, 2);
	return 0;
}
