// SPDX-License-Identifier: MIT
// A product of matrices as Hopper wants it, and where its warps wait: one warp group asks for tiles (TMA), two multiply those that have
// arrived (wgmma), and barriers in shared memory tell each other what is there and what may be written over.
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -DPROTON_KERNEL -o hopper_gemm hopper_gemm.cu -lcuda
//   (of K in the thousands, with -DPROTON_KERNEL_ACCUMULATE: sums of all tiles, where records are the latest 128)
//   proton record --intra-trace=1 -o gemm.hatchet -- ./hopper_gemm && proton report --view warps gemm.hatchet
// hopper_gemm [M N K [LAUNCHES]]: multiples of 128, 256, 64. It compares with a simple kernel, and says how long launches took.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define PROTON_KERNEL_WARPS   12
#define PROTON_KERNEL_RECORDS 128 // of a warp: two for each tile along K
#include <proton/kernel.cuh>

typedef __nv_bfloat16 bf16;

#define CHECK(call)                                                                                         \
	do {                                                                                                \
		if (cudaError_t error = (call)) {                                                           \
			fprintf(stderr, "hopper_gemm: %s: %s\n", #call, cudaGetErrorString(error));         \
			exit(1);                                                                            \
		}                                                                                           \
	} while (0)

constexpr int TILE_M = 128, TILE_N = 256, TILE_K = 64, STAGES = 4;
constexpr int GROUP = 128, CONSUMERS = 2, GROUP_M = TILE_M / CONSUMERS, THREADS = GROUP * (1 + CONSUMERS);
constexpr uint32_t A_BYTES = TILE_M * TILE_K * sizeof(bf16), B_BYTES = TILE_N * TILE_K * sizeof(bf16);
constexpr uint32_t STAGE_BYTES = A_BYTES + B_BYTES;
// Tiles are laid out in groups of eight rows of 128 bytes, whose parts of 16 bytes are exchanged (CU_TENSOR_MAP_SWIZZLE_128B).
constexpr uint32_t SWIZZLE_BYTES = 1024;
constexpr size_t SHARED_BYTES = STAGES * STAGE_BYTES + SWIZZLE_BYTES;

// ---- barriers in shared memory ----

__device__ __forceinline__ uint32_t address_of(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void barrier_init(uint64_t *barrier, uint32_t arrivals)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint64_t *barrier)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}

// Arrives, and has as many bytes to come.
__device__ __forceinline__ void barrier_expect(uint64_t *barrier, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(barrier)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_wait(uint64_t *barrier, uint32_t parity)
{
	asm volatile("{\n"
		     ".reg .pred done;\n"
		     "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
		     "@!done bra again;\n"
		     "}" ::"r"(address_of(barrier)),
		     "r"(parity)
		     : "memory");
}

// ---- copies and products ----

__device__ __forceinline__ void copy_tile(void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
			     address_of(to)),
		     "l"(map), "r"(column), "r"(row), "r"(address_of(barrier))
		     : "memory");
}

// How wgmma finds a tile: its address, the distance of groups of eight rows, all in units of 16 bytes, and the swizzle.
__device__ __forceinline__ uint64_t describe(const void *tile)
{
	return (address_of(tile) & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)(SWIZZLE_BYTES >> 4) << 32 | (uint64_t)1 << 62;
}

#define R8(i)                                                                                             \
	"+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]), "+f"(sum[i + 4]), "+f"(sum[i + 5]), \
		"+f"(sum[i + 6]), "+f"(sum[i + 7])
#define R32(i) R8(i), R8(i + 8), R8(i + 16), R8(i + 24)

// sum += 64 rows of A by 256 rows of B, 16 columns of each.
__device__ __forceinline__ void multiply(float (&sum)[128], uint64_t a, uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
		     "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
		     "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
		     "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
		     "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
		     "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
		     "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
		     "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
		     "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
		     "%128, %129, 1, 1, 1, 0, 0;"
		     : R32(0), R32(32), R32(64), R32(96)
		     : "l"(a), "l"(b));
}

// ---- the two halves of a block ----

struct pipeline {
	unsigned char *stages;           // A's part of a tile, then B's
	uint64_t *arrived, *multiplied; // of each stage
};

