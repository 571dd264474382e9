// SPDX-License-Identifier: MIT
// Kernels with <proton/kernel.cuh>, of which is known what they record: marks, numbers, events from one warp to another, scopes that do not
// nest, a loop that is longer than a ring, a part that ends without a return, a warp of which some threads are there, nodes of a graph that was not
// captured. Built twice, as cuda_kernel_sums with PROTON_KERNEL_ACCUMULATE, which says the same.
//   cuda_kernel_records [-n REPETITIONS]     `scope PATH KEY=VALUE …`: see tests/tools/check_scopes.py
//   cuda_kernel_records -s                   … and delays as they are without records, for --kernel-scopes time-shift
//   cuda_kernel_records -c                   what records cost: the same work with and without them, nanoseconds a launch, in turns
#define PROTON_KERNEL
#ifndef PROTON_KERNEL_RECORDS
#define PROTON_KERNEL_RECORDS 64
#endif
#include <proton/kernel.cuh>
#include <string.h>

#include "cuda_common.cuh"

#ifdef PROTON_KERNEL_ACCUMULATE
constexpr bool KEEPS_ALL = true;
#else
constexpr bool KEEPS_ALL = false;
#endif

constexpr unsigned BLOCKS = 264, WARPS = 4, TURNS = 10, LONG = 1000;

/* As exact as the clock is: what a turn of the loop takes is not waited for too long. */
__device__ __forceinline__ void wait_cycles(unsigned n)
{
	asm volatile("{\n"
		     ".reg .u32 begin, now;\n"
		     ".reg .pred p;\n"
		     "mov.u32 begin, %%clock;\n"
		     "W%=: mov.u32 now, %%clock;\n"
		     "sub.u32 now, now, begin;\n"
		     "setp.lt.u32 p, now, %0;\n"
		     "@p bra W%=;\n"
		     "}" ::"r"(n)
		     : "memory");
}

/* As many marks and numbers as there are turns; the numbers of warp w are w - 1, so that some are below 0. */
extern "C" __global__ void moments()
{
	PROTON_KERNEL_INIT();
	int w = threadIdx.x / 32;

	for (unsigned i = 0; i < TURNS; i++) {
		PROTON_SCOPE("turn");
		PROTON_MARK("mark");
		PROTON_METRIC("number", w - 1);
		PROTON_METRIC("real", i + 0.25f);
	}
	PROTON_METRIC("large", (1ull << 40) + w);
}

/* The first warp begins what the second ends, as many at a time as there are stages. */
extern "C" __global__ void pipeline()
{
	PROTON_KERNEL_INIT();
	for (unsigned i = 0; i < TURNS; i++) {
		if (threadIdx.x < 32) {
			PROTON_EVENT_BEGIN("copy");
			PROTON_EVENT_BEGIN_OF("stage", i % 4);
		}
		__syncthreads();
		wait_cycles(3000);
		if (threadIdx.x >= 32) {
			PROTON_EVENT_END("copy");
			PROTON_EVENT_END_OF("stage", i % 4);
		}
		__syncthreads();
	}
}

/* "b" begins in "a" and ends behind it. */
extern "C" __global__ void crossing()
{
	PROTON_KERNEL_INIT();
	PROTON_ENTER("a");
	wait_cycles(1000);
	PROTON_ENTER("b");
	wait_cycles(1000);
	PROTON_EXIT("a");
	wait_cycles(1000);
	PROTON_EXIT("b");
}

extern "C" __global__ void longer()
{
	PROTON_KERNEL_INIT();
	for (unsigned i = 0; i < LONG; i++) {
		PROTON_SCOPE("long");
		wait_cycles(200);
	}
}

/* Known delays, with many records in them. */
extern "C" __global__ void planted()
{
	PROTON_KERNEL_INIT();
	PROTON_SCOPE("whole");
	for (unsigned i = 0; i < TURNS; i++) {
		PROTON_SCOPE("step");
		{
			PROTON_SCOPE("first");
			wait_cycles(500);
		}
		PROTON_ENTER("second");
		wait_cycles(1000);
		PROTON_EXIT("second");
	}
}

/* The same without records: what the delays are, by a clock that is read at their ends alone. */
extern "C" __global__ void truth(unsigned *to)
{
	unsigned first = 0, second = 0, steps = 0, whole = proton_kernel::clock32();

	for (unsigned i = 0; i < TURNS; i++) {
		unsigned a = proton_kernel::clock32(), b, c;

		wait_cycles(500);
		b = proton_kernel::clock32();
		wait_cycles(1000);
		c = proton_kernel::clock32();
		first += b - a;
		second += c - b;
		steps += c - a;
	}
	whole = proton_kernel::clock32() - whole;
	if (!threadIdx.x) {
		atomicAdd(&to[0], first);
		atomicAdd(&to[1], second);
		atomicAdd(&to[2], steps);
		atomicAdd(&to[3], whole);
	}
}

