/* Kernels whose lines wait for what is known. The cubins beside it: nvcc 13.0 -arch=sm_90 -lineinfo -cubin
 * planted.cu in /src/planted, and planted-12.cubin by ptxas 12.8 of the same. planted.lines: nvdisasm -gi -c
 * planted.cubin; planted.sass: nvdisasm -c -fun N planted.cubin, of gather's symbol. */
__device__ __forceinline__ float weight(const float *table, int at)
{
	return table[at] * 2.0f;
}

__device__ __forceinline__ float scaled(const float *table, int at, float by)
{
	return weight(table, at * 32) * by;
}

__global__ void gather(float *out, const float *table, int n)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;

	if (at < n)
		out[at] = scaled(table, at, 0.5f);
}

__global__ void conflict(float *out)
{
	__shared__ float tile[32 * 32];

	tile[threadIdx.x * 32 % 1024] = scaled(out, threadIdx.x, 2.0f);
	__syncthreads();
	out[threadIdx.x] = tile[threadIdx.x * 32 % 1024 + 1];
}

__device__ __noinline__ float apart(float x)
{
	return x * x + sqrtf(x);
}

__global__ void caller(float *out)
{
	out[threadIdx.x] = apart(out[0]);
}
