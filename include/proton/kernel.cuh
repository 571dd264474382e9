/* SPDX-License-Identifier: MIT */
#ifndef PROTON_KERNEL_CUH
#define PROTON_KERNEL_CUH
/* Names for the parts of a kernel, timed on the clock of each warp. CUDA C++17 (nvcc, NVRTC); the header is all there is.
 *
 *	#define PROTON_KERNEL // or -DPROTON_KERNEL: without it all of this is nothing
 *	#include <proton/kernel.cuh>
 *
 *	__global__ void product(...)
 *	{
 *		PROTON_KERNEL_INIT();
 *		for (int k = 0; k < n; k += TILE) {
 *			PROTON_SCOPE("tile");
 *			PROTON_ENTER("load");
 *			...
 *			PROTON_EXIT("load");
 *		}
 *	}
 *
 * `proton` shows them below the kernel. Nothing needs to be linked; where nobody profiles, warps record into shared memory, and
 * that is all. With glibc before 2.34, link with -ldl.
 *
 * A warp's scopes are those of its first thread that is there at PROTON_KERNEL_INIT(). They are handed over when the kernel
 * returns to that thread, wherever this is; no thread waits for another warp. A record is three instructions. Kept are the
 * latest PROTON_KERNEL_RECORDS of each warp: a scope is one of them with PROTON_SCOPE(), and two with PROTON_ENTER() and
 * PROTON_EXIT(). What is overwritten is counted. All of it takes (PROTON_KERNEL_WARPS + 1) * PROTON_KERNEL_RECORDS * 16 bytes of
 * shared memory, and 20 bytes a warp. Warps of a block beyond PROTON_KERNEL_WARPS are not recorded, but counted.
 *
 * A loop with a record is not unrolled by the compiler. The clock has 32 bits: two records of a warp on end are to be less than
 * 2^32 cycles apart, which is two seconds.
 *
 * Functions that record are handed the warp:
 *
 *	__device__ void load(float *to PROTON_KERNEL_PARAMETER) { PROTON_SCOPE("load"); ... }
 *	load(p PROTON_KERNEL_ARGUMENT);
 *
 * A module that a program loads by itself while it launches (NVRTC with lazy loading) has its first launch unrecorded, and
 * counted, unless a source file of the program includes this header. Kernels that are nodes of a graph which was not captured
 * record once they were launched otherwise. */

#ifndef PROTON_KERNEL
#define PROTON_KERNEL_INIT()   ((void)0)
#define PROTON_ENTER(name)     ((void)0)
#define PROTON_EXIT(name)      ((void)0)
#define PROTON_SCOPE(name)     ((void)0)
#define PROTON_KERNEL_PARAMETER
#define PROTON_KERNEL_ARGUMENT
#else

#ifndef PROTON_KERNEL_RECORDS /* a power of two */
#define PROTON_KERNEL_RECORDS 32
#endif
#ifndef PROTON_KERNEL_WARPS
#define PROTON_KERNEL_WARPS 16
#endif

#ifndef __CUDACC_RTC__
#include <proton/proton.h>
#endif

