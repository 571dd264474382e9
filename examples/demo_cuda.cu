/* SPDX-License-Identifier: MIT */
/* The demo workload of demo_opencl.c in CUDA: a small training loop with scopes, flops and bytes.
 *
 *	make cuda-examples && proton top examples/demo_cuda
 *
 * data, train_step > forward, backward, optimizer, evaluate; every other step is one CUDA graph when
 * --graph is given. The first product is checked against the CPU. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <ctime>
#include <vector>
#include <cuda_runtime.h>
#include <proton/proton.h>

#define TILE 16
#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "demo_cuda: %s failed: %s\n", #call,                       \
				cudaGetErrorString(error_));                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y;
	int col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
	float sum = 0;

	for (int t = 0; t < n; t += TILE) {
		ta[y][x] = a[row * n + t + x];
		tb[y][x] = b[(t + y) * n + col];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += ta[y][i] * tb[i][x];
		__syncthreads();
	}
	c[row * n + col] = sum;
}

__global__ void transpose(const float *in, float *out, int n)
{
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	out[x * n + y] = in[y * n + x];
}

__global__ void relu(float *v)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	v[i] = fmaxf(v[i], 0.0f);
}

__global__ void relu_gradient(const float *v, float *g)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (v[i] <= 0.0f)
		g[i] = 0.0f;
}

__global__ void loss_gradient(const float *y, const float *want, float *g, float scale)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	g[i] = (y[i] - want[i]) * scale;
}

__global__ void saxpy(const float *x, float *y, float a)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	y[i] += a * x[i];
}

__global__ void sum_squares(const float *v, float *sum, int n)
{
	__shared__ float part[256];
	int l = threadIdx.x;
	float s = 0;

	for (int i = blockIdx.x * 256 + l; i < n; i += gridDim.x * 256)
		s += v[i] * v[i];
	part[l] = s;
	__syncthreads();
	for (int k = 128; k > 0; k >>= 1) {
		if (l < k)
			part[l] += part[l + k];
		__syncthreads();
	}
	if (l == 0)
		atomicAdd(sum, part[0]);
}

enum { X, STAGED, WANT, W1, W2, H, Y, GY, GH, GW1, GW2, T, SUM, N_BUFFERS };

struct demo {
	int n;
	size_t items, bytes;
	float *b[N_BUFFERS];
	float *host; /* pinned */
	cudaStream_t stream;
	cudaGraphExec_t graph;
	unsigned random;
	float loss;
};

struct options {
	long steps;
	double seconds;
	int size;
	bool quiet, graph;
};

