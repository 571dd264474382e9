/* Kernels that use local memory, and not: nvcc 13.0 -arch=sm_90 -cubin stacks.cu, and with -DAGAIN stacks-again.cubin, in
 * which "twice" has less. stacks.cubin: none 0 bytes a thread, array 512, calls 256, twice 128; "ptxas -v" says so. */
__device__ __noinline__ float leaf(const float *in, int n)
{
	float held[64];

#pragma unroll 1
	for (int i = 0; i < 64; i++)
		held[i] = in[i * n];
	return held[n & 63] + held[(n * 7) & 63];
}

#ifndef AGAIN
extern "C" __global__ void none(float *out) { out[threadIdx.x] += 1; }

extern "C" __global__ void array(float *out, int n)
{
	float held[128];

#pragma unroll 1
	for (int i = 0; i < 128; i++)
		held[i] = out[i * n];
	out[0] = held[n & 127] + held[(n * 7) & 127];
}

extern "C" __global__ void calls(float *out, int n) { out[0] = leaf(out, n) + leaf(out + 1, n + 1); }
enum { N = 32 };
#else
enum { N = 16 };
#endif

extern "C" __global__ void twice(float *out, int n)
{
	float held[N];

#pragma unroll 1
	for (int i = 0; i < N; i++)
		held[i] = out[i * n];
	out[0] = held[n & (N - 1)] + held[(n * 7) & (N - 1)];
}
