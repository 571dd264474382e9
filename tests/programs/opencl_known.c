/* SPDX-License-Identifier: MIT */
/* An OpenCL program that says what a profiler must find: lines "expect name=value".
 *
 * Names: kernel.NAME (executions), copy.DIRECTION and set (commands), and the same with .bytes. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define N     1024
#define BYTES (N * sizeof(float))

static const char source[] =
	"__kernel void scale(__global float *v) { v[get_global_id(0)] *= 0.5f; }\n"
	"__kernel void add(__global const float *a, __global float *b)\n"
	"{ b[get_global_id(0)] += a[get_global_id(0)]; }\n";

static void check(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: OpenCL error %d\n", what, error);
	exit(1);
}

int main(void)
{
	static float host[N];
	size_t n = N, local = 64;
	const char *text = source;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel scale, add;
	cl_mem a, b;
	cl_event event;
	cl_int error;
	float zero = 0;
	void *p;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
		printf("no OpenCL platform\n");
		return 77;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &error);
	check(error, "clCreateCommandQueue");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	check(error, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	scale = clCreateKernel(program, "scale", &error);
	check(error, "scale");
	add = clCreateKernel(program, "add", &error);
	check(error, "add");
	a = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
	check(error, "a");
	b = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
	check(error, "b");
	clSetKernelArg(scale, 0, sizeof(a), &a);
	clSetKernelArg(add, 0, sizeof(a), &a);
	clSetKernelArg(add, 1, sizeof(b), &b);

	check(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, BYTES, host, 0, NULL, NULL), "write");
	check(clEnqueueWriteBuffer(queue, b, CL_FALSE, 0, BYTES / 2, host, 0, NULL, &event),
	      "write");
	check(clReleaseEvent(event), "release");
	check(clEnqueueFillBuffer(queue, b, &zero, sizeof(zero), 0, BYTES, 0, NULL, NULL), "fill");
	for (int i = 0; i < 100; i++)
		check(clEnqueueNDRangeKernel(queue, scale, 1, NULL, &n, &local, 0, NULL, NULL),
		      "scale");
	for (int i = 0; i < 50; i++)
		check(clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, NULL, 0, NULL,
					     i ? NULL : &event),
		      "add");
	check(clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 1, &event, NULL), "copy");
	for (int i = 0; i < 3; i++)
		check(clEnqueueReadBuffer(queue, b, i == 0, 0, BYTES, host, 0, NULL, NULL), "read");
	p = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, BYTES / 4, 0, NULL,
			       NULL, &error);
	check(error, "map");
	check(clEnqueueUnmapMemObject(queue, a, p, 0, NULL, NULL), "unmap");
	/* A mapping that is only read brings nothing back. */
	p = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &error);
	check(error, "map");
	check(clEnqueueUnmapMemObject(queue, b, p, 0, NULL, NULL), "unmap");
	/* Refused: nothing to be found. */
	if (clEnqueueNDRangeKernel(queue, scale, 4, NULL, &n, NULL, 0, NULL, NULL) == CL_SUCCESS)
		check(1, "a kernel of four dimensions");
	check(clWaitForEvents(1, &event), "wait");
	check(clFinish(queue), "finish");

	clReleaseEvent(event);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseKernel(scale);
	clReleaseKernel(add);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);

	printf("expect kernel.scale=100\n");
	printf("expect kernel.add=50\n");
	printf("expect copy.HostToDevice=3\n"); /* two writes and the unmap */
	printf("expect copy.HostToDevice.bytes=%zu\n", BYTES + BYTES / 2 + BYTES / 4);
	printf("expect copy.DeviceToHost=5\n"); /* three reads and the maps */
	printf("expect copy.DeviceToHost.bytes=%zu\n", 3 * BYTES + BYTES / 4 + 64);
	printf("expect copy.DeviceToDevice=1\n");
	printf("expect copy.DeviceToDevice.bytes=%zu\n", BYTES);
	printf("expect set=1\n");
	printf("expect set.bytes=%zu\n", BYTES);
	printf("expect records=160\n");
	return 0;
}
