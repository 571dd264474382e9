/* SPDX-License-Identifier: MIT */
/* Launches an empty OpenCL kernel N times, waiting after each 100: what a launch costs. The figure is
 * that of the median block of 1,000, for the device is the CPU itself.
 *
 *	bench/opencl_storm [N]        prints `result ns_per_launch=…` and `expect kernels=N` */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 100
#define BLOCK 1000

static void check(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "opencl_storm: %s: error %d\n", what, error);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static cl_kernel make_kernel(cl_context context, cl_device_id device)
{
	const char *source = "__kernel void empty_kernel(void) {}";
	cl_int error;
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	cl_kernel kernel;

	check(error, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	kernel = clCreateKernel(program, "empty_kernel", &error);
	check(error, "clCreateKernel");
	return kernel;
}

static void launch(cl_command_queue queue, cl_kernel kernel, long n)
{
	const size_t one = 1;
	long i;

	for (i = 0; i < n; i++) {
		check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL),
		      "clEnqueueNDRangeKernel");
		if (i % BATCH == BATCH - 1)
			check(clFinish(queue), "clFinish");
	}
	check(clFinish(queue), "clFinish");
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* ns a launch in the median of n blocks. */
static double measure(cl_command_queue queue, cl_kernel kernel, long n)
{
	double *ns = calloc((size_t)n, sizeof(*ns)), start, median;
	long i;

	if (!ns)
		exit(1);
	for (i = 0; i < n; i++) {
		start = now_ns();
		launch(queue, kernel, BLOCK);
		ns[i] = (now_ns() - start) / BLOCK;
	}
	qsort(ns, (size_t)n, sizeof(*ns), compare);
	median = ns[n / 2];
	free(ns);
	return median;
}

int main(int argc, char **argv)
{
	long n_blocks = (argc > 1 ? strtol(argv[1], NULL, 10) : 100000) / BLOCK;
	cl_platform_id platform;
	cl_command_queue queue;
	cl_device_id device;
	cl_context context;
	cl_kernel kernel;
	cl_int error;

	if (n_blocks < 1)
		n_blocks = 1;
	check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &error);
	check(error, "clCreateCommandQueue");
	kernel = make_kernel(context, device);
	launch(queue, kernel, BATCH);
	printf("result ns_per_launch=%.1f\n", measure(queue, kernel, n_blocks));
	printf("expect kernels=%ld\n", n_blocks * BLOCK + BATCH);
	return 0;
}
