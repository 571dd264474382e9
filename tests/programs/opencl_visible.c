/* SPDX-License-Identifier: MIT */
/* An OpenCL program that prints what it can see of its queues and events: with a profiler below it
 * the output has to be the same as without. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <time.h>

static cl_device_id device;
static cl_context context;
static cl_mem mem;

static void show_properties(const char *name, cl_command_queue queue)
{
	cl_command_queue_properties properties = 0;
	cl_queue_properties list[16];
	size_t size = 999;
	cl_uint references = 0;
	cl_int r;

	r = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
				  &size);
	printf("%s: properties %d %zu %#llx\n", name, r, size, (unsigned long long)properties);
	r = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, 1, &properties, NULL);
	printf("%s: properties, no room %d\n", name, r);
	r = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, 0, NULL, &size);
	printf("%s: properties, size only %d %zu\n", name, r, size);
	size = 999;
	r = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof(list), list, &size);
	printf("%s: list %d %zu", name, r, size);
	for (size_t i = 0; r == CL_SUCCESS && i < size / sizeof(*list); i++)
		printf(" %#llx", (unsigned long long)list[i]);
	r = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 8, list, NULL);
	printf("\n%s: list, little room %s\n", name,
	       size > 8 ? (r == CL_SUCCESS ? "fits" : "refused") : "-");
	r = clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(references), &references,
				  NULL);
	printf("%s: references %d %u\n", name, r, references);
	r = clGetCommandQueueInfo(queue, 0x1234, sizeof(references), &references, NULL);
	printf("%s: nonsense %d\n", name, r);
}

/* The driver's threads let go of an event a little after they woke up who waits for it. */
static cl_uint settled_references(cl_event event)
{
	cl_uint references = 0;

	for (int i = 0; i < 1000; i++) {
		clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references), &references,
			       NULL);
		if (references <= 2) /* ours, and its queue's as the last one */
			break;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return references;
}

static void show_event(const char *name, cl_event event)
{
	cl_ulong t = 0;
	cl_int r = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(t), &t, NULL);

	printf("%s: start %d %s\n", name, r, t ? "set" : "0");
	r = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 1, &t, NULL);
	printf("%s: end, no room %d\n", name, r);
	r = clGetEventProfilingInfo(event, 0x1234, sizeof(t), &t, NULL);
	printf("%s: nonsense %d\n", name, r);
	printf("%s: event references %u\n", name, settled_references(event));
}

/* An event that waits for the program: the command is in flight while one looks. */
static void show_in_flight(const char *name, cl_command_queue queue)
{
	static char host[64];
	cl_int r;
	cl_event user = clCreateUserEvent(context, &r), event = NULL;
	cl_uint references = 0;

	r = clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof(host), host, 1, &user, &event);
	printf("%s: enqueue %d\n", name, r);
	clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references), &references, NULL);
	printf("%s: in flight, references %u\n", name, references);
	r = clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_START, 8, &(cl_ulong){0}, NULL);
	printf("%s: user event's start %d\n", name, r);
	clSetUserEventStatus(user, CL_COMPLETE);
	clWaitForEvents(1, &event);
	clReleaseEvent(user);
	show_event(name, event);
	clReleaseEvent(event);
}

static void show_queue(const char *name, cl_command_queue queue, cl_int error)
{
	static char host[64];
	cl_event event = NULL;

	printf("%s: made %d %s\n", name, error, queue ? "yes" : "no");
	if (!queue)
		return;
	show_properties(name, queue);
	clRetainCommandQueue(queue);
	clReleaseCommandQueue(queue);
	clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, sizeof(host), host, 0, NULL, &event);
	show_event(name, event);
	show_in_flight(name, queue);
	clFinish(queue);
	clReleaseCommandQueue(queue);
	clReleaseEvent(event);
}

static void show_with(const char *name, const cl_queue_properties *list)
{
	cl_int error = 999;
	cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, list, &error);

	show_queue(name, queue, error);
}