__device__ __forceinline__ void produce(const struct pipeline &p, const CUtensorMap *a, const CUtensorMap *b, int row, int column,
					int n_tiles PROTON_KERNEL_PARAMETER)
{
	PROTON_SCOPE("produce");
	for (int k = 0; k < n_tiles; k++) {
		int stage = k % STAGES;
		unsigned char *to = p.stages + stage * STAGE_BYTES;

		{
			PROTON_SCOPE("wait for room");
			barrier_wait(&p.multiplied[stage], k / STAGES % 2 ^ 1);
		}
		PROTON_SCOPE("ask for tiles");
		barrier_expect(&p.arrived[stage], STAGE_BYTES);
		copy_tile(to, a, k * TILE_K, row, &p.arrived[stage]);
		copy_tile(to + A_BYTES, b, k * TILE_K, column, &p.arrived[stage]);
	}
}

__device__ __forceinline__ void put(float *c, int width, int row, int column, const float (&sum)[128])
{
	int lane = threadIdx.x % 32, warp = threadIdx.x % GROUP / 32;
	float *to = c + (size_t)(row + warp * 16 + lane / 4) * width + column + lane % 4 * 2;

	for (int i = 0; i < 128; i += 4) {
		*(float2 *)(to + i * 2) = make_float2(sum[i], sum[i + 1]);
		*(float2 *)(to + i * 2 + (size_t)8 * width) = make_float2(sum[i + 2], sum[i + 3]);
	}
}

__device__ __forceinline__ void consume(const struct pipeline &p, float *c, int width, int row, int column,
					int n_tiles PROTON_KERNEL_PARAMETER)
{
	int group = threadIdx.x / GROUP - 1;
	float sum[128] = {0};

	PROTON_SCOPE("consume");
	for (int k = 0; k < n_tiles; k++) {
		int stage = k % STAGES;
		unsigned char *tile = p.stages + stage * STAGE_BYTES;
		uint64_t a = describe(tile + group * GROUP_M * TILE_K * sizeof(bf16)), b = describe(tile + A_BYTES);

		{
			PROTON_SCOPE("wait for tiles");
			barrier_wait(&p.arrived[stage], k / STAGES % 2);
		}
		PROTON_SCOPE("multiply");
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
		for (int i = 0; i < TILE_K / 16; i++)
			multiply(sum, a + i * 2, b + i * 2);
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
		if (threadIdx.x % GROUP == 0)
			barrier_arrive(&p.multiplied[stage]);
	}
	PROTON_SCOPE("store");
	put(c, width, row + group * GROUP_M, column, sum);
}

// C = A B', where A has rows of K numbers, B has, too, and C is of floats.
__global__ void __launch_bounds__(THREADS, 1)
	hopper_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int width, int n_tiles)
{
	PROTON_KERNEL_INIT();
	extern __shared__ unsigned char shared[];
	__shared__ uint64_t arrived[STAGES], multiplied[STAGES];
	struct pipeline p = {shared + (SWIZZLE_BYTES - address_of(shared) % SWIZZLE_BYTES) % SWIZZLE_BYTES, arrived, multiplied};
	int row = blockIdx.y * TILE_M, column = blockIdx.x * TILE_N;

	if (threadIdx.x == 0) {
		for (int i = 0; i < STAGES; i++) {
			barrier_init(&arrived[i], 1);
			barrier_init(&multiplied[i], CONSUMERS);
		}
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	}
	__syncthreads();
	if (threadIdx.x < GROUP) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
		if (threadIdx.x == 0)
			produce(p, &a, &b, row, column, n_tiles PROTON_KERNEL_ARGUMENT);
	} else {
		asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
		consume(p, c, width, row, column, n_tiles PROTON_KERNEL_ARGUMENT);
	}
}

// ---- what it is compared with ----

__global__ void fill(bf16 *to, size_t n, uint32_t seed)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		uint32_t h = (uint32_t)i * 2654435761u + seed;

		h = (h ^ h >> 15) * 2246822519u;
		to[i] = __float2bfloat16((int)((h ^ h >> 13) % 9) - 4); // sums of their products are exact in any order
	}
}

__global__ void simple_gemm(const bf16 *a, const bf16 *b, float *c, int m, int n, int k)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (int i = 0; i < k; i++)
		sum += __bfloat162float(a[(size_t)row * k + i]) * __bfloat162float(b[(size_t)column * k + i]);
	c[(size_t)row * n + column] = sum;
}

__global__ void count_different(const float *x, const float *y, size_t n, unsigned *count)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		if (__float_as_uint(x[i]) != __float_as_uint(y[i]))
			atomicAdd(count, 1u);
}

// ---- the host ----