namespace proton_kernel
{
static_assert(PROTON_KERNEL_RECORDS > 0 && !(PROTON_KERNEL_RECORDS & (PROTON_KERNEL_RECORDS - 1)),
	      "PROTON_KERNEL_RECORDS is a power of two");
static_assert(PROTON_KERNEL_WARPS > 0 && PROTON_KERNEL_WARPS <= 32, "a block has 1 to 32 warps");

typedef unsigned u32;
typedef unsigned long long u64;

/* Where warps leave what they recorded. `proton` makes one for each context (src/backends/cuda_arena.c has the same). */
struct arena {
	u64 cursor;  /* bytes that were taken, ever */
	u64 soft;    /* nobody begins to take beyond it; behind it is room for those who are about to */
	u64 dropped; /* warps that were not recorded */
	u64 ring;    /* address */
	u64 mask;    /* its size, a power of two, less one */
};

/* Found by its name in the loaded module, and written before a launch. 0: nobody profiles. */
static __device__ u64 proton_kernel_arena_1;

/* A record has 16 bytes: what, the clock, and of a scope that was left the clock then (src/intra/warp_slices.h). */
enum { RECORD = 16, RING = PROTON_KERNEL_RECORDS * RECORD, HEAD_WORDS = 20 };
enum : u32 { LEAVE = 1u << 31, WHOLE = 3u << 29 };
enum { ID_SHIFT = 11, ID_BITS = 18 };

/* In shared memory. The last ring is for all threads that do not record: they store, too, so that no record has a branch. */
struct block {
	alignas(RING) char rings[PROTON_KERNEL_WARPS + 1][RING];
	u64 entered_ns[PROTON_KERNEL_WARPS], entered_clock[PROTON_KERNEL_WARPS];
	u32 check[PROTON_KERNEL_WARPS];
};

__device__ __forceinline__ u32 clock32()
{
	u32 c;

	asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
	return c;
}

__device__ __forceinline__ u64 clock64()
{
	u64 c;

	asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)::"memory");
	return c;
}

__device__ __forceinline__ u64 time_ns()
{
	u64 t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
	return t;
}

__device__ __forceinline__ u32 lane()
{
	u32 l;

	asm("mov.u32 %0, %%laneid;" : "=r"(l));
	return l;
}

/* Which name: the same in each kernel. */
__host__ __device__ constexpr u32 hash(const char *s, u32 h = 2166136261u)
{
	return *s ? hash(s + 1, (h ^ (unsigned char)*s) * 16777619u) : (h ^ h >> 18) & ((1u << ID_BITS) - 1);
}

template <u32 N> struct constant {
	static constexpr u32 value = N;
};

/* What a thread knows of its warp. */
struct warp {
	u32 ring;    /* address in shared memory */
	u32 written; /* bytes, ever */
	struct block *block;

	__device__ __forceinline__ static u32 index()
	{
		return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
	}

	__device__ __forceinline__ static u32 ring_of(const struct block *b, u32 w)
	{
		return (u32)__cvta_generic_to_shared(b->rings[w]);
	}

	/* NULL: nobody profiles. */
	__device__ __forceinline__ static struct arena *arena_of()
	{
		return (struct arena *)*(volatile u64 *)&proton_kernel_arena_1;
	}

	__device__ __forceinline__ explicit warp(struct block *b) : written(0), block(b)
	{
		u32 w = index();
		bool is_first = lane() == __ffs(__activemask()) - 1, records = is_first && w < PROTON_KERNEL_WARPS;

		ring = ring_of(b, records ? w : PROTON_KERNEL_WARPS);
		if (records) {
			b->check[w] = 0;
			b->entered_ns[w] = time_ns();
			b->entered_clock[w] = clock64();
		} else if (is_first && arena_of()) {
			atomicAdd(&arena_of()->dropped, 1ull);
		}
	}

	__device__ __forceinline__ u32 next()
	{
		/* Added, not joined: where the compiler knows `written`, or that it is the same for all, it becomes part of the store. */
		u32 at = ring + (written & (RING - 1));

		written += RECORD;
		return at;
	}

