/* SPDX-License-Identifier: MIT */
/* The demo workload: a small training loop in OpenCL, with scopes, flops and bytes, on whatever
 * device is there; with PoCL that is the CPU.
 *
 *	proton top examples/demo_opencl
 *
 * A network of one hidden layer is trained towards fixed outputs; its inputs get new noise:
 *
 *	data       new inputs                      write, copy
 *	train_step
 *	  forward    H = relu(X W1), Y = H W2      matmul, relu
 *	  backward   gradients of both layers      loss_gradient, matmul, transpose
 *	  optimizer  W -= rate * gradient          saxpy, fill
 *	evaluate   sum of squares, smoothed        reduce_squares, stencil, read, map
 *
 * The first product is checked against the CPU. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <getopt.h>
#include <math.h>
#include <proton/proton.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TILE    16
#define HISTORY 256

static const char source[] =
	"/* Each item has a tile of C of 4 rows and 8 columns in registers. */\n"
	"__kernel void matmul(__global const float *a, __global const float *b,\n"
	"                     __global float *c, int n, int k)\n"
	"{\n"
	"	int col = get_global_id(0) * 8, row = get_global_id(1) * 4;\n"
	"	float8 c0 = 0, c1 = 0, c2 = 0, c3 = 0;\n"
	"	a += row * k;\n"
	"	for (int i = 0; i < k; i++) {\n"
	"		float8 v = vload8(0, b + i * n + col);\n"
	"		c0 += a[i] * v;\n"
	"		c1 += a[k + i] * v;\n"
	"		c2 += a[2 * k + i] * v;\n"
	"		c3 += a[3 * k + i] * v;\n"
	"	}\n"
	"	vstore8(c0, 0, c + row * n + col);\n"
	"	vstore8(c1, 0, c + (row + 1) * n + col);\n"
	"	vstore8(c2, 0, c + (row + 2) * n + col);\n"
	"	vstore8(c3, 0, c + (row + 3) * n + col);\n"
	"}\n"
	"__kernel void transpose(__global const float *in, __global float *out, int rows, int "
	"cols)\n"
	"{\n"
	"	int x = get_global_id(0), y = get_global_id(1);\n"
	"	out[x * rows + y] = in[y * cols + x];\n"
	"}\n"
	"__kernel void relu(__global float *v)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	v[i] = fmax(v[i], 0.0f);\n"
	"}\n"
	"__kernel void relu_gradient(__global const float *v, __global float *g)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	if (v[i] <= 0.0f)\n"
	"		g[i] = 0.0f;\n"
	"}\n"
	"__kernel void loss_gradient(__global const float *y, __global const float *want,\n"
	"                            __global float *g, float scale)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	g[i] = (y[i] - want[i]) * scale;\n"
	"}\n"
	"__kernel void saxpy(__global const float *x, __global float *y, float a)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	y[i] += a * x[i];\n"
	"}\n"
	"__kernel void reduce_squares(__global const float *v, __global float *partial, int n)\n"
	"{\n"
	"	__local float part[256];\n"
	"	int l = get_local_id(0);\n"
	"	float sum = 0;\n"
	"	for (int i = get_global_id(0); i < n; i += get_global_size(0))\n"
	"		sum += v[i] * v[i];\n"
	"	part[l] = sum;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	for (int s = 128; s > 0; s >>= 1) {\n"
	"		if (l < s)\n"
	"			part[l] += part[l + s];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	}\n"
	"	if (l == 0)\n"
	"		partial[get_group_id(0)] = part[0];\n"
	"}\n"
	"__kernel void stencil(__global const float *in, __global float *out, int w, int h)\n"
	"{\n"
	"	int x = get_global_id(0), y = get_global_id(1);\n"
	"	int l = max(x - 1, 0), r = min(x + 1, w - 1), u = max(y - 1, 0), d = min(y + 1, h "
	"- 1);\n"
	"	out[y * w + x] = 0.5f * in[y * w + x] + 0.125f * (in[y * w + l] + in[y * w + r]\n"
	"			+ in[u * w + x] + in[d * w + x]);\n"
	"}\n";

