// SPDX-License-Identifier: MIT
// A graph of sixteen different kernels that load a device differently, for what is said of kernels inside graphs:
//   cuda_graph_mix [-n REPLAYS] [-l LAYERS] [-b]
// Like a decoder's layer, of kernels of 1 to 40 us: memory-bound ones that fill the device, ones of a few blocks and of one
// warp, ones whose blocks take unequal time, ones of one and a bit waves. -b: a part of each layer runs beside another part.
// Prints a line "fact NAME grid block blocks_per_sm" for each, and microseconds a graph.
#include <getopt.h>

#include "cuda_common.cuh"

enum { WEIGHTS = 48 << 20, SMALL = 4 << 20, WIDE = 4096, SIDE = 768, TILE = 16 };

static __device__ void wait_for(long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
}

// Memory: reads all of it, a warp a row.
static __device__ void dot_rows(const float4 *w, float *out, size_t n)
{
	size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
	float sum = 0;

	for (size_t i = at; i < n; i += step)
		sum += w[i].x + w[i].y + w[i].z + w[i].w;
	if (sum == 1.5f)
		out[at % WIDE] = sum;
}

extern "C" __global__ void gemv_large(const float4 *w, float *out) { dot_rows(w, out, WEIGHTS / 16); }
extern "C" __global__ void gemv_small(const float4 *w, float *out) { dot_rows(w, out, SMALL / 16); }

extern "C" __global__ void rms_norm(float *x)
{
	__shared__ float held[512];
	float v = 0;

	for (int i = threadIdx.x; i < WIDE; i += blockDim.x)
		v += x[i] * x[i];
	held[threadIdx.x] = v;
	for (int half = 256; half; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			held[threadIdx.x] += held[threadIdx.x + half];
	}
	__syncthreads();
	for (int i = threadIdx.x; i < WIDE; i += blockDim.x)
		x[i] = x[i] * rsqrtf(held[0] / WIDE + 1e-5f);
}

extern "C" __global__ void rope(float *x)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;
	float s, c;

	sincosf(at * 0.01f, &s, &c);
	x[at] = x[at] * c + s;
}

// Each block has a sequence of its own length: from a quarter to all of it.
extern "C" __global__ void attention(const int *next, float *out, int length)
{
	int n = length / 4 + length * 3 / 4 * (blockIdx.x % 8) / 7, at = (blockIdx.x * 977 + threadIdx.x * 31) % WIDE;
	float v = 0;

	for (int i = 0; i < n; i++) {
		at = next[at];
		v += __expf(at * -0.001f);
	}
	if (v == 1.5f)
		out[threadIdx.x] = v + at;
}

extern "C" __global__ void softmax(float *x)
{
	__shared__ float held[32];
	float v = __expf(x[threadIdx.x % WIDE] * 0.001f);

	for (int k = 0; k < 8; k++) {
		for (int half = 16; half; half /= 2)
			v += __shfl_xor_sync(~0u, v, half);
		if (threadIdx.x % 32 == 0)
			held[threadIdx.x / 32] = v;
		__syncthreads();
		v = held[threadIdx.x % 32] * 0.01f;
		__syncthreads();
	}
	if (v == 1.5f)
		x[threadIdx.x] = v;
}

extern "C" __global__ void activate(float *x)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;
	float v = x[at % WIDE];

	for (int i = 0; i < 64; i++)
		v = v / (1 + __expf(-v));
	if (v == 1.5f)
		x[at % WIDE] = v;
}

extern "C" __global__ void add(float *x, const float *y)
{
	for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < 1 << 20; at += gridDim.x * blockDim.x)
		x[at] += y[at];
}

extern "C" __global__ void product(const float *a, const float *b, float *c)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum = 0;

	for (int t = 0; t < SIDE / 4; t += TILE) {
		ta[threadIdx.y][threadIdx.x] = a[y * SIDE + t + threadIdx.x];
		tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * SIDE + x];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
		__syncthreads();
	}
	c[y * SIDE + x] = sum;
}

extern "C" __global__ void choose(const float *x, float *out)
{
	float best = -1;

	for (int i = threadIdx.x; i < 128 * 1024; i += blockDim.x)
		best = fmaxf(best, x[i]);
	if (best == 1.5f)
		out[threadIdx.x] = best;
}

// Full of blocks and a few more: the device is nearly empty in the second half.
extern "C" __global__ void wave_and_a_bit(long long cycles) { wait_for(cycles); }
extern "C" __global__ void one_warp(long long cycles) { wait_for(cycles); }
extern "C" __global__ void one_block(long long cycles) { wait_for(cycles); }
extern "C" __global__ void half_of_it(long long cycles) { wait_for(cycles); }

extern "C" __global__ void conflict(float *p, int n)
{
	__shared__ float held[32 * 32];
	float sum = 0;

	held[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	for (int i = 0; i < n; i++) {
		sum += held[(threadIdx.x % 32) * 32 + (i & 31)];
		held[(threadIdx.x % 32) * 32 + (i & 31)] = sum;
	}
	if (sum == 1.5f)
		p[threadIdx.x] = sum;
}

extern "C" __global__ void embed(const float *table, float *x)
{
	for (int i = threadIdx.x; i < WIDE; i += blockDim.x)
		x[blockIdx.x * WIDE + i] = table[(size_t)(blockIdx.x * 7919 + 13) * 64 + i];
}

__global__ void chain(int *next)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	next[i] = (int)((i * 1664525ll + 1013904223ll) % WIDE);
}

