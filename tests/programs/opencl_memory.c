/* SPDX-License-Identifier: MIT */
/* Known memory of OpenCL: opencl_memory kinds|threads|forks. See tests/unit/test_opencl_record.c. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proton/proton.h"

#define KIB ((size_t)1024)

enum { N_THREADS = 16, N_TURNS = 1000 };

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void check(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: OpenCL error %d\n", what, error);
	exit(1);
}

static cl_mem buffer(cl_mem_flags flags, size_t bytes, void *host)
{
	cl_int error;
	cl_mem mem = clCreateBuffer(context, flags, bytes, host, &error);

	check(error, "clCreateBuffer");
	return mem;
}

/* It is there as long as anybody refers to it: the program twice, and a part of it. */
static void referred_to(void)
{
	cl_buffer_region region = {0, 4 * KIB};
	cl_mem whole = buffer(CL_MEM_READ_WRITE, 64 * KIB, NULL), part;
	cl_int error;

	part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region,
				 &error);
	check(error, "clCreateSubBuffer");
	clRetainMemObject(whole);
	clReleaseMemObject(whole);
	clReleaseMemObject(whole);
	/* With this one, there is most. */
	clReleaseMemObject(buffer(CL_MEM_READ_WRITE, 32 * KIB, NULL));
	clReleaseMemObject(part);
}

static void shared(void)
{
	cl_device_svm_capabilities svm = 0;
	void *a, *b;

	clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof(svm), &svm, NULL);
	if (!(svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
		printf("no svm\n");
		return;
	}
	a = clSVMAlloc(context, CL_MEM_READ_WRITE, 24 * KIB, 0);
	b = clSVMAlloc(context, CL_MEM_READ_WRITE, 8 * KIB, 0);
	clSVMFree(context, a);
	clSVMFree(context, NULL);
	check(clEnqueueSVMFree(queue, 1, &b, NULL, NULL, 0, NULL, NULL), "clEnqueueSVMFree");
}

static void images(void)
{
	const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
	cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D};
	cl_bool has = CL_FALSE;
	cl_int error;
	cl_mem image, of_buffer, flat;

	clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof(has), &has, NULL);
	if (!has) {
		printf("no images\n");
		return;
	}
	desc.image_width = 64;
	desc.image_height = 32;
	image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
	check(error, "clCreateImage");
	clReleaseMemObject(image);
	/* Its memory is the buffer's. */
	flat = buffer(CL_MEM_READ_WRITE, 4 * KIB, NULL);
	desc = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
			       .image_width = 1024,
			       .mem_object = flat};
	of_buffer = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
	if (of_buffer)
		clReleaseMemObject(of_buffer);
	clReleaseMemObject(flat);
}

static void kinds(void)
{
	static char lent[16 * 1024];
	cl_int error;

	proton_enter_scope("referred");
	referred_to();
	proton_exit_scope();
	proton_enter_scope("kept");
	buffer(CL_MEM_READ_WRITE, 16 * KIB, NULL); /* for ever */
	proton_exit_scope();
	proton_enter_scope("host");
	clReleaseMemObject(buffer(CL_MEM_USE_HOST_PTR, sizeof(lent), lent));
	proton_exit_scope();
	proton_enter_scope("svm");
	shared();
	proton_exit_scope();
	proton_enter_scope("image");
	images();
	proton_exit_scope();
	/* Refused: nothing to be found. */
	if (clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &error))
		check(1, "a buffer of no bytes");
	if (clReleaseMemObject(NULL) == CL_SUCCESS)
		check(1, "a release of nothing");
}

/* Handles go from thread to thread. */
static void *churn(void *arg)
{
	proton_enter_scope("churn");
	for (int i = 0; i < N_TURNS; i++)
		clReleaseMemObject(buffer(CL_MEM_READ_WRITE, KIB, NULL));
	proton_exit_scope();
	return arg;
}

static void threads(void)
{
	pthread_t made[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&made[i], NULL, churn, NULL))
			exit(1);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(made[i], NULL);
}

/* What the parent has is not the child's. */
static void forks(void)
{
	int status = 1;
	pid_t child;

	proton_enter_scope("parent");
	buffer(CL_MEM_READ_WRITE, 4 * KIB, NULL);
	child = fork();
	if (child == 0) {
		proton_enter_scope("child");
		proton_exit_scope();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(1);
	buffer(CL_MEM_READ_WRITE, KIB, NULL);
	proton_exit_scope();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} what[] = {{"kinds", kinds}, {"threads", threads}, {"forks", forks}};
	cl_platform_id platform;
	cl_int error;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
		printf("no OpenCL platform\n");
		return 77;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &error);
	check(error, "clCreateCommandQueue");
	for (size_t i = 0; argc > 1 && i < sizeof(what) / sizeof(*what); i++)
		if (!strcmp(argv[1], what[i].name))
			what[i].function();
	clFinish(queue);
	return 0;
}