static void show_old(const char *name, cl_command_queue_properties properties)
{
	cl_int error = 999;
	cl_command_queue queue = clCreateCommandQueue(context, device, properties, &error);

	show_queue(name, queue, error);
}

static void CL_CALLBACK count_end(cl_mem ended, void *arg)
{
	(void)ended;
	++*(int *)arg;
}

/* References of an object, and when it ends. */
static void show_memory(void)
{
	cl_buffer_region region = {0, 64};
	cl_int error = 999;
	cl_mem whole = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &error), part;
	cl_uint references = 0;
	int n_ended = 0;

	clSetMemObjectDestructorCallback(whole, count_end, &n_ended);
	clGetMemObjectInfo(whole, CL_MEM_REFERENCE_COUNT, 4, &references, NULL);
	printf("memory: made %d, references %u\n", error, references);
	part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	printf("memory: a part %d\n", error);
	printf("memory: released %d, ended %d\n", clReleaseMemObject(whole), n_ended);
	printf("memory: the part released %d, ended %d\n", clReleaseMemObject(part), n_ended);
	clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &error);
	printf("memory: of no bytes %d\n", error);
	clCreateBuffer(NULL, CL_MEM_READ_WRITE, 64, NULL, &error);
	printf("memory: no context %d\n", error);
	printf("memory: none %d\n", clReleaseMemObject(NULL));
	printf("memory: no error wanted %d\n",
	       clReleaseMemObject(clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL)));
	clSVMFree(context, NULL);
}

/* Calls that are wrong, in the ways that a layer could get wrong too. */
static void show_errors(void)
{
	cl_int error = 999;
	size_t region[3] = {1, 1, 1}, origin[3] = {0, 0, 0};
	void *p;

	printf("no queue: %d\n",
	       clEnqueueNDRangeKernel(NULL, NULL, 1, NULL, NULL, NULL, 0, NULL, NULL));
	printf("no event: %d\n",
	       clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_START, 8, &(cl_ulong){0}, NULL));
	printf("no event: %d\n",
	       clGetEventInfo(NULL, CL_EVENT_REFERENCE_COUNT, 4, &(cl_uint){0}, NULL));
	printf("no kernel: %d\n", clReleaseKernel(NULL));
	printf("no queue: %d %d\n", clReleaseCommandQueue(NULL), clRetainCommandQueue(NULL));
	p = clEnqueueMapBuffer(NULL, mem, CL_TRUE, CL_MAP_READ, 0, 8, 0, NULL, NULL, &error);
	printf("no queue: %d %s\n", error, p ? "mapped" : "-");
	printf("no image: %d\n",
	       clEnqueueReadImage(NULL, NULL, CL_TRUE, origin, region, 0, 0, NULL, 0, NULL, NULL));
	clCreateCommandQueue(NULL, device, 0, &error);
	printf("no context: %d\n", error);
	clCreateCommandQueueWithProperties(context, NULL, NULL, &error);
	printf("no device: %d\n", error);
	clCreateCommandQueueWithProperties(context, device, (cl_queue_properties[]){0x7777, 1, 0},
					   &error);
	printf("no such property: %d\n", error);
}

int main(void)
{
	cl_platform_id platform;
	cl_int error;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
		printf("no OpenCL platform\n");
		return 77;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	mem = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
	show_old("old", 0);
	show_old("old, profiling", CL_QUEUE_PROFILING_ENABLE);
	show_old("old, out of order", CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	show_with("none", NULL);
	show_with("empty", (cl_queue_properties[]){0});
	show_with("zero", (cl_queue_properties[]){CL_QUEUE_PROPERTIES, 0, 0});
	show_with("out of order",
		  (cl_queue_properties[]){CL_QUEUE_PROPERTIES,
					  CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0});
	show_with("profiling",
		  (cl_queue_properties[]){CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0});
	show_with("both", (cl_queue_properties[]){CL_QUEUE_PROPERTIES,
						  CL_QUEUE_PROFILING_ENABLE |
							  CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
						  0});
	show_errors();
	show_memory();
	clReleaseMemObject(mem);
	clReleaseContext(context);
	return 0;
}
