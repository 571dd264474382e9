// SPDX-License-Identifier: MIT
// What records of <proton/kernel.cuh> cost, in kernels that record into an arena of this program, which nobody reads. Built twice, as
// cuda_kernel_cost_sums with PROTON_KERNEL_ACCUMULATE.
//   cuda_kernel_cost   a line a case: cycles a scope of one warp that has its multiprocessor to itself, and how many times as long 528 blocks
//                      of eight warps take, against the same kernel without records
#define PROTON_KERNEL
#include <proton/kernel.cuh>
#include <string.h>

#include "cuda_common.cuh"

constexpr int TURNS = 1000, BLOCKS = 528, THREADS = 256, MULTIPLICATIONS = 16;
constexpr unsigned RINGS = 1024;

__device__ __forceinline__ float work(float v)
{
#pragma unroll
	for (int i = 0; i < MULTIPLICATIONS; i++)
		v = v * 1.0001f + 0.5f;
	return v;
}

__device__ __noinline__ float within(float v PROTON_KERNEL_PARAMETER)
{
	PROTON_SCOPE("within");
	return work(v);
}

#define KERNEL(name, begin, ...)                                                                   \
	extern "C" __global__ void name(float *p, long long *cycles)                               \
	{                                                                                          \
		begin;                                                                             \
		float v = p[blockIdx.x * blockDim.x + threadIdx.x];                                \
		long long entered = clock64();                                                     \
		_Pragma("unroll 1") for (int i = 0; i < TURNS; i++)                                \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
		if (!threadIdx.x)                                                                  \
			cycles[blockIdx.x] = clock64() - entered;                                  \
		p[blockIdx.x * blockDim.x + threadIdx.x] = v;                                      \
	}
#define W v = work(v);
#define S(name)                                                                                    \
	{                                                                                          \
		PROTON_SCOPE(name);                                                                \
		W                                                                                  \
	}
#define P(name)                                                                                    \
	PROTON_ENTER(name);                                                                        \
	W PROTON_EXIT(name);
#define INIT PROTON_KERNEL_INIT()

KERNEL(bare1, , W)
KERNEL(bare2, , W W)
KERNEL(bare3, , W W W)
KERNEL(bare8, , W W W W W W W W)
KERNEL(scope1, INIT, S("a"))
KERNEL(scope2, INIT, S("a") S("b"))
KERNEL(scope8, INIT, S("a") S("b") S("c") S("d") S("e") S("f") S("g") S("h"))
KERNEL(nest2, INIT, PROTON_SCOPE("a"); W S("b"))
KERNEL(nest3, INIT, PROTON_SCOPE("a"); W { PROTON_SCOPE("b"); W S("c") })
KERNEL(pair1, INIT, P("a"))
KERNEL(pair2, INIT, P("a") P("b"))
KERNEL(mark1, INIT, W PROTON_MARK("m");)
KERNEL(value1, INIT, W PROTON_METRIC("m", i);)
KERNEL(event2, INIT, PROTON_EVENT_BEGIN("e"); W PROTON_EVENT_END("e");)
KERNEL(one_parent, INIT, { PROTON_SCOPE("a"); v = within(v PROTON_KERNEL_ARGUMENT); }
       { PROTON_SCOPE("a"); v = within(v PROTON_KERNEL_ARGUMENT); })
KERNEL(two_parents, INIT, { PROTON_SCOPE("a"); v = within(v PROTON_KERNEL_ARGUMENT); }
       { PROTON_SCOPE("b"); v = within(v PROTON_KERNEL_ARGUMENT); })

struct measured {
	const char *name;
	void (*kernel)(float *, long long *), (*bare)(float *, long long *);
	int n_scopes;
};
static const struct measured cases[] = {
	{"scope1", scope1, bare1, 1}, {"scope2", scope2, bare2, 2},         {"scope8", scope8, bare8, 8},
	{"nest2", nest2, bare2, 2},   {"nest3", nest3, bare3, 3},           {"pair1", pair1, bare1, 1},
	{"pair2", pair2, bare2, 2},   {"mark1", mark1, bare1, 1},           {"value1", value1, bare1, 1},
	{"event2", event2, bare1, 1}, {"one_parent", one_parent, bare2, 4}, {"two_parents", two_parents, bare2, 4}};

/* The arena, as `proton` makes it, with all rings empty. */
struct arena_of_ours {
	struct proton_kernel::arena *device, *empty;
	size_t bytes;
};

static struct arena_of_ours make_arena()
{
	struct arena_of_ours a = {};
	char *rings;

	a.bytes = sizeof(*a.empty) + (RINGS - 1) * sizeof(struct proton_kernel::room);
	a.empty = (struct proton_kernel::arena *)calloc(1, a.bytes);
	CHECK(cudaMalloc(&rings, (size_t)RINGS * proton_kernel::ROOM));
	CHECK(cudaMalloc(&a.device, a.bytes));
	a.empty->is_on = proton_kernel::ALL_RECORD;
	a.empty->rings = (unsigned long long)rings;
	for (unsigned i = 0; i < proton_kernel::SEATS; i++) {
		a.empty->seats[i].ring = i * 4 % RINGS;
		a.empty->seats[i].step = 1;
		a.empty->seats[i].ring_mask = RINGS - 1;
	}
	CHECK(cudaMemcpyToSymbol(proton_kernel::proton_kernel_arena_2, &a.device, sizeof(a.device)));
	return a;
}

static struct arena_of_ours arena;
static float *numbers;
static long long *cycles;

/* The shortest of five. */
static double alone(const struct measured *m, bool records)
{
	long long c, least = 1ll << 60;

	for (int i = 0; i < 5; i++) {
		CHECK(cudaMemcpy(arena.device, arena.empty, arena.bytes, cudaMemcpyHostToDevice));
		(records ? m->kernel : m->bare)<<<1, 32>>>(numbers, cycles);
		CHECK(cudaMemcpy(&c, cycles, sizeof(c), cudaMemcpyDeviceToHost));
		least = std::min(least, c);
	}
	return (double)least / TURNS;
}

static double crowd(const struct measured *m, bool records)
{
	cudaEvent_t begin, end;
	float ms, least = 1e9;

	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	for (int i = 0; i < 4; i++) {
		CHECK(cudaMemcpy(arena.device, arena.empty, arena.bytes, cudaMemcpyHostToDevice));
		CHECK(cudaEventRecord(begin));
		(records ? m->kernel : m->bare)<<<BLOCKS, THREADS>>>(numbers, cycles);
		CHECK(cudaEventRecord(end));
		CHECK(cudaEventSynchronize(end));
		CHECK(cudaEventElapsedTime(&ms, begin, end));
		least = std::min(least, ms);
	}
	return least;
}

int main(void)
{
	CHECK(cudaMalloc(&numbers, BLOCKS * THREADS * sizeof(*numbers)));
	CHECK(cudaMemset(numbers, 0, BLOCKS * THREADS * sizeof(*numbers)));
	CHECK(cudaMalloc(&cycles, BLOCKS * sizeof(*cycles)));
	arena = make_arena();
	for (const struct measured &m : cases)
		printf("%-12s %6.1f cycles a scope alone, %5.2f times as long in a crowd\n", m.name,
		       (alone(&m, true) - alone(&m, false)) / m.n_scopes, crowd(&m, true) / crowd(&m, false));
	return 0;
}
