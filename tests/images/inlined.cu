/* SPDX-License-Identifier: MIT */
/* Loops of a kernel, of what it calls, and of what is inlined into it, of which make.sh makes what lies beside this. */
__device__ __forceinline__ float scaled(float x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1.5f + __sinf(x);
	return x;
}

__device__ __noinline__ float called(float x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1.2f + __cosf(x);
	return x;
}

extern "C" __global__ void loops(float *y, int n)
{
	float v = y[threadIdx.x];
	for (int i = 0; i < n; i++) {
		v = scaled(v, n + i);
		__syncthreads();
	}
	for (int i = 0; i < n; i++)
		v += called(v, i);
	y[threadIdx.x] = v;
}