/*        kernel        name in the source */
#define KERNELS(_)                                                                                 \
	_(MATMUL, matmul)                                                                          \
	_(TRANSPOSE, transpose)                                                                    \
	_(RELU, relu)                                                                              \
	_(RELU_GRADIENT, relu_gradient)                                                            \
	_(LOSS_GRADIENT, loss_gradient)                                                            \
	_(SAXPY, saxpy)                                                                            \
	_(REDUCE_SQUARES, reduce_squares)                                                          \
	_(STENCIL, stencil)

enum { /* clang-format off */
#define _(id, name) KERNEL_##id,
	KERNELS(_)
#undef _
	N_KERNELS /* clang-format on */
};

static const char *const kernel_names[] = {
#define _(id, name) #name,
	KERNELS(_)
#undef _
};

/* X: batch x n, W1: n x n, H: batch x n, W2: n x n, Y: batch x n; all n x n here. */
enum { X, STAGED, WANT, W1, W2, H, Y, GY, GH, GW1, GW2, T, SMOOTH, PARTIAL, N_BUFFERS };

struct demo {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernels[N_KERNELS];
	cl_mem buffers[N_BUFFERS];
	int n;
	size_t bytes; /* of one matrix */
	float *host;
	uint32_t random;
	float loss;
};

struct options {
	long steps; /* 0 = no limit */
	double seconds;
	int size;
	bool quiet;
};

/* --- small helpers ---------------------------------------------------------------------------- */

static void check(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "demo_opencl: %s failed: OpenCL error %d\n", what, error);
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static float random_float(struct demo *d)
{
	d->random = d->random * 1664525u + 1013904223u;
	return (float)(d->random >> 8) / (float)(1 << 23) - 1.0f;
}

static void fill_random(struct demo *d, float scale)
{
	for (int i = 0; i < d->n * d->n; i++)
		d->host[i] = random_float(d) * scale;
}

/* Say what the launch that follows will do, where the profiler keeps it. */
static void account(double flops, double bytes)
{
	proton_scope_metric("flops32", flops);
	proton_scope_metric("bytes", bytes);
}

static void launch_1d(struct demo *d, int kernel, size_t n)
{
	check(clEnqueueNDRangeKernel(d->queue, d->kernels[kernel], 1, NULL, &n, NULL, 0, NULL,
				     NULL),
	      kernel_names[kernel]);
}

/* Over the matrix, with an item for `columns` by `rows` of its elements. */
static void launch_2d(struct demo *d, int kernel, size_t columns, size_t rows)
{
	size_t global[2] = {(size_t)d->n / columns, (size_t)d->n / rows};

	check(clEnqueueNDRangeKernel(d->queue, d->kernels[kernel], 2, NULL, global, NULL, 0, NULL,
				     NULL),
	      kernel_names[kernel]);
}

static void arg_buffer(struct demo *d, int kernel, cl_uint i, int buffer)
{
	check(clSetKernelArg(d->kernels[kernel], i, sizeof(cl_mem), &d->buffers[buffer]),
	      kernel_names[kernel]);
}

static void arg_int(struct demo *d, int kernel, cl_uint i, int value)
{
	check(clSetKernelArg(d->kernels[kernel], i, sizeof(value), &value), kernel_names[kernel]);
}

static void arg_float(struct demo *d, int kernel, cl_uint i, float value)
{
	check(clSetKernelArg(d->kernels[kernel], i, sizeof(value), &value), kernel_names[kernel]);
}

static void write_buffer(struct demo *d, int buffer, bool wait)
{
	check(clEnqueueWriteBuffer(d->queue, d->buffers[buffer], wait, 0, d->bytes, d->host, 0,
				   NULL, NULL),
	      "clEnqueueWriteBuffer");
}

static void fill_buffer(struct demo *d, int buffer)
{
	float zero = 0;

	check(clEnqueueFillBuffer(d->queue, d->buffers[buffer], &zero, sizeof(zero), 0, d->bytes, 0,
				  NULL, NULL),
	      "clEnqueueFillBuffer");
}

/* --- operations on matrices ------------------------------------------------------------------- */

