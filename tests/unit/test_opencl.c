/* SPDX-License-Identifier: MIT */
/* The OpenCL backend as a layer of the installed loader, over whatever device there is. Each test
 * runs in a process of its own: the loader reads OPENCL_LAYERS once. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "config.h" // IWYU pragma: keep
#include <CL/cl.h>
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "check_main.h"
#include "mocks/test_api_stub.h"

struct cl {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_mem mem;
};

#define MEM_BYTES 4096

static struct stub *stub_open(void)
{
	void *handle = dlopen(STUB_LIBRARY, RTLD_NOW);
	stub_get_fn *get;

	ck_assert_msg(handle != NULL, "%s", dlerror());
	*(void **)&get = dlsym(handle, "stub_get");
	return get();
}

static struct stub *setup(struct cl *cl)
{
	cl_platform_id platform;
	cl_int error;

	setenv("OPENCL_LAYERS", STUB_LIBRARY, 1);
	ck_assert_int_eq(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
	ck_assert_int_eq(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl->device, NULL),
			 CL_SUCCESS);
	cl->context = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &error);
	ck_assert_int_eq(error, CL_SUCCESS);
	cl->queue = clCreateCommandQueue(cl->context, cl->device, 0, &error);
	ck_assert_int_eq(error, CL_SUCCESS);
	cl->mem = clCreateBuffer(cl->context, CL_MEM_READ_WRITE, MEM_BYTES, NULL, &error);
	ck_assert_int_eq(error, CL_SUCCESS);
	return stub_open();
}

/* All of it is released, so that a leak checker sees what we hold. */
static void teardown(struct cl *cl)
{
	clReleaseMemObject(cl->mem);
	clReleaseCommandQueue(cl->queue);
	clReleaseContext(cl->context);
}

static cl_kernel make_kernel(struct cl *cl, const char *name)
{
	char text[128];
	const char *p = text;
	cl_program program;
	cl_kernel kernel;
	cl_int error;

	snprintf(text, sizeof(text), "__kernel void %s(__global float *v) { v[0] += 1; }", name);
	program = clCreateProgramWithSource(cl->context, 1, &p, NULL, &error);
	ck_assert_int_eq(error, CL_SUCCESS);
	ck_assert_int_eq(clBuildProgram(program, 1, &cl->device, "", NULL, NULL), CL_SUCCESS);
	kernel = clCreateKernel(program, name, &error);
	ck_assert_int_eq(error, CL_SUCCESS);
	ck_assert_int_eq(clSetKernelArg(kernel, 0, sizeof(cl->mem), &cl->mem), CL_SUCCESS);
	clReleaseProgram(program);
	return kernel;
}

static void launch(cl_command_queue queue, cl_kernel kernel)
{
	size_t one = 1;

	ck_assert_int_eq(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL),
			 CL_SUCCESS);
}

/* Callbacks come after the program's own wait: wait for them too, but not for ever. */
static void wait_for(const uint32_t *counter, uint32_t n)
{
	uint64_t end = clock_monotonic_ns() + 60 * NSEC_PER_SEC;

	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < n && clock_monotonic_ns() < end)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	ck_assert_uint_eq(__atomic_load_n(counter, __ATOMIC_ACQUIRE), n);
}

/* Run a program of this directory and give its output. */
static char *run(const char *command, int *ret_status)
{
	static char out[65536];
	FILE *f = popen(command, "r");
	size_t n;

	n = f ? fread(out, 1, sizeof(out) - 1, f) : 0;
	out[n] = '\0';
	*ret_status = f ? WEXITSTATUS(pclose(f)) : -1;
	return out;
}

/* --- tests ------------------------------------------------------------------------------------ */