static CUtensorMap describe_matrix(bf16 *matrix, int rows, int columns, int tile_rows)
{
	cuuint64_t size[] = {(cuuint64_t)columns, (cuuint64_t)rows}, stride[] = {columns * sizeof(bf16)};
	cuuint32_t box[] = {TILE_K, (cuuint32_t)tile_rows}, step[] = {1, 1};
	CUtensorMap map;

	if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, size, stride, box, step,
				   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
				   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) {
		fprintf(stderr, "hopper_gemm: no tensor map of %d x %d\n", rows, columns);
		exit(1);
	}
	return map;
}

static void check_device()
{
	int major = 0;

	CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
	if (major != 9) {
		fprintf(stderr, "hopper_gemm: this wants a GPU of compute capability 9.0\n");
		exit(1);
	}
}

struct product {
	int m, n, k;
	bf16 *a, *b;
	float *c;
};

static struct product make_product(int m, int n, int k)
{
	struct product p = {m, n, k};

	CHECK(cudaMalloc(&p.a, (size_t)m * k * sizeof(*p.a)));
	CHECK(cudaMalloc(&p.b, (size_t)n * k * sizeof(*p.b)));
	CHECK(cudaMalloc(&p.c, (size_t)m * n * sizeof(*p.c)));
	fill<<<256, 256>>>(p.a, (size_t)m * k, 1);
	fill<<<256, 256>>>(p.b, (size_t)n * k, 2);
	return p;
}

// The median, in milliseconds.
static float time_launches(const struct product &p, int launches)
{
	CUtensorMap a = describe_matrix(p.a, p.m, p.k, TILE_M), b = describe_matrix(p.b, p.n, p.k, TILE_N);
	std::vector<float> times(launches);
	cudaEvent_t begin, end;

	CHECK(cudaFuncSetAttribute(hopper_gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	for (float &time : times) {
		CHECK(cudaEventRecord(begin));
		hopper_gemm<<<dim3(p.n / TILE_N, p.m / TILE_M), THREADS, SHARED_BYTES>>>(a, b, p.c, p.n, p.k / TILE_K);
		CHECK(cudaGetLastError());
		CHECK(cudaEventRecord(end));
		CHECK(cudaEventSynchronize(end));
		CHECK(cudaEventElapsedTime(&time, begin, end));
	}
	std::sort(times.begin(), times.end());
	return times[launches / 2];
}

// Numbers that are not what a simple kernel computes, bit by bit.
static unsigned count_wrong(const struct product &p)
{
	unsigned *count, wrong;
	float *c;

	CHECK(cudaMalloc(&c, (size_t)p.m * p.n * sizeof(*c)));
	CHECK(cudaMalloc(&count, sizeof(*count)));
	CHECK(cudaMemset(count, 0, sizeof(*count)));
	simple_gemm<<<dim3(p.n / 32, p.m / 8), dim3(32, 8)>>>(p.a, p.b, c, p.m, p.n, p.k);
	count_different<<<256, 256>>>(p.c, c, (size_t)p.m * p.n, count);
	CHECK(cudaMemcpy(&wrong, count, sizeof(wrong), cudaMemcpyDeviceToHost));
	return wrong;
}

static uint64_t hash_result(const struct product &p)
{
	std::vector<uint32_t> bits((size_t)p.m * p.n);
	uint64_t h = 14695981039346656037ull;

	CHECK(cudaMemcpy(bits.data(), p.c, bits.size() * sizeof(bits[0]), cudaMemcpyDeviceToHost));
	for (uint32_t number : bits)
		h = (h ^ number) * 1099511628211ull;
	return h;
}

int main(int argc, char **argv)
{
	int size[] = {4096, 4096, 2048, 10};

	for (int i = 1; i < argc && i <= 4; i++)
		size[i - 1] = atoi(argv[i]);
	if (size[0] < 1 || size[1] < 1 || size[2] < 1 || size[0] % TILE_M || size[1] % TILE_N || size[2] % TILE_K || size[3] < 1) {
		fprintf(stderr, "hopper_gemm: M, N and K are multiples of %d, %d and %d, and there is a launch\n", TILE_M, TILE_N, TILE_K);
		return 2;
	}
	check_device();
	struct product p = make_product(size[0], size[1], size[2]);
	float ms = time_launches(p, size[3]);
	unsigned wrong = count_wrong(p);

	printf("%d x %d x %d: %.1f us, %.1f TFLOP/s; %u wrong, hash %016llx\n", p.m, p.n, p.k, 1e3 * ms, 2e-9 * p.m * p.n * p.k / ms,
	       wrong, (unsigned long long)hash_result(p));
	return wrong != 0;
}
