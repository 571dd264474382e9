/* SPDX-License-Identifier: MIT */
/* Two kernels, of which make.sh makes what lies beside this. */
__global__ void saxpy(float *y, const float *x, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += a * x[i];
}

template <class T> __global__ void turn(T *out)
{
	__shared__ T part[256];
	part[threadIdx.x] = out[threadIdx.x];
	__syncthreads();
	out[threadIdx.x] = part[255 - threadIdx.x];
}
template __global__ void turn<double>(double *);
