// SPDX-License-Identifier: MIT
// Kernels with <proton/kernel.cuh> whose code is counted (scripts/kernel_header.sh), and a module for the collector
// (scripts/collect_kernel_slices.sh):
//   nvcc -O3 -std=c++17 -arch=sm_90 -Iinclude -cubin -o tests/cubins/scopes.cubin tests/cubins/scopes.cu
#define PROTON_KERNEL
#include <proton/kernel.cuh>

#define PAIR(name)          \
	PROTON_ENTER(name); \
	PROTON_EXIT(name)

extern "C" __global__ void straight_2()
{
	PROTON_KERNEL_INIT();
	PAIR("load");
}

extern "C" __global__ void straight_10()
{
	PROTON_KERNEL_INIT();
	PAIR("load");
	PAIR("store");
	PAIR("wait");
	PAIR("load");
	PAIR("store");
}

extern "C" __global__ void loop_1(float *p, int n)
{
	PROTON_KERNEL_INIT();
	float v = p[threadIdx.x];

#pragma unroll 1
	for (int i = 0; i < n; i++) {
		PROTON_SCOPE("tile");
		v = v * v + 1;
		v = v * v + 1;
		v = v * v + 1;
	}
	p[threadIdx.x] = v;
}

extern "C" __global__ void loop_3(float *p, int n)
{
	PROTON_KERNEL_INIT();
	float v = p[threadIdx.x];

#pragma unroll 1
	for (int i = 0; i < n; i++) {
		PROTON_SCOPE("tile");
		v = v * v + 1;
		{
			PROTON_SCOPE("load");
			v = v * v + 1;
		}
		{
			PROTON_SCOPE("store");
			v = v * v + 1;
		}
	}
	p[threadIdx.x] = v;
}