static void matmul(struct demo *d, int a, int b, int c)
{
	proton_scope("matmul");
	double n = d->n;

	arg_buffer(d, KERNEL_MATMUL, 0, a);
	arg_buffer(d, KERNEL_MATMUL, 1, b);
	arg_buffer(d, KERNEL_MATMUL, 2, c);
	arg_int(d, KERNEL_MATMUL, 3, d->n);
	arg_int(d, KERNEL_MATMUL, 4, d->n);
	account(2 * n * n * n, 3 * 4 * n * n);
	launch_2d(d, KERNEL_MATMUL, 8, 4);
}

static void transpose(struct demo *d, int in, int out)
{
	arg_buffer(d, KERNEL_TRANSPOSE, 0, in);
	arg_buffer(d, KERNEL_TRANSPOSE, 1, out);
	arg_int(d, KERNEL_TRANSPOSE, 2, d->n);
	arg_int(d, KERNEL_TRANSPOSE, 3, d->n);
	account(0, 2 * (double)d->bytes);
	launch_2d(d, KERNEL_TRANSPOSE, 1, 1);
}

static void saxpy(struct demo *d, int x, int y, float a)
{
	arg_buffer(d, KERNEL_SAXPY, 0, x);
	arg_buffer(d, KERNEL_SAXPY, 1, y);
	arg_float(d, KERNEL_SAXPY, 2, a);
	account(2.0 * d->n * d->n, 3 * (double)d->bytes);
	launch_1d(d, KERNEL_SAXPY, (size_t)d->n * (size_t)d->n);
}

/* --- the parts of a step ---------------------------------------------------------------------- */

/* New inputs every tenth step, staged in a second buffer as an input pipeline would. */
static void load_data(struct demo *d)
{
	proton_scope("data");

	for (int i = 0; i < d->n * d->n; i++)
		d->host[i] = sinf((float)i * (float)i) + 0.1f * random_float(d);
	write_buffer(d, STAGED, true);
	check(clEnqueueCopyBuffer(d->queue, d->buffers[STAGED], d->buffers[X], 0, 0, d->bytes, 0,
				  NULL, NULL),
	      "clEnqueueCopyBuffer");
}

static void forward(struct demo *d)
{
	proton_scope("forward");

	{
		proton_scope("layer1");
		matmul(d, X, W1, H);
		arg_buffer(d, KERNEL_RELU, 0, H);
		account((double)d->n * d->n, 2 * (double)d->bytes);
		launch_1d(d, KERNEL_RELU, (size_t)d->n * (size_t)d->n);
	}
	{
		proton_scope("layer2");
		matmul(d, H, W2, Y);
	}
}

static void backward(struct demo *d)
{
	proton_scope("backward");

	arg_buffer(d, KERNEL_LOSS_GRADIENT, 0, Y);
	arg_buffer(d, KERNEL_LOSS_GRADIENT, 1, WANT);
	arg_buffer(d, KERNEL_LOSS_GRADIENT, 2, GY);
	arg_float(d, KERNEL_LOSS_GRADIENT, 3, 2.0f / (float)d->n);
	account(2.0 * d->n * d->n, 3 * (double)d->bytes);
	launch_1d(d, KERNEL_LOSS_GRADIENT, (size_t)d->n * (size_t)d->n);
	{
		proton_scope("layer2");
		transpose(d, H, T);
		matmul(d, T, GY, GW2);
		transpose(d, W2, T);
		matmul(d, GY, T, GH);
	}
	{
		proton_scope("layer1");
		arg_buffer(d, KERNEL_RELU_GRADIENT, 0, H);
		arg_buffer(d, KERNEL_RELU_GRADIENT, 1, GH);
		account(0, 3 * (double)d->bytes);
		launch_1d(d, KERNEL_RELU_GRADIENT, (size_t)d->n * (size_t)d->n);
		transpose(d, X, T);
		matmul(d, T, GH, GW1);
	}
}

static void optimizer(struct demo *d)
{
	proton_scope("optimizer");

	saxpy(d, GW1, W1, -0.02f);
	saxpy(d, GW2, W2, -0.02f);
	fill_buffer(d, GW1);
	fill_buffer(d, GW2);
}

static void train_step(struct demo *d)
{
	proton_scope("train_step");

	forward(d);
	backward(d);
	optimizer(d);
}

