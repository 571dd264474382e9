/* SPDX-License-Identifier: MIT */
/* Launches an empty OpenCL kernel N times, waiting after each 100: what a launch costs.
 *
 *	bench/opencl_storm [N]        prints `result ns_per_launch=…` and `expect kernels=N` */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 100

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

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
	cl_platform_id platform;
	cl_command_queue queue;
	cl_device_id device;
	cl_context context;
	cl_kernel kernel;
	cl_int error;
	double start;

	check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &error);
	check(error, "clCreateCommandQueue");
	kernel = make_kernel(context, device);
	launch(queue, kernel, BATCH);
	start = now_ns();
	launch(queue, kernel, n);
	printf("result ns_per_launch=%.1f\nexpect kernels=%ld\n", (now_ns() - start) / (double)n,
	       n + BATCH);
	return 0;
}