static double now()
{
	timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static float random_float(demo *d)
{
	d->random = d->random * 1664525u + 1013904223u;
	return (float)(d->random >> 8) / (float)(1 << 23) - 1.0f;
}

static void account(double flops, double bytes)
{
	proton_scope_metric("flops32", flops);
	proton_scope_metric("bytes", bytes);
}

static unsigned blocks(const demo *d)
{
	return (unsigned)(d->items / 256);
}

static void do_matmul(demo *d, int a, int b, int c)
{
	proton_scope("matmul");
	double n = d->n;
	dim3 grid(d->n / TILE, d->n / TILE), block(TILE, TILE);

	account(2 * n * n * n, 3 * 4 * n * n);
	matmul<<<grid, block, 0, d->stream>>>(d->b[a], d->b[b], d->b[c], d->n);
}

static void do_transpose(demo *d, int in, int out)
{
	dim3 grid(d->n / TILE, d->n / TILE), block(TILE, TILE);

	account(0, 2.0 * (double)d->bytes);
	transpose<<<grid, block, 0, d->stream>>>(d->b[in], d->b[out], d->n);
}

static void do_saxpy(demo *d, int x, int y, float a)
{
	account(2.0 * (double)d->items, 3.0 * (double)d->bytes);
	saxpy<<<blocks(d), 256, 0, d->stream>>>(d->b[x], d->b[y], a);
}

static void load_data(demo *d)
{
	proton_scope("data");

	CHECK(cudaStreamSynchronize(d->stream)); /* the last copy from host has to be over */
	for (size_t i = 0; i < d->items; i++)
		d->host[i] = sinf((float)i * (float)i) + 0.1f * random_float(d);
	CHECK(cudaMemcpyAsync(d->b[STAGED], d->host, d->bytes, cudaMemcpyHostToDevice, d->stream));
	CHECK(cudaMemcpyAsync(d->b[X], d->b[STAGED], d->bytes, cudaMemcpyDeviceToDevice,
			      d->stream));
}

static void forward(demo *d)
{
	proton_scope("forward");

	{
		proton_scope("layer1");
		do_matmul(d, X, W1, H);
		account((double)d->items, 2.0 * (double)d->bytes);
		relu<<<blocks(d), 256, 0, d->stream>>>(d->b[H]);
	}
	{
		proton_scope("layer2");
		do_matmul(d, H, W2, Y);
	}
}

static void backward(demo *d)
{
	proton_scope("backward");

	account(2.0 * (double)d->items, 3.0 * (double)d->bytes);
	loss_gradient<<<blocks(d), 256, 0, d->stream>>>(d->b[Y], d->b[WANT], d->b[GY],
							2.0f / (float)d->n);
	{
		proton_scope("layer2");
		do_transpose(d, H, T);
		do_matmul(d, T, GY, GW2);
		do_transpose(d, W2, T);
		do_matmul(d, GY, T, GH);
	}
	{
		proton_scope("layer1");
		account(0, 3.0 * (double)d->bytes);
		relu_gradient<<<blocks(d), 256, 0, d->stream>>>(d->b[H], d->b[GH]);
		do_transpose(d, X, T);
		do_matmul(d, T, GH, GW1);
	}
}

static void optimizer(demo *d)
{
	proton_scope("optimizer");

	do_saxpy(d, GW1, W1, -0.02f);
	do_saxpy(d, GW2, W2, -0.02f);
	CHECK(cudaMemsetAsync(d->b[GW1], 0, d->bytes, d->stream));
	CHECK(cudaMemsetAsync(d->b[GW2], 0, d->bytes, d->stream));
}

static void train_step(demo *d)
{
	proton_scope("train_step");

	forward(d);
	backward(d);
	optimizer(d);
}

/* The same step, recorded once and launched as a whole. */
static void graph_step(demo *d)
{
	proton_scope("graph_step");

	if (!d->graph) {
		cudaGraph_t graph;

		CHECK(cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeThreadLocal));
		train_step(d);
		CHECK(cudaStreamEndCapture(d->stream, &graph));
		CHECK(cudaGraphInstantiate(&d->graph, graph, 0));
		CHECK(cudaGraphDestroy(graph));
	}
	CHECK(cudaGraphLaunch(d->graph, d->stream));
}

static void evaluate(demo *d)
{
	proton_scope("evaluate");

	CHECK(cudaMemsetAsync(d->b[SUM], 0, sizeof(float), d->stream));
	account(2.0 * (double)d->items, (double)d->bytes);
	sum_squares<<<16, 256, 0, d->stream>>>(d->b[GY], d->b[SUM], (int)d->items);
	CHECK(cudaMemcpyAsync(&d->loss, d->b[SUM], sizeof(float), cudaMemcpyDeviceToHost,
			      d->stream));
	CHECK(cudaStreamSynchronize(d->stream));
}