	__device__ __forceinline__ void record(u32 tag)
	{
		u32 c = clock32(), at = next();

		asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(tag), "r"(c) : "memory");
	}

	__device__ __forceinline__ void scope(u32 tag, u32 entered)
	{
		u32 c = clock32(), at = next();

		asm volatile("{ .reg .u32 none; st.shared.v4.u32 [%0], {%1, %2, %3, none}; }" ::"r"(at), "r"(tag), "r"(entered), "r"(c)
			     : "memory");
	}

	/* Takes room; false: there is none. */
	__device__ __forceinline__ static bool take(struct arena *a, u32 bytes, u64 *ret_at)
	{
		if (*(volatile u64 *)&a->cursor + bytes > *(volatile u64 *)&a->soft) {
			atomicAdd(&a->dropped, 1ull);
			return false;
		}
		*ret_at = atomicAdd(&a->cursor, (u64)bytes);
		return true;
	}

	/* Copies records from the i-th on, each step-th: the sum of what was copied. */
	__device__ __forceinline__ u32 copy(const struct arena *a, u64 at, u32 w, u32 i, u32 step) const
	{
		u32 n = written / RECORD, kept = n < PROTON_KERNEL_RECORDS ? n : PROTON_KERNEL_RECORDS, sum = 0;

		for (; i < kept; i += step) {
			u32 from = ring_of(block, w) + ((n - kept + i) & (PROTON_KERNEL_RECORDS - 1)) * RECORD;
			uint4 v;

			asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
				     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
				     : "r"(from)
				     : "memory");
			*(uint4 *)(a->ring + ((at + HEAD_WORDS * 4 + i * RECORD) & a->mask)) = v;
			sum += v.x + 3 * v.y + 5 * v.z + 7 * v.w;
		}
		return sum;
	}

	/* What says that it is all there is written last. */
	__device__ __forceinline__ void head(const struct arena *a, u64 at, u32 w, u32 bytes) const
	{
		u64 left_ns = time_ns(), left_clock = clock64(), launch;
		u32 sm, sum = *(volatile u32 *)&block->check[w];

		asm("mov.u32 %0, %%smid;" : "=r"(sm));
		asm("mov.u64 %0, %%gridid;" : "=l"(launch));
		u64 words[HEAD_WORDS / 2] = {at + 1,
					     (u64)(written / RECORD) << 32 | bytes,
					     launch,
					     blockIdx.x + (u64)gridDim.x * (blockIdx.y + (u64)gridDim.y * blockIdx.z),
					     (u64)w << 32 | sm,
					     block->entered_ns[w],
					     block->entered_clock[w],
					     left_ns,
					     left_clock};

		for (u32 i = 1; i < HEAD_WORDS / 2 - 1; i++)
			sum += (u32)words[i] + 3 * (u32)(words[i] >> 32);
		words[HEAD_WORDS / 2 - 1] = sum;
		for (u32 i = 1; i < HEAD_WORDS / 2; i++)
			*(u64 *)(a->ring + ((at + i * 8) & a->mask)) = words[i];
		__threadfence();
		*(volatile u64 *)(a->ring + (at & a->mask)) = words[0];
	}

	/* By all threads of the warp that are there, of which one may be the one that recorded. */
	__device__ __forceinline__ void finish()
	{
		struct arena *a = arena_of();
		u32 w = index(), there = __activemask(), bytes = 0;
		bool records = w < PROTON_KERNEL_WARPS && ring == ring_of(block, w);
		u32 recording = __ballot_sync(there, records);
		u64 at = ~0ull;

		if (!a || !recording)
			return;
		if (records) {
			bytes = HEAD_WORDS * 4 + (written < RING ? written : RING);
			if (!take(a, bytes, &at))
				at = ~0ull;
		}
		at = __shfl_sync(there, at, __ffs(recording) - 1);
		written = __shfl_sync(there, written, __ffs(recording) - 1);
		if (at == ~0ull)
			return;
		u32 sum = copy(a, at, w, __popc(there & ((1u << lane()) - 1)), __popc(there));

		atomicAdd(&block->check[w], sum);
		__threadfence();
		__syncwarp(there);
		if (records)
			head(a, at, w, bytes);
	}
};

/* From PROTON_KERNEL_INIT() to where the kernel returns. */
struct kernel : warp {
	using warp::warp;
	__device__ __forceinline__ ~kernel()
	{
		finish();
	}
};

/* A scope to the end of its block. */
struct scope {
	warp &w;
	u32 tag, entered;