/* Nothing in them: what records cost themselves. */
extern "C" __global__ void empty()
{
	PROTON_KERNEL_INIT();
#pragma unroll
	for (unsigned i = 0; i < 8; i++) {
		PROTON_SCOPE("empty scope");
	}
#pragma unroll
	for (unsigned i = 0; i < 8; i++) {
		PROTON_ENTER("empty pair");
		PROTON_EXIT("empty pair");
	}
	{
		PROTON_SCOPE("of 4 scopes");
#pragma unroll
		for (unsigned i = 0; i < 4; i++) {
			PROTON_SCOPE("in");
		}
	}
	{
		PROTON_SCOPE("of 4 pairs");
#pragma unroll
		for (unsigned i = 0; i < 4; i++) {
			PROTON_ENTER("in");
			PROTON_EXIT("in");
		}
	}
	{
		PROTON_SCOPE("of 4 marks");
#pragma unroll
		for (unsigned i = 0; i < 4; i++)
			PROTON_MARK("mark");
	}
}

/* A load that is waited for, and one that is not. */
extern "C" __global__ void loads(const float *from, float *to)
{
	PROTON_KERNEL_INIT();
	float a, b;

	PROTON_ENTER("waited for");
	a = *(const volatile float *)(from + threadIdx.x);
	PROTON_EXIT_DEP("waited for", a);
	PROTON_ENTER("issued");
	b = *(const volatile float *)(from + 65536 + threadIdx.x);
	PROTON_EXIT("issued");
	to[threadIdx.x] = a + b;
}

/* Threads end without a return, behind what hands over. */
extern "C" __global__ void ending()
{
	PROTON_KERNEL_INIT();
	PROTON_ENTER("kept");
	wait_cycles(100);
	PROTON_EXIT("kept");
	PROTON_KERNEL_FINI();
	PROTON_MARK("not kept");
	asm volatile("exit;");
}

/* The second warp has five threads, of which two leave at once. */
extern "C" __global__ void partial()
{
	PROTON_KERNEL_INIT();
	PROTON_SCOPE("part");
	if (threadIdx.x >= 35)
		return;
	wait_cycles(100);
}

/* More warps than are recorded: 16. */
extern "C" __global__ void many()
{
	PROTON_KERNEL_INIT();
	PROTON_SCOPE("one of many");
}

extern "C" __global__ void unbalanced()
{
	PROTON_KERNEL_INIT();
	PROTON_ENTER("never left");
	PROTON_EXIT("never entered");
}

extern "C" __global__ void node()
{
	PROTON_KERNEL_INIT();
	PROTON_SCOPE("in a node");
}

static void run_node(void)
{
	cudaKernelNodeParams params = {};
	cudaGraphNode_t n;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	params.func = (void *)node;
	params.gridDim = dim3(3);
	params.blockDim = dim3(32);
	CHECK(cudaGraphAddKernelNode(&n, graph, NULL, 0, &params));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 5; i++)
		CHECK(cudaGraphLaunch(exec, 0));
	printf("scope node/in_a_node entries=15\n");
}

static void say(int n)
{
	unsigned warps = BLOCKS * WARPS * n, turns = warps * TURNS;

	printf("scope moments/turn entries=%u\n", turns);
	printf("scope moments/turn/mark entries=%u\n", turns);
	printf("scope moments/turn/number entries=%u value=%d least=-1 most=2\n", turns, (int)(turns / 2));
	printf("scope moments/turn/real entries=%u value=%.2f least=0.25 most=9.25\n", turns, 4.75 * turns);
	printf("scope moments/large entries=%u value=%.1f least=%llu most=%llu\n", warps, warps * ((double)(1ull << 40) + 1.5),
	       1ull << 40, (1ull << 40) + 3);
	printf("scope pipeline/copy entries=%u\n", BLOCKS * TURNS);
	printf("scope pipeline/stage entries=%u\n", BLOCKS * TURNS);
	printf("scope crossing/a entries=%u\n", BLOCKS * WARPS);
	printf("scope crossing/a/b entries=%u\n", BLOCKS * WARPS);
	printf("scope longer/long entries=%u\n", 8 * (KEEPS_ALL ? LONG : PROTON_KERNEL_RECORDS));
	printf("scope planted/whole/step entries=%u\n", 132 * TURNS);
	printf("scope ending/kept entries=8\n");
	printf("scope ending/not_kept entries=0\n");
	printf("scope partial/part entries=20\n");
	printf("scope many/one_of_many entries=160\n");
	if (!KEEPS_ALL) /* a sum has what it costs to add up within */
		printf("scope pipeline/copy mean=3000~10\nscope pipeline/stage mean=3000~10\n"
		       "scope crossing/a mean=2000~10\nscope crossing/a/b mean=2000~10\n");
	printf("loss warps_beyond=160\n");
	printf("loss warp_unmatched=4\n");
	if (!KEEPS_ALL)
		printf("loss warp_records_full=%u\n", 8 * (LONG - PROTON_KERNEL_RECORDS));
}

