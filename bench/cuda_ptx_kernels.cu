// SPDX-License-Identifier: MIT
// Kernels whose PTX is made to record (cuda_ptx.c): of each is known what comes out, and of `delays` how long it takes. All take
// two arrays that are read, one that is written, and a number.
#define KERNEL extern "C" __global__ void

/* Threads that return early, behind a barrier. */
KERNEL axpy(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	__shared__ float t[256];

	t[threadIdx.x] = i < n ? a[i] : 0;
	__syncthreads();
	if (i >= n)
		return;
	c[i] = fmaf(2.5f, t[threadIdx.x ^ 1], b[i]);
}

/* Tiles of shared memory, unrolled within. */
KERNEL __launch_bounds__(256) tiles(const float *a, const float *b, float *c, int n)
{
	__shared__ float s[16][16], t[16][16];
	int x = threadIdx.x % 16, y = threadIdx.x / 16;
	float sum = 0;

	for (int k = 0; k < n; k += 16) {
		s[y][x] = a[(blockIdx.y * 16 + y) * n + k + x];
		t[y][x] = b[(k + y) * n + blockIdx.x * 16 + x];
		__syncthreads();
		for (int i = 0; i < 16; i++)
			sum = fmaf(s[y][i], t[i][x], sum);
		__syncthreads();
	}
	c[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}

/* Many registers: a block makes 128 x 128 numbers, a thread 8 x 8 of them. */
KERNEL __launch_bounds__(256) sgemm(const float *a, const float *b, float *c, int n)
{
	__shared__ float s[8][128], t[8][128];
	int x = threadIdx.x % 16, y = threadIdx.x / 16;
	const float *from_a = a + (blockIdx.y * 128 + threadIdx.x / 2) * n + threadIdx.x % 2 * 4;
	const float *from_b = b + threadIdx.x / 32 * n + blockIdx.x * 128 + threadIdx.x % 32 * 4;
	float sum[8][8] = {};

	for (int k = 0; k < n; k += 8) {
		float4 u = *(const float4 *)(from_a + k), v = *(const float4 *)(from_b + k * n);
		int row = threadIdx.x / 2, of = threadIdx.x % 2 * 4;

		s[of][row] = u.x;
		s[of + 1][row] = u.y;
		s[of + 2][row] = u.z;
		s[of + 3][row] = u.w;
		*(float4 *)&t[threadIdx.x / 32][threadIdx.x % 32 * 4] = v;
		__syncthreads();
#pragma unroll
		for (int i = 0; i < 8; i++) {
			float p[8], q[8];
#pragma unroll
			for (int j = 0; j < 8; j++) {
				p[j] = s[i][y * 8 + j];
				q[j] = t[i][x * 8 + j];
			}
#pragma unroll
			for (int j = 0; j < 8; j++)
#pragma unroll
				for (int l = 0; l < 8; l++)
					sum[j][l] = fmaf(p[j], q[l], sum[j][l]);
		}
		__syncthreads();
	}
	for (int j = 0; j < 8; j++)
		for (int l = 0; l < 8; l++)
			c[(blockIdx.y * 128 + y * 8 + j) * n + blockIdx.x * 128 + x * 8 + l] = sum[j][l];
}

/* A row for each block, three times: as a softmax reads it. */
KERNEL rows(const float *a, const float *b, float *c, int n)
{
	__shared__ float of_warp[32];
	float most = -1e30f, sum = 0;

	(void)b;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		most = fmaxf(most, a[blockIdx.x * n + i]);
	for (int i = 16; i; i /= 2)
		most = fmaxf(most, __shfl_xor_sync(~0u, most, i));
	of_warp[threadIdx.x / 32] = most;
	__syncthreads();
	for (unsigned i = 0; i < blockDim.x / 32; i++)
		most = fmaxf(most, of_warp[i]);
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		sum += __expf(a[blockIdx.x * n + i] - most);
	for (int i = 16; i; i /= 2)
		sum += __shfl_xor_sync(~0u, sum, i);
	of_warp[threadIdx.x / 32] = sum;
	__syncthreads();
	sum = 0;
	for (unsigned i = 0; i < blockDim.x / 32; i++)
		sum += of_warp[i];
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		c[blockIdx.x * n + i] = __expf(a[blockIdx.x * n + i] - most) / sum;
}

/* Threads that leave loops where they like, and the kernel from within them. */
KERNEL early(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (int j = 0; j < 200; j++) {
		float v = a[(i + j * 131) % n];

		if (v > 0.9999f)
			return;
		if (v > 0.999f)
			break;
		for (int k = 0; k < (int)(v * 8); k++) {
			sum = fmaf(sum, 0.5f, b[(i + k) % n]);
			if (sum == 123.25f)
				asm volatile("exit;");
		}
	}
	c[i % n] = sum;
}

__device__ __forceinline__ void wait_cycles(unsigned cycles)
{
	unsigned begin, now;

	asm volatile("mov.u32 %0, %%clock;" : "=r"(begin)::"memory");
	do {
		asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
	} while (now - begin < cycles);
}

/* Loops that take n times 10,000 cycles, and twice that. */
KERNEL delays(const float *a, const float *b, float *c, int n)
{
	(void)a;
	(void)b;
	for (int i = 0; i < n; i++)
		wait_cycles(10000);
	for (int i = 0; i < n; i++)
		wait_cycles(20000);
	if (!threadIdx.x)
		c[blockIdx.x] = 1;
}

__device__ __forceinline__ unsigned shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void wait_for(unsigned barrier, unsigned phase)
{
	asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
		     "@!done bra AGAIN;\n}" ::"r"(barrier),
		     "r"(phase)
		     : "memory");
}

/* Four warps bring tiles, four others multiply them, with fewer registers and with more: as kernels for Hopper do it. What the
 * numbers mean does not matter. */
KERNEL __launch_bounds__(256, 1) roles(const float *a, const float *b, float *c, int n)
{
	enum { TILE = 4096, STAGES = 2 };
	__shared__ alignas(1024) char tile[STAGES][TILE];
	__shared__ alignas(8) unsigned long long full[STAGES], empty[STAGES];

	(void)b;
	if (!threadIdx.x)
		for (int i = 0; i < STAGES; i++) {
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[i])) : "memory");
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(shared_address(&empty[i])) : "memory");
		}
	asm volatile("fence.proxy.async;" ::: "memory");
	__syncthreads();
	if (threadIdx.x < 128) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
		for (int k = 0; k < n && !threadIdx.x; k++) {
			unsigned barrier = shared_address(&full[k % STAGES]);

			wait_for(shared_address(&empty[k % STAGES]), (k / STAGES + 1) % 2);
			asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(int(TILE)) : "memory");
			asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
					     shared_address(tile[k % STAGES])),
				     "l"(a + (blockIdx.x * n + k) % 1024 * (TILE / 4)), "r"(int(TILE)), "r"(barrier)
				     : "memory");
		}
		return;
	}
	asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
	float d[4] = {};

	for (int k = 0; k < n; k++) {
		unsigned long long at = shared_address(tile[k % STAGES]) >> 4 | 8ull << 16 | 16ull << 32;

		wait_for(shared_address(&full[k % STAGES]), k / STAGES % 2);
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
		asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
			     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			     : "l"(at), "l"(at + 128));
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&empty[k % STAGES])) : "memory");
	}
	for (int i = 0; i < 4; i++)
		c[(blockIdx.x * 128 + threadIdx.x - 128) * 4 + i] = d[i];
}