START_TEST(test_known)
{
	char path[] = "/tmp/proton-test-XXXXXX", command[1024], found[4096], *out, *line, *save;
	int status, fd = mkstemp(path), n_expected = 0;
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	snprintf(command, sizeof(command), "OPENCL_LAYERS=%s PROTON_STUB_OUT=%s %s/opencl_known",
		 STUB_LIBRARY, path, TEST_DIR);
	out = run(command, &status);
	ck_assert_int_eq(status, 0);
	n = pread(fd, found, sizeof(found) - 1, 0);
	ck_assert_int_gt(n, 0);
	found[n] = '\0';
	for (line = strtok_r(out, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char wanted[256];

		ck_assert(strncmp(line, "expect ", 7) == 0);
		snprintf(wanted, sizeof(wanted), "%s\n", line + 7);
		ck_assert_msg(strstr(found, wanted) != NULL, "no %sin\n%s", wanted, found);
		n_expected++;
	}
	ck_assert_int_eq(n_expected, 11);
	ck_assert_msg(strstr(found, "launches=161\nunlaunches=1\n") != NULL, "%s", found);
	ck_assert_msg(strstr(found, "loss") == NULL, "%s", found);
	close(fd);
	unlink(path);
}
END_TEST

/* What a program can ask gives the same answers with and without us. */
START_TEST(test_visible)
{
	static char without[65536];
	char command[1024], *with;
	int status;

	snprintf(command, sizeof(command), "%s/opencl_visible", TEST_DIR);
	strcpy(without, run(command, &status));
	ck_assert_int_eq(status, 0);
	ck_assert(strstr(without, "old, profiling: start 0 set") != NULL);
	ck_assert(strstr(without, "old: start -7 0") != NULL);
	snprintf(command, sizeof(command), "OPENCL_LAYERS=%s %s/opencl_visible", STUB_LIBRARY,
		 TEST_DIR);
	with = run(command, &status);
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(with, without);
	/* … and with what is allocated. */
	snprintf(command, sizeof(command),
		 "PROTON_STUB_MEMORY=1 OPENCL_LAYERS=%s %s/opencl_visible", STUB_LIBRARY, TEST_DIR);
	ck_assert_str_eq(run(command, &status), without);
	/* The collector stays off: the same again. */
	snprintf(command, sizeof(command),
		 "PROTON_STUB_REFUSE=1 OPENCL_LAYERS=%s %s/opencl_visible", STUB_LIBRARY, TEST_DIR);
	ck_assert_str_eq(run(command, &status), without);
}
END_TEST

START_TEST(test_records)
{
	struct cl cl;
	struct stub *stub = setup(&cl);
	cl_kernel kernel = make_kernel(&cl, "first");
	cl_command_queue second;
	const struct activity *a;
	char host[MEM_BYTES];

	launch(cl.queue, kernel);
	clFinish(cl.queue);
	second = clCreateCommandQueue(cl.context, cl.device, CL_QUEUE_PROFILING_ENABLE, NULL);
	ck_assert_int_eq(clEnqueueReadBuffer(second, cl.mem, CL_TRUE, 0, 100, host, 0, NULL, NULL),
			 CL_SUCCESS);
	wait_for(&stub->n_records, 2);
	a = &stub->records[0].activity;
	ck_assert_str_eq(stub->records[0].name, "first");
	ck_assert_int_eq(a->kind, ACTIVITY_KERNEL);
	ck_assert_uint_eq(a->launch, 1);
	ck_assert_uint_eq(a->stream, 1);
	ck_assert_uint_eq(a->context, 1);
	ck_assert_int_eq(a->device, 0);
	ck_assert_uint_gt(a->start_ns, 0);
	ck_assert_uint_ge(a->end_ns, a->start_ns);
	a = &stub->records[1].activity;
	ck_assert_int_eq(a->kind, ACTIVITY_COPY);
	ck_assert_uint_eq(a->direction, COPY_DEVICE_TO_HOST);
	ck_assert_uint_eq(a->src_kind, MEMORY_DEVICE);
	ck_assert_uint_eq(a->dst_kind, MEMORY_UNKNOWN);
	ck_assert_uint_eq(a->bytes, 100);
	ck_assert_uint_eq(a->stream, 2);
	ck_assert(!a->async);
	ck_assert_uint_eq(stub->n_devices, 1);
	ck_assert_str_eq(stub->device.type, "OpenCL");
	ck_assert_uint_gt(stub->device.num_sms, 0);
	ck_assert_str_ne(stub->device_name, "");
	clReleaseKernel(kernel);
	clReleaseCommandQueue(second);
	teardown(&cl);
}
END_TEST

/* Places of kernels come again with other names. */
START_TEST(test_kernel_names)
{
	struct cl cl;
	struct stub *stub = setup(&cl);
	char name[32];
	cl_kernel kernel;

	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "k%d", i % 3);
		kernel = make_kernel(&cl, name);
		launch(cl.queue, kernel);
		clRetainKernel(kernel);
		clReleaseKernel(kernel);
		launch(cl.queue, kernel);
		clFinish(cl.queue);
		clReleaseKernel(kernel);
		wait_for(&stub->n_records, 2 * (uint32_t)i + 2);
		ck_assert_str_eq(stub->records[2 * i].name, name);
		ck_assert_str_eq(stub->records[2 * i + 1].name, name);
	}
	teardown(&cl);
}
END_TEST