/* The loss, and the output smoothed as if it were a picture; only this waits for the device. */
static void evaluate(struct demo *d)
{
	proton_scope("evaluate");
	size_t global = 256 * 16, local = 256;
	float partial[16], *seen;
	cl_int error;

	arg_buffer(d, KERNEL_REDUCE_SQUARES, 0, GY);
	arg_buffer(d, KERNEL_REDUCE_SQUARES, 1, PARTIAL);
	arg_int(d, KERNEL_REDUCE_SQUARES, 2, d->n * d->n);
	account(2.0 * d->n * d->n, (double)d->bytes);
	check(clEnqueueNDRangeKernel(d->queue, d->kernels[KERNEL_REDUCE_SQUARES], 1, NULL, &global,
				     &local, 0, NULL, NULL),
	      "reduce_squares");
	check(clEnqueueReadBuffer(d->queue, d->buffers[PARTIAL], CL_TRUE, 0, sizeof(partial),
				  partial, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	d->loss = 0;
	for (int i = 0; i < 16; i++)
		d->loss += partial[i];
	arg_buffer(d, KERNEL_STENCIL, 0, Y);
	arg_buffer(d, KERNEL_STENCIL, 1, SMOOTH);
	arg_int(d, KERNEL_STENCIL, 2, d->n);
	arg_int(d, KERNEL_STENCIL, 3, d->n);
	account(6.0 * d->n * d->n, 2 * (double)d->bytes);
	launch_2d(d, KERNEL_STENCIL, 1, 1);
	seen = clEnqueueMapBuffer(d->queue, d->buffers[SMOOTH], CL_TRUE, CL_MAP_READ, 0, d->bytes,
				  0, NULL, NULL, &error);
	check(error, "clEnqueueMapBuffer");
	check(clEnqueueUnmapMemObject(d->queue, d->buffers[SMOOTH], seen, 0, NULL, NULL),
	      "clEnqueueUnmapMemObject");
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* A GPU if there is one, else whatever the first platform has. */
static cl_device_id find_device(void)
{
	cl_platform_id platforms[16];
	cl_device_id device;
	cl_uint n = 0;

	if (clGetPlatformIDs(16, platforms, &n) != CL_SUCCESS || n == 0) {
		fprintf(stderr, "demo_opencl: no OpenCL platform is installed; PoCL runs it on the "
				"CPU (Debian: pocl-opencl-icd)\n");
		exit(1);
	}
	n = n > 16 ? 16 : n;
	for (cl_uint i = 0; i < n; i++)
		if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, NULL) ==
		    CL_SUCCESS)
			return device;
	for (cl_uint i = 0; i < n; i++)
		if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) ==
		    CL_SUCCESS)
			return device;
	fprintf(stderr, "demo_opencl: no OpenCL platform has a device\n");
	exit(1);
}

static void build(struct demo *d, cl_device_id device)
{
	const char *text = source;
	cl_int error;

	d->program = clCreateProgramWithSource(d->context, 1, &text, NULL, &error);
	check(error, "clCreateProgramWithSource");
	error = clBuildProgram(d->program, 1, &device, "", NULL, NULL);
	if (error != CL_SUCCESS) {
		static char log[4096];

		clGetProgramBuildInfo(d->program, device, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1,
				      log, NULL);
		fprintf(stderr, "%s\n", log);
	}
	check(error, "clBuildProgram");
	for (int i = 0; i < N_KERNELS; i++) {
		d->kernels[i] = clCreateKernel(d->program, kernel_names[i], &error);
		check(error, kernel_names[i]);
	}
}

static void demo_init(struct demo *d, int size)
{
	cl_device_id device = find_device();
	char name[256] = "";
	cl_int error;

	d->n = (size + TILE - 1) / TILE * TILE;
	d->bytes = (size_t)d->n * (size_t)d->n * sizeof(float);
	d->host = malloc(d->bytes);
	d->random = 1;
	clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
	printf("%dx%d on %s\n", d->n, d->n, name);
	d->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
	d->queue = clCreateCommandQueue(d->context, device, 0, &error);
	check(error, "clCreateCommandQueue");
	build(d, device);
	for (int i = 0; i < N_BUFFERS; i++) {
		d->buffers[i] =
			clCreateBuffer(d->context, CL_MEM_READ_WRITE, d->bytes, NULL, &error);
		check(error, "clCreateBuffer");
	}
}

