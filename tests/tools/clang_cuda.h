/* SPDX-License-Identifier: MIT */
/* Of CUDA what <proton/kernel.cuh> and tests need, by what clang has built in: for a clang that does not know the headers of the toolkit
 * that is here (-nocudainc -nocudalib -include clang_cuda.h). */
#define __device__      __attribute__((device))
#define __host__        __attribute__((host))
#define __global__      __attribute__((global))
#define __shared__      __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))

struct alignas(16) uint4 {
	unsigned x, y, z, w;
};

#include <__clang_cuda_builtin_vars.h>

static __device__ unsigned __activemask()
{
	unsigned m;
	asm volatile("activemask.b32 %0;" : "=r"(m));
	return m;
}
static __device__ int __ffs(unsigned v)
{
	return __builtin_ffs((int)v);
}
static __device__ int __popc(unsigned v)
{
	return __builtin_popcount(v);
}
static __device__ unsigned __ballot_sync(unsigned m, bool p)
{
	return __nvvm_vote_ballot_sync(m, p);
}
static __device__ void __syncwarp(unsigned m)
{
	__nvvm_bar_warp_sync(m);
}
static __device__ void __threadfence()
{
	__nvvm_membar_gl();
}
static __device__ unsigned __shfl_sync(unsigned m, unsigned v, int from)
{
	return (unsigned)__nvvm_shfl_sync_idx_i32(m, (int)v, from, 31);
}
static __device__ unsigned long long __shfl_sync(unsigned m, unsigned long long v, int from)
{
	return (unsigned long long)__shfl_sync(m, (unsigned)(v >> 32), from) << 32 |
	       __shfl_sync(m, (unsigned)v, from);
}
static __device__ unsigned atomicAdd(unsigned *p, unsigned v)
{
	return __nvvm_atom_add_gen_i((int *)p, (int)v);
}
static __device__ unsigned long long atomicAdd(unsigned long long *p, unsigned long long v)
{
	return __nvvm_atom_add_gen_ll((long long *)p, (long long)v);
}
static __device__ unsigned long long __cvta_generic_to_shared(const void *p)
{
	unsigned long long a;
	asm("cvta.to.shared.u64 %0, %1;" : "=l"(a) : "l"(p));
	return a;
}
static __device__ long long __double_as_longlong(double v)
{
	return __builtin_bit_cast(long long, v);
}
static __device__ double __longlong_as_double(long long v)
{
	return __builtin_bit_cast(double, v);
}
static __device__ unsigned __float_as_uint(float v)
{
	return __builtin_bit_cast(unsigned, v);
}
static __device__ double fmin(double a, double b)
{
	return __nvvm_fmin_d(a, b);
}
static __device__ double fmax(double a, double b)
{
	return __nvvm_fmax_d(a, b);
}