/* What never completes stays in flight: the exit does not wait for it, and a release of everything
 * by the program is safe. */
START_TEST(test_unfinished)
{
	struct cl cl;
	struct stub *stub = setup(&cl);
	cl_event user = clCreateUserEvent(cl.context, NULL);
	static char host[64];

	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(clEnqueueWriteBuffer(cl.queue, cl.mem, CL_FALSE, 0, sizeof(host),
						      host, 1, &user, NULL),
				 CL_SUCCESS);
	stub->flush(); /* comes back */
	ck_assert_uint_eq(stub->n_launches, 100);
	ck_assert_uint_eq(stub->n_records, 0);
	clReleaseMemObject(cl.mem);
	clReleaseCommandQueue(cl.queue);
	clReleaseContext(cl.context);
	clSetUserEventStatus(user, CL_COMPLETE);
	clReleaseEvent(user);
	wait_for(&stub->n_records, 100);
	stub->flush();
}
END_TEST

/* More commands in flight than there is room for are counted, and run. */
START_TEST(test_bound)
{
	struct cl cl;
	struct stub *stub = setup(&cl);
	cl_event user = clCreateUserEvent(cl.context, NULL);
	const uint32_t n = 65536 + 100;
	static char host[4];

	ck_assert_int_eq(
		clEnqueueWriteBuffer(cl.queue, cl.mem, CL_FALSE, 0, 4, host, 1, &user, NULL),
		CL_SUCCESS);
	for (uint32_t i = 1; i < n; i++)
		ck_assert_int_eq(
			clEnqueueWriteBuffer(cl.queue, cl.mem, CL_FALSE, 0, 4, host, 0, NULL, NULL),
			CL_SUCCESS);
	ck_assert_uint_eq(stub->n_losses[LOSS_BUFFERS_FULL], 100);
	ck_assert_uint_eq(stub->n_launches, 65536);
	clSetUserEventStatus(user, CL_COMPLETE);
	clFinish(cl.queue);
	wait_for(&stub->n_records, 65536);
	/* There is room again. */
	ck_assert_int_eq(clEnqueueWriteBuffer(cl.queue, cl.mem, CL_TRUE, 0, 4, host, 0, NULL, NULL),
			 CL_SUCCESS);
	wait_for(&stub->n_records, 65537);
	clReleaseEvent(user);
	teardown(&cl);
}
END_TEST

struct thread_arg {
	struct cl *cl;
	cl_kernel kernel;
	cl_command_queue queue;
};

static void *launch_thread(void *p)
{
	struct thread_arg *arg = p;

	for (int i = 0; i < 2000; i++)
		launch(arg->queue, arg->kernel);
	clFinish(arg->queue);
	clReleaseCommandQueue(arg->queue);
	return NULL;
}

