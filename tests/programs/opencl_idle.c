/* SPDX-License-Identifier: MIT */
/* An OpenCL device that waits for known reasons: a line a scope, "NAME least most" of ns that it waited for that.
 * See tests/scripts/collect_opencl_idle.sh. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "proton/proton.h"

enum { N = 256, TURNS = 8 };
#define NAP_NS INT64_C(20000000)

static const char source[] = "__kernel void turn(__global float *v, int n)\n"
			     "{ for (int i = 0; i < n; i++) v[get_global_id(0)] *= 0.5f; }\n";

enum { SHORT = 1000, LONG = 200000 }; /* 0.1 and 20 ms, or so */

static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;
static cl_mem mem;
static float host[N];

static void check(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: OpenCL error %d\n", what, error);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

static void turn(cl_int turns, cl_event after, cl_event *ret_event)
{
	size_t n = N;

	check(clSetKernelArg(kernel, 1, sizeof(turns), &turns), "clSetKernelArg");
	check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, after ? 1 : 0,
				     after ? &after : NULL, ret_event),
	      "clEnqueueNDRangeKernel");
	check(clFlush(queue), "clFlush");
}

/* Without a call that waits. */
static void await(cl_event event)
{
	cl_int status = CL_QUEUED;

	while (status != CL_COMPLETE) {
		check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
				     &status, NULL),
		      "clGetEventInfo");
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	clReleaseEvent(event);
}

static void late(void)
{
	cl_event event;

	nap();
	turn(SHORT, NULL, &event);
	await(event);
}

static void finish(void)
{
	nap();
	turn(LONG, NULL, NULL); /* it is not over yet */
	check(clFinish(queue), "clFinish");
}

static void copy(void)
{
	nap();
	check(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
}

/* It is there, and may not start. */
static void queued(void)
{
	cl_event gate, before, event;
	cl_int error;

	gate = clCreateUserEvent(context, &error);
	check(error, "clCreateUserEvent");
	/* The device is still busy when that is there which it waits for. */
	turn(LONG, NULL, &before);
	turn(SHORT, gate, &event);
	await(before);
	nap();
	clSetUserEventStatus(gate, CL_COMPLETE);
	await(event);
	clReleaseEvent(gate);
}

static void scope(const char *name, void (*body)(void), bool is_first_of_its_own)
{
	int64_t begin = now_ns(), end;

	proton_enter_scope(name);
	for (int i = 0; i < TURNS; i++)
		body();
	proton_exit_scope();
	end = now_ns();
	/* What the first turn waited for is of the scope before it. */
	printf("%s %lld %lld\n", name,
	       (long long)(NAP_NS * (is_first_of_its_own ? TURNS : TURNS - 1)),
	       (long long)(end - begin));
}

static bool setup(void)
{
	const char *text = source;
	cl_platform_id platform;
	cl_device_id device;
	cl_program program;
	cl_int error;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
		return false;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &error);
	check(error, "clCreateCommandQueue");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	check(error, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	kernel = clCreateKernel(program, "turn", &error);
	check(error, "turn");
	mem = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(host), NULL, &error);
	check(error, "clCreateBuffer");
	check(clSetKernelArg(kernel, 0, sizeof(mem), &mem), "clSetKernelArg");
	clReleaseProgram(program);
	return true;
}

int main(void)
{
	cl_event event;

	if (!setup()) {
		printf("no OpenCL platform\n");
		return 77;
	}
	/* The first is compiled, and the device is alone with the next. */
	turn(SHORT, NULL, NULL);
	check(clFinish(queue), "clFinish");
	turn(SHORT, NULL, &event);
	await(event);
	scope("late", late, true);
	scope("finish", finish, false);
	check(clFinish(queue), "clFinish");
	scope("copy", copy, false);
	turn(SHORT, NULL, &event);
	await(event);
	scope("queued", queued, true);
	clReleaseKernel(kernel);
	clReleaseMemObject(mem);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