static void demo_init(demo *d, int size)
{
	static const int targets[] = {WANT, W1, W2};
	cudaDeviceProp properties;
	proton_scope("setup");

	d->n = (size + TILE - 1) / TILE * TILE;
	d->items = (size_t)d->n * (size_t)d->n;
	d->bytes = d->items * sizeof(float);
	d->random = 1;
	CHECK(cudaGetDeviceProperties(&properties, 0));
	printf("%dx%d on %s\n", d->n, d->n, properties.name);
	CHECK(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
	CHECK(cudaMallocHost(&d->host, d->bytes));
	for (int i = 0; i < N_BUFFERS; i++)
		CHECK(cudaMalloc(&d->b[i], d->bytes));
	for (int target : targets) {
		float scale = target == WANT ? 1.0f : 1.0f / sqrtf((float)d->n);

		for (size_t i = 0; i < d->items; i++)
			d->host[i] = random_float(d) * scale;
		CHECK(cudaMemcpy(d->b[target], d->host, d->bytes, cudaMemcpyHostToDevice));
	}
}

/* One forward pass; rows of X W1, which it leaves in H, against the same sums on the CPU. */
static void verify(demo *d)
{
	proton_scope("verify");
	std::vector<float> x(d->items), w(d->items), h(d->items);
	size_t n = (size_t)d->n;

	forward(d);
	CHECK(cudaStreamSynchronize(d->stream));
	CHECK(cudaMemcpy(x.data(), d->b[X], d->bytes, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(w.data(), d->b[W1], d->bytes, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(h.data(), d->b[H], d->bytes, cudaMemcpyDeviceToHost));
	for (size_t row = 0; row < n; row += n / 4)
		for (size_t col = 0; col < n; col++) {
			double sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += (double)x[row * n + k] * w[k * n + col];
			if (fabs(fmax(sum, 0) - h[row * n + col]) > 1e-3) {
				fprintf(stderr, "demo_cuda: wrong result at %zu,%zu: %g, not %g\n", row,
					col, h[row * n + col], fmax(sum, 0));
				exit(1);
			}
		}
}

static void usage(FILE *f)
{
	fprintf(f, "usage: demo_cuda [--steps N] [--seconds S] [--size N] [--graph] [--quiet]\n"
		   "  --steps N     stop after N steps (default: no limit)\n"
		   "  --seconds S   stop after S seconds (default: 10, or none with --steps)\n"
		   "  --size N      matrices of N x N (default: 512)\n"
		   "  --graph       every other step is a CUDA graph\n"
		   "  --quiet       no progress lines\n");
}

static options parse(int argc, char **argv)
{
	options o = {0, -1, 512, false, false};

	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		if (more && !strcmp(argv[i], "--steps"))
			o.steps = atol(argv[++i]);
		else if (more && !strcmp(argv[i], "--seconds"))
			o.seconds = atof(argv[++i]);
		else if (more && !strcmp(argv[i], "--size"))
			o.size = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--graph"))
			o.graph = true;
		else if (!strcmp(argv[i], "--quiet"))
			o.quiet = true;
		else {
			bool help = !strcmp(argv[i], "--help");

			usage(help ? stdout : stderr);
			exit(help ? 0 : 2);
		}
	}
	if (o.size < TILE || o.size > 16384) {
		usage(stderr);
		exit(2);
	}
	if (o.seconds < 0)
		o.seconds = o.steps ? INFINITY : 10;
	return o;
}

int main(int argc, char **argv)
{
	options o = parse(argc, argv);
	demo d = {};
	double start, said;
	long step = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	demo_init(&d, o.size);
	load_data(&d);
	verify(&d);
	start = said = now();
	while ((!o.steps || step < o.steps) && now() - start < o.seconds) {
		if (step % 10 == 0)
			load_data(&d);
		if (o.graph && step % 2)
			graph_step(&d);
		else
			train_step(&d);
		if (++step % 10 == 0)
			evaluate(&d);
		if (!o.quiet && now() - said >= 1) {
			said = now();
			printf("%6.1f s  step %6ld  loss %g\n", said - start, step, d.loss);
		}
	}
	CHECK(cudaDeviceSynchronize());
	printf("%ld steps in %.1f s, loss %g\n", step, now() - start, d.loss);
	return 0;
}