START_TEST(test_threads)
{
	struct cl cl;
	struct stub *stub = setup(&cl);
	struct thread_arg args[4];
	pthread_t threads[4];
	uint32_t per_queue[8] = {0};
	char name[16];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		args[i] = (struct thread_arg){&cl, make_kernel(&cl, name), NULL};
		args[i].queue = clCreateCommandQueue(cl.context, cl.device, 0, NULL);
	}
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_thread, &args[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	wait_for(&stub->n_records, 8000);
	for (int i = 0; i < 8000; i++) {
		uint32_t stream = stub->records[i].activity.stream;

		ck_assert_uint_lt(stream, 8);
		per_queue[stream]++;
		ck_assert_int_eq(stub->records[i].name[1] - '0', (int)stream - 2);
	}
	for (int i = 2; i < 6; i++)
		ck_assert_uint_eq(per_queue[i], 2000);
	for (int i = 0; i < 4; i++)
		clReleaseKernel(args[i].kernel);
	teardown(&cl);
}
END_TEST

/* Queues that come and go keep small numbers. */
START_TEST(test_queues)
{
	struct cl cl;
	struct stub *stub = setup(&cl);
	cl_command_queue many[300];
	char host[4] = "";

	for (int i = 0; i < 500; i++) {
		cl_command_queue queue = clCreateCommandQueue(cl.context, cl.device, 0, NULL);

		clEnqueueWriteBuffer(queue, cl.mem, CL_TRUE, 0, 4, host, 0, NULL, NULL);
		clReleaseCommandQueue(queue);
	}
	wait_for(&stub->n_records, 500);
	for (int i = 0; i < 500; i++)
		ck_assert_uint_eq(stub->records[i].activity.stream, 2);
	/* More at once than there is room for: the rest is as without us. */
	for (int i = 0; i < 300; i++) {
		cl_command_queue_properties properties;

		many[i] = clCreateCommandQueue(cl.context, cl.device, 0, NULL);
		ck_assert(many[i] != NULL);
		clGetCommandQueueInfo(many[i], CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
				      NULL);
		ck_assert_uint_eq(properties, 0);
		ck_assert_int_eq(
			clEnqueueWriteBuffer(many[i], cl.mem, CL_TRUE, 0, 4, host, 0, NULL, NULL),
			CL_SUCCESS);
	}
	wait_for(&stub->n_records, 500 + 255);
	ck_assert_uint_ge(stub->n_losses[LOSS_LANES_FULL], 1);
	for (int i = 0; i < 300; i++)
		clReleaseCommandQueue(many[i]);
	teardown(&cl);
}
END_TEST