static float *weights, *x, *y, *a, *b, *c;
static int *next_at;
static long long us; // cycles

template <typename F> static void fact(const char *name, F f, dim3 grid, dim3 block)
{
	int n = 0;

	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, block.x * block.y, 0));
	printf("fact %s %u %u %d\n", name, grid.x * grid.y, block.x * block.y, n);
}

static int per_sm; // blocks of wave_and_a_bit

// What, blocks, threads, arguments
#define KERNELS(_)                                                                                 \
	_(gemv_large, 4096, 256, ((float4 *)weights, x))                                           \
	_(rms_norm, 8, 512, (x))                                                                   \
	_(rope, 2048, 128, (x))                                                                    \
	_(attention, 32, 128, (next_at, x, 60))                                                    \
	_(softmax, 40, 1024, (x))                                                                  \
	_(choose, 1, 1024, (weights, x))                                                           \
	_(half_of_it, 66, 256, (8 * us))                                                           \
	_(conflict, 66, 1024, (y, 60))                                                             \
	_(one_warp, 1, 32, (5 * us))                                                               \
	_(gemv_small, 512, 256, ((float4 *)weights, x))                                            \
	_(activate, 264, 256, (x))                                                                 \
	_(add, 132, 256, (x, y))                                                                   \
	_(product, dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE), (a, b, c))                    \
	_(wave_and_a_bit, 132 * per_sm + 20, 256, (6 * us))                                        \
	_(one_block, 1, 128, (5 * us))                                                             \
	_(embed, 4, 256, (weights, x))

#define _(f, grid, block, args) static void run_##f(cudaStream_t s) { f<<<grid, block, 0, s>>> args; }
KERNELS(_)
#undef _

static void facts(void)
{
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, wave_and_a_bit, 256, 0));
#define _(f, grid, block, args) fact(#f, f, grid, block);
	KERNELS(_)
#undef _
}

static void layer(cudaStream_t s, cudaStream_t other, cudaEvent_t fork, cudaEvent_t join)
{
	run_gemv_large(s);
	run_rms_norm(s);
	run_rope(s);
	if (other) {
		CHECK(cudaEventRecord(fork, s));
		CHECK(cudaStreamWaitEvent(other, fork, 0));
	}
	run_attention(s);
	run_softmax(s);
	run_choose(s);
	run_half_of_it(other ? other : s);
	run_conflict(other ? other : s);
	run_one_warp(other ? other : s);
	if (other) {
		CHECK(cudaEventRecord(join, other));
		CHECK(cudaStreamWaitEvent(s, join, 0));
	}
	run_gemv_small(s);
	run_activate(s);
	run_add(s);
	run_product(s);
	run_wave_and_a_bit(s);
	run_one_block(s);
	run_embed(s);
}

int main(int argc, char **argv)
{
	int replays = 500, layers = 20, khz, c_;
	bool beside = false;
	size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
	cudaStream_t s, other = NULL;
	cudaEvent_t fork, join;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	double start;

	while ((c_ = getopt(argc, argv, "n:l:b")) != -1) {
		switch (c_) {
		case 'n': replays = std::max(1, atoi(optarg)); break;
		case 'l': layers = std::max(1, atoi(optarg)); break;
		case 'b': beside = true; break;
		default: fprintf(stderr, "usage: %s [-n REPLAYS] [-l LAYERS] [-b]\n", argv[0]); return 2;
		}
	}
	CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
	us = khz / 1000;
	CHECK(cudaMalloc(&weights, WEIGHTS));
	CHECK(cudaMalloc(&x, 4 << 20));
	CHECK(cudaMalloc(&y, 4 << 20));
	CHECK(cudaMalloc(&next_at, WIDE * sizeof(int)));
	CHECK(cudaMalloc(&a, bytes));
	CHECK(cudaMalloc(&b, bytes));
	CHECK(cudaMalloc(&c, bytes));
	CHECK(cudaMemset(weights, 0, WEIGHTS));
	CHECK(cudaMemset(x, 0, 4 << 20));
	CHECK(cudaMemset(y, 0, 4 << 20));
	CHECK(cudaMemset(a, 0, bytes));
	CHECK(cudaMemset(b, 0, bytes));
	facts();
	chain<<<WIDE / 256, 256>>>(next_at);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	if (beside)
		CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	layer(s, other, fork, join); // loads the functions: may not happen in a capture
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < layers; i++)
		layer(s, other, fork, join);
	CHECK(cudaStreamEndCapture(s, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	start = now_ns();
	for (int i = 0; i < replays; i++) {
		CHECK(cudaGraphLaunch(exec, s));
		CHECK(cudaStreamSynchronize(s));
	}
	result("us_a_graph", (now_ns() - start) / 1e3 / replays);
	expect("graph_launches", replays);
	expect("kernels", (unsigned long long)16 * layers * (replays + 1) + 1);
	return 0;
}