static void load_weights(struct demo *d)
{
	proton_scope("setup");
	static const int targets[] = {WANT, W1, W2};

	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
		fill_random(d, targets[i] == WANT ? 1.0f : 1.0f / sqrtf((float)d->n));
		write_buffer(d, targets[i], true);
	}
}

/* One forward pass; rows of X W1, which it leaves in H, against the same sums on the CPU. */
static void verify(struct demo *d)
{
	proton_scope("verify");
	size_t n = (size_t)d->n;
	float *x = malloc(d->bytes), *w = malloc(d->bytes), *h = malloc(d->bytes);
	int from[] = {X, W1, H};
	float *to[] = {x, w, h};

	if (!x || !w || !h)
		check(CL_OUT_OF_HOST_MEMORY, "malloc");
	forward(d);
	for (int i = 0; i < 3; i++)
		check(clEnqueueReadBuffer(d->queue, d->buffers[from[i]], CL_TRUE, 0, d->bytes,
					  to[i], 0, NULL, NULL),
		      "clEnqueueReadBuffer");
	for (size_t row = 0; row < n; row += n / 4)
		for (size_t col = 0; col < n; col++) {
			double sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += (double)x[row * n + k] * w[k * n + col];
			if (fabs(fmax(sum, 0) - h[row * n + col]) > 1e-3) {
				fprintf(stderr,
					"demo_opencl: wrong result at %zu,%zu: %g, not %g\n", row,
					col, h[row * n + col], fmax(sum, 0));
				exit(1);
			}
		}
	free(x);
	free(w);
	free(h);
}

static void demo_done(struct demo *d)
{
	check(clFinish(d->queue), "clFinish");
	for (int i = 0; i < N_BUFFERS; i++)
		clReleaseMemObject(d->buffers[i]);
	for (int i = 0; i < N_KERNELS; i++)
		clReleaseKernel(d->kernels[i]);
	clReleaseProgram(d->program);
	clReleaseCommandQueue(d->queue);
	clReleaseContext(d->context);
	free(d->host);
}

/* --- main ------------------------------------------------------------------------------------- */

static void usage(FILE *f)
{
	fprintf(f, "usage: demo_opencl [--steps N] [--seconds S] [--size N] [--quiet]\n"
		   "  --steps N     stop after N steps (default: no limit)\n"
		   "  --seconds S   stop after S seconds (default: 10, or none with --steps)\n"
		   "  --size N      matrices of N x N (default: 256)\n"
		   "  --quiet       no progress lines\n");
}

static struct options parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"steps", required_argument, NULL, 'n'}, {"seconds", required_argument, NULL, 's'},
		{"size", required_argument, NULL, 'm'},  {"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
	};
	struct options o = {.size = 256, .seconds = -1};
	int c;

	while ((c = getopt_long(argc, argv, "n:s:m:qh", longs, NULL)) != -1) {
		if (c == 'n')
			o.steps = atol(optarg);
		else if (c == 's')
			o.seconds = atof(optarg);
		else if (c == 'm')
			o.size = atoi(optarg);
		else if (c == 'q')
			o.quiet = true;
		else {
			usage(c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (o.size < TILE || o.size > 4096 || optind < argc) {
		usage(stderr);
		exit(2);
	}
	if (o.seconds < 0)
		o.seconds = o.steps ? INFINITY : 10;
	return o;
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct demo d = {0};
	double start, said;
	long step = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	demo_init(&d, o.size);
	load_weights(&d);
	load_data(&d);
	verify(&d);
	start = said = now();
	while ((!o.steps || step < o.steps) && now() - start < o.seconds) {
		if (step % 10 == 0)
			load_data(&d);
		train_step(&d);
		if (++step % 10 == 0)
			evaluate(&d);
		if (!o.quiet && now() - said >= 1) {
			said = now();
			printf("%6.1f s  step %6ld  loss %g\n", said - start, step, d.loss);
		}
	}
	demo_done(&d);
	printf("%ld steps in %.1f s, loss %g\n", step, now() - start, d.loss);
	return 0;
}