START_TEST(test_svm_and_rect)
{
	struct cl cl;
	struct stub *stub = setup(&cl);
	size_t origin[3] = {0, 0, 0}, region[3] = {16, 4, 2};
	char host[MEM_BYTES] = "";
	const struct activity *a;
	cl_ulong svm = 0;
	uint32_t n = 2;
	void *p;

	ck_assert_int_eq(clEnqueueReadBufferRect(cl.queue, cl.mem, CL_TRUE, origin, origin, region,
						 0, 0, 0, 0, host, 0, NULL, NULL),
			 CL_SUCCESS);
	ck_assert_int_eq(clEnqueueWriteBufferRect(cl.queue, cl.mem, CL_TRUE, origin, origin, region,
						  0, 0, 0, 0, host, 0, NULL, NULL),
			 CL_SUCCESS);
	wait_for(&stub->n_records, n);
	ck_assert_uint_eq(stub->records[0].activity.bytes, 128);
	ck_assert_uint_eq(stub->records[1].activity.bytes, 128);
	ck_assert_uint_eq(stub->records[1].activity.direction, COPY_HOST_TO_DEVICE);
	clGetDeviceInfo(cl.device, CL_DEVICE_SVM_CAPABILITIES, sizeof(svm), &svm, NULL);
	if (!(svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
		teardown(&cl);
		return;
	}
	p = clSVMAlloc(cl.context, CL_MEM_READ_WRITE, 256, 0);
	ck_assert(p != NULL);
	clEnqueueSVMMap(cl.queue, CL_TRUE, CL_MAP_WRITE, p, 256, 0, NULL, NULL);
	clEnqueueSVMUnmap(cl.queue, p, 0, NULL, NULL);
	clEnqueueSVMMemFill(cl.queue, p, "\0", 1, 200, 0, NULL, NULL);
	clEnqueueSVMMemcpy(cl.queue, CL_TRUE, p, host, 100, 0, NULL, NULL);
	clFinish(cl.queue);
	n += 4;
	wait_for(&stub->n_records, n);
	a = &stub->records[2].activity;
	ck_assert_uint_eq(a->direction, COPY_DEVICE_TO_HOST);
	ck_assert_uint_eq(a->bytes, 256);
	a = &stub->records[3].activity;
	ck_assert_uint_eq(a->direction, COPY_HOST_TO_DEVICE);
	ck_assert_uint_eq(a->bytes, 256);
	a = &stub->records[4].activity;
	ck_assert_int_eq(a->kind, ACTIVITY_SET);
	ck_assert_uint_eq(a->src_kind, MEMORY_MANAGED);
	ck_assert_uint_eq(a->bytes, 200);
	a = &stub->records[5].activity;
	ck_assert_uint_eq(a->direction, COPY_UNKNOWN);
	ck_assert_uint_eq(a->bytes, 100);
	clSVMFree(cl.context, p);
	teardown(&cl);
}
END_TEST

START_TEST(test_images)
{
	struct cl cl;
	struct stub *stub = setup(&cl);
	size_t origin[3] = {0, 0, 0}, region[3] = {16, 8, 1};
	cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
	cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 8};
	char host[MEM_BYTES] = "";
	cl_bool supported = CL_FALSE;
	cl_mem image;
	cl_int error;

	clGetDeviceInfo(cl.device, CL_DEVICE_IMAGE_SUPPORT, sizeof(supported), &supported, NULL);
	if (!supported)
		return;
	image = clCreateImage(cl.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
	ck_assert_int_eq(error, CL_SUCCESS);
	clEnqueueWriteImage(cl.queue, image, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL);
	clEnqueueReadImage(cl.queue, image, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL);
	clEnqueueCopyImageToBuffer(cl.queue, image, cl.mem, origin, region, 0, 0, NULL, NULL);
	clEnqueueCopyBufferToImage(cl.queue, cl.mem, image, 0, origin, region, 0, NULL, NULL);
	clFinish(cl.queue);
	wait_for(&stub->n_records, 4);
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(stub->records[i].activity.bytes, 16 * 8 * 4);
	ck_assert_uint_eq(stub->records[0].activity.direction, COPY_HOST_TO_DEVICE);
	ck_assert_uint_eq(stub->records[1].activity.direction, COPY_DEVICE_TO_HOST);
	ck_assert_uint_eq(stub->records[2].activity.direction, COPY_DEVICE_TO_DEVICE);
	clReleaseMemObject(image);
	teardown(&cl);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("opencl");
	TCase *tc = tcase_create("opencl");
	SRunner *sr = srunner_create(s);
	int status;

	if (access(getenv("HOME") ? getenv("HOME") : "/", W_OK) < 0)
		setenv("POCL_CACHE_DIR", "/tmp/proton-test-pocl", 0);
	run(TEST_DIR "/opencl_visible", &status);
	if (status == 77) {
		printf("skipped: no OpenCL platform (Debian: pocl-opencl-icd)\n");
		return 77;
	}
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_known);
	tcase_add_test(tc, test_visible);
	tcase_add_test(tc, test_records);
	tcase_add_test(tc, test_kernel_names);
	tcase_add_test(tc, test_unfinished);
	tcase_add_test(tc, test_bound);
	tcase_add_test(tc, test_threads);
	tcase_add_test(tc, test_queues);
	tcase_add_test(tc, test_svm_and_rect);
	tcase_add_test(tc, test_images);
	suite_add_tcase(s, tc);
	srunner_set_fork_status(sr, CK_FORK);
	return check_end(sr);
}