/* What is recorded is these, once what records cost is taken out. */
static void say_truth(void)
{
	static const char *const names[] = {"whole/step/first", "whole/step/second", "whole/step", "whole"};
	unsigned *to, sums[4];

	CHECK(cudaMalloc(&to, sizeof(sums)));
	CHECK(cudaMemset(to, 0, sizeof(sums)));
	truth<<<132, 32>>>(to);
	CHECK(cudaMemcpy(sums, to, sizeof(sums), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 4; i++)
		printf("scope planted/%s mean=%.1f~2\n", names[i], sums[i] / (i < 3 ? 132. * TURNS : 132.));
}

/* Work of a tile each, between two barriers: with records, and without. */
template <bool RECORDS> __device__ __forceinline__ float step(float v, int n)
{
	for (int i = 0; i < n; i++)
		v = v * 1.0001f + 0.5f;
	return v;
}

extern "C" __global__ void with(float *p, int n, int m)
{
	PROTON_KERNEL_INIT();
	float v = p[blockIdx.x * blockDim.x + threadIdx.x];

	for (int i = 0; i < n; i++) {
		PROTON_SCOPE("tile");
		{
			PROTON_SCOPE("multiply");
			v = step<true>(v, m);
		}
		PROTON_SCOPE("wait");
		__syncthreads();
	}
	p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

extern "C" __global__ void without(float *p, int n, int m)
{
	float v = p[blockIdx.x * blockDim.x + threadIdx.x];

	for (int i = 0; i < n; i++) {
		v = step<false>(v, m);
		__syncthreads();
	}
	p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

typedef void work(float *p, int n, int m);

static float time_of(work *w, float *p, int m)
{
	cudaEvent_t begin, end;
	float ms;

	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaEventRecord(begin));
	for (int i = 0; i < 20; i++)
		w<<<528, 256>>>(p, 100, m);
	CHECK(cudaEventRecord(end));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	return ms / 20 * 1e6f;
}

static void cost(void)
{
	static const int sizes[] = {16, 64, 256};
	float *p;

	CHECK(cudaMalloc(&p, 528 * 256 * sizeof(*p)));
	CHECK(cudaMemset(p, 0, 528 * 256 * sizeof(*p)));
	for (int m : sizes) {
		time_of(with, p, m);
		time_of(without, p, m);
		for (int i = 0; i < 9; i++) {
			float a = time_of(without, p, m), b = time_of(with, p, m);

			printf("cost %d %.0f %.0f %.4f\n", m, a, b, b / a);
		}
	}
}

int main(int argc, char **argv)
{
	int n = argc > 2 && !strcmp(argv[1], "-n") ? atoi(argv[2]) : 5;
	float *p;

	if (argc > 1 && !strcmp(argv[1], "-c")) {
		cost();
		return 0;
	}
	CHECK(cudaMalloc(&p, 1 << 20));
	CHECK(cudaMemset(p, 0, 1 << 20));
	run_node();
	for (int i = 0; i < n; i++)
		moments<<<BLOCKS, 32 * WARPS>>>();
	pipeline<<<BLOCKS, 64>>>();
	crossing<<<BLOCKS, 32 * WARPS>>>();
	longer<<<4, 64>>>();
	planted<<<132, 32>>>();
	empty<<<1, 32>>>();
	loads<<<1, 32>>>(p, p + 131072);
	ending<<<4, 64>>>();
	partial<<<10, 37>>>();
	many<<<10, 1024>>>();
	unbalanced<<<1, 64>>>();
	CHECK(cudaDeviceSynchronize());
	say(n);
	if (argc > 1 && !strcmp(argv[argc - 1], "-s"))
		say_truth();
	return 0;
}