	__device__ __forceinline__ scope(warp &of, u32 id) : w(of), tag(WHOLE | id), entered(clock32())
	{
	}
	__device__ __forceinline__ ~scope()
	{
		w.scope(tag, entered);
	}
};

#ifndef __CUDACC_RTC__
/* Before main(), or as the library with such kernels is loaded. */
__attribute__((constructor, unused)) static void say_so()
{
	proton_has_kernel_scopes();
}
#endif
} // namespace proton_kernel

#define PROTON_KERNEL_JOIN_(a, b) a##b
#define PROTON_KERNEL_JOIN(a, b)  PROTON_KERNEL_JOIN_(a, b)
/* The number of a name. */
#define PROTON_KERNEL_ID(name) \
	(proton_kernel::constant<proton_kernel::hash(name)>::value << proton_kernel::ID_SHIFT)
/* What it is called: in the module, beside the code, of which it takes nothing. A declaration. */
#define PROTON_KERNEL_NAME(name, variable)                                                        \
	static const __device__ __attribute__((used)) struct {                                    \
		char magic[8];                                                                    \
		proton_kernel::u32 id, line;                                                      \
		char text[sizeof(name)];                                                          \
	} variable = {{'P', 'R', 'T', 'N', 'S', 'C', 'P', '1'},                                   \
		      proton_kernel::constant<proton_kernel::hash(name)>::value,                  \
		      __LINE__,                                                                   \
		      name}
#define PROTON_KERNEL_RECORD(name, tag)                                      \
	do {                                                                 \
		PROTON_KERNEL_NAME(name, proton_kernel_name);                \
		proton_kernel_warp.record((tag) | PROTON_KERNEL_ID(name));   \
	} while (0)
#define PROTON_KERNEL_SCOPE(name, n)                                                              \
	PROTON_KERNEL_NAME(name, PROTON_KERNEL_JOIN(proton_kernel_name_, n));                     \
	proton_kernel::scope PROTON_KERNEL_JOIN(proton_kernel_scope_, n)(proton_kernel_warp,      \
									 PROTON_KERNEL_ID(name))

/* In a kernel, once, where all its threads come by, before the first scope. A declaration.
 *   unit    none
 *   source  the kernel; what is recorded is handed over at each return
 *   errors  a warp that finds no room is counted ("warps"), and the kernel goes on
 *   thread  all of the block */
#define PROTON_KERNEL_INIT()                         \
	__shared__ proton_kernel::block proton_kernel_block; \
	proton_kernel::kernel proton_kernel_warp(&proton_kernel_block)

/* Open a scope, and close the innermost one of that name. They need not nest.
 *   unit    cycles of the multiprocessor's clock from the one to the other
 *   source  name: a literal, at most 255 bytes
 *   errors  one without the other is counted ("warp_unmatched"), and what is overwritten ("warp_records_full")
 *   thread  all of the warp; its first one is recorded */
#define PROTON_ENTER(name) PROTON_KERNEL_RECORD(name, 0u)
#define PROTON_EXIT(name)  PROTON_KERNEL_RECORD(name, proton_kernel::LEAVE)

/* A scope from here to the end of the enclosing block, however it is left. A declaration; one record.
 *   unit    as PROTON_ENTER()
 *   source  as PROTON_ENTER()
 *   errors  what is overwritten is counted ("warp_records_full")
 *   thread  as PROTON_ENTER() */
#define PROTON_SCOPE(name) PROTON_KERNEL_SCOPE(name, __COUNTER__)

/* In the parameters and arguments of functions that record, behind all others.
 *   unit    none
 *   source  the kernel's PROTON_KERNEL_INIT()
 *   errors  none
 *   thread  all of the warp */
#define PROTON_KERNEL_PARAMETER , proton_kernel::warp &proton_kernel_warp
#define PROTON_KERNEL_ARGUMENT  , proton_kernel_warp
#endif
#endif
