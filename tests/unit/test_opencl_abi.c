/* SPDX-License-Identifier: MIT */
/* opencl_abi.h against Khronos' headers; the door called as a loader would, with a table made by
 * hand; and loaders that know no layers. No OpenCL is needed to run it. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backends/opencl_abi.h"
#include "base/util.h"
#include "check_main.h"
#include "mocks/test_api_stub.h"

#if defined(__has_include)
#if __has_include(<CL/cl_layer.h>)
#define HAVE_CL_HEADERS 1
#endif
#endif

#ifdef HAVE_CL_HEADERS
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>

/* Each function: its place in the table, and its type, parameter by parameter. */
#define _(function, place, result, parameters)                                                     \
	_Static_assert(offsetof(cl_icd_dispatch, function) == place * sizeof(void *), #function);  \
	_Static_assert(__builtin_types_compatible_p(opencl_##function *,                           \
						    __typeof__(((cl_icd_dispatch *)0)->function)), \
		       #function " has another type");
OPENCL_FUNCTIONS(_)
#undef _

#define SAME(name) _Static_assert(OPENCL_##name == CL_##name, #name);
SAME(SUCCESS)
SAME(COMPLETE)
SAME(PROFILING_INFO_NOT_AVAILABLE)
SAME(INVALID_VALUE)
SAME(LAYER_API_VERSION)
SAME(LAYER_NAME)
SAME(LAYER_API_VERSION_100)
SAME(DEVICE_MAX_COMPUTE_UNITS)
SAME(DEVICE_MAX_CLOCK_FREQUENCY)
SAME(DEVICE_GLOBAL_MEM_SIZE)
SAME(DEVICE_NAME)
SAME(DRIVER_VERSION)
SAME(QUEUE_CONTEXT)
SAME(QUEUE_DEVICE)
SAME(QUEUE_PROPERTIES)
SAME(QUEUE_PROPERTIES_ARRAY)
SAME(QUEUE_PROFILING_ENABLE)
SAME(QUEUE_ON_DEVICE)
SAME(MEM_SIZE)
SAME(IMAGE_ELEMENT_SIZE)
SAME(MAP_READ)
SAME(MAP_WRITE)
SAME(MAP_WRITE_INVALIDATE_REGION)
SAME(KERNEL_FUNCTION_NAME)
SAME(EVENT_COMMAND_QUEUE)
SAME(EVENT_REFERENCE_COUNT)
SAME(PROFILING_COMMAND_QUEUED)
SAME(PROFILING_COMMAND_START)
SAME(PROFILING_COMMAND_END)
_Static_assert(OPENCL_MIGRATE_HOST == CL_MIGRATE_MEM_OBJECT_HOST, "migrate");
_Static_assert(OPENCL_MIGRATE_CONTENT_UNDEFINED == CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
	       "migrate");
#ifdef CL_DEVICE_UUID_KHR
_Static_assert(OPENCL_DEVICE_UUID == CL_DEVICE_UUID_KHR, "uuid");
#endif
_Static_assert(sizeof(cl_icd_dispatch) >= OPENCL_N_PLACES * sizeof(void *), "size of the table");
#endif

typedef int32_t layer_info(uint32_t what, size_t size, void *value, size_t *ret_size);
typedef int32_t layer_init(uint32_t n, const void *target, uint32_t *ret_n,
			   const void **ret_dispatch);

static void *stub_symbol(const char *name)
{
	void *handle = dlopen(STUB_LIBRARY, RTLD_NOW), *symbol;

	ck_assert_msg(handle != NULL, "%s", dlerror());
	symbol = dlsym(handle, name);
	ck_assert_msg(symbol != NULL, "%s", dlerror());
	return symbol;
}

static struct stub *stub_open(void)
{
	stub_get_fn *get;

	*(void **)&get = stub_symbol("stub_get");
	return get();
}

START_TEST(test_info)
{
	layer_info *info;
	uint32_t version = 0;
	char name[16] = "";
	size_t size = 0;

	*(void **)&info = stub_symbol("clGetLayerInfo");
	ck_assert_int_eq(info(OPENCL_LAYER_API_VERSION, sizeof(version), &version, NULL), 0);
	ck_assert_uint_eq(version, 100);
	ck_assert_int_eq(info(OPENCL_LAYER_NAME, 0, NULL, &size), 0);
	ck_assert_uint_eq(size, 7);
	ck_assert_int_eq(info(OPENCL_LAYER_NAME, sizeof(name), name, &size), 0);
	ck_assert_str_eq(name, "proton");
	ck_assert_int_eq(info(OPENCL_LAYER_NAME, 3, name, &size), OPENCL_INVALID_VALUE);
	ck_assert_int_eq(info(1, sizeof(name), name, &size), OPENCL_INVALID_VALUE);
}
END_TEST

/* Tables of loaders of other ages; only addresses are looked at. */
START_TEST(test_tables)
{
	void *target[200];
	const void *const *layer = NULL;
	layer_init *init;
	uint32_t n = 0;

	*(void **)&init = stub_symbol("clInitLayer");
	ck_assert_int_ne(init(0, target, &n, (const void **)&layer), 0);
	ck_assert_int_ne(init(200, NULL, &n, (const void **)&layer), 0);
	for (int i = 0; i < 200; i++)
		target[i] = &target[i];
	target[OPENCL_clEnqueueSVMMap] = NULL;
	if (_i == 0) { /* a longer table: the loader keeps the rest of its own */
		ck_assert_int_eq(init(200, target, &n, (const void **)&layer), 0);
		ck_assert_uint_eq(n, OPENCL_N_PLACES);
	} else { /* OpenCL 1.2 */
		ck_assert_int_eq(init(110, target, &n, (const void **)&layer), 0);
		ck_assert_uint_eq(n, 110);
	}
	ck_assert(layer != (const void *)target);
	ck_assert(layer[0] == target[0]);
	ck_assert(layer[OPENCL_clRetainEvent] == target[OPENCL_clRetainEvent]);
	ck_assert(layer[OPENCL_clEnqueueReadBuffer] != target[OPENCL_clEnqueueReadBuffer]);
	ck_assert(_i || !layer[OPENCL_clEnqueueSVMMap]);
	/* A second loader in the process is left alone. */
	ck_assert_int_eq(init(150, target, &n, (const void **)&layer), 0);
	ck_assert(layer == (const void *)target);
	ck_assert_uint_eq(n, 150);
}
END_TEST

START_TEST(test_tables_refused)
{
	void *target[200] = {NULL};
	const void *layer = NULL;
	layer_init *init;
	uint32_t n = 0;

	*(void **)&init = stub_symbol("clInitLayer");
	if (_i == 0) /* the collector stays off; else: a table with nothing in it */
		setenv("PROTON_STUB_REFUSE", "1", 1);
	ck_assert_int_eq(init(200, target, &n, &layer), 0);
	ck_assert(layer == (const void *)target);
	ck_assert_uint_eq(n, 200);
}
END_TEST

/* --- a driver of a few functions, whose commands end when and as the test says ---------------- */

static struct mock {
	int32_t retain_error, callback_error, enqueue_error, profiling_error;
	uint64_t start, end;
	int references;      /* of the one event */
	uint64_t properties; /* what queues are made with */
	opencl_event_callback *callback;
	void *arg;
} mock;

/* Handles are addresses of these. */
static char mock_queue, mock_event, mock_mem, mock_context, mock_device;
#define QUEUE ((cl_command_queue)(void *)&mock_queue)
#define EVENT ((cl_event)(void *)&mock_event)
#define MEM   ((cl_mem)(void *)&mock_mem)

static opencl_clGetDeviceInfo mock_clGetDeviceInfo;
static int32_t mock_clGetDeviceInfo(cl_device_id device, uint32_t what, size_t size, void *value,
				    size_t *ret_size)
{
	return OPENCL_INVALID_VALUE;
}

static opencl_clCreateCommandQueue mock_clCreateCommandQueue;
static cl_command_queue mock_clCreateCommandQueue(cl_context context, cl_device_id device,
						  uint64_t properties, int32_t *ret_error)
{
	mock.properties = properties;
	return QUEUE;
}

static opencl_clCreateCommandQueueWithProperties mock_clCreateCommandQueueWithProperties;
static cl_command_queue mock_clCreateCommandQueueWithProperties(cl_context context,
								cl_device_id device,
								const uint64_t *properties,
								int32_t *ret_error)
{
	/* A driver that knows no profiling: the second try is the program's own. */
	mock.properties = properties ? properties[1] : 0;
	return properties ? NULL : QUEUE;
}

static opencl_clGetCommandQueueInfo mock_clGetCommandQueueInfo;
static int32_t mock_clGetCommandQueueInfo(cl_command_queue queue, uint32_t what, size_t size,
					  void *value, size_t *ret_size)
{
	void *handle = what == OPENCL_QUEUE_CONTEXT ? &mock_context : &mock_device;

	if (size == sizeof(handle) && value)
		memcpy(value, &handle, size);
	return OPENCL_SUCCESS;
}

static opencl_clGetEventInfo mock_clGetEventInfo;
static int32_t mock_clGetEventInfo(cl_event event, uint32_t what, size_t size, void *value,
				   size_t *ret_size)
{
	cl_command_queue queue = QUEUE;

	if (what == OPENCL_EVENT_REFERENCE_COUNT)
		memcpy(value, &mock.references, size);
	else
		memcpy(value, &queue, size);
	return OPENCL_SUCCESS;
}

static opencl_clRetainEvent mock_clRetainEvent;
static int32_t mock_clRetainEvent(cl_event event)
{
	mock.references += !mock.retain_error;
	return mock.retain_error;
}

static opencl_clReleaseEvent mock_clReleaseEvent;
static int32_t mock_clReleaseEvent(cl_event event)
{
	mock.references--;
	return OPENCL_SUCCESS;
}

static opencl_clGetEventProfilingInfo mock_clGetEventProfilingInfo;
static int32_t mock_clGetEventProfilingInfo(cl_event event, uint32_t what, size_t size, void *value,
					    size_t *ret_size)
{
	memcpy(value, what == OPENCL_PROFILING_COMMAND_START ? &mock.start : &mock.end, size);
	return mock.profiling_error;
}

static opencl_clEnqueueWriteBuffer mock_clEnqueueWriteBuffer;
static int32_t mock_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, uint32_t blocking,
					 size_t offset, size_t size, const void *p, OPENCL_WAIT)
{
	if (!mock.enqueue_error && event) {
		*event = EVENT;
		mock.references = 1;
	}
	return mock.enqueue_error;
}

static opencl_clSetEventCallback mock_clSetEventCallback;
static int32_t mock_clSetEventCallback(cl_event event, int32_t status,
				       opencl_event_callback *callback, void *arg)
{
	mock.callback = callback;
	mock.arg = arg;
	return mock.callback_error;
}

#define MOCK(function) target[OPENCL_##function] = (void *)mock_##function

/* Our layer over the mock. */
static void *const *mock_layer(void)
{
	static void *target[OPENCL_N_PLACES];
	const void *layer = NULL;
	layer_init *init;
	uint32_t n;

	for (int i = 0; i < OPENCL_N_PLACES; i++)
		target[i] = &target[i]; /* there, but not to be called */
	MOCK(clGetDeviceInfo);
	MOCK(clCreateCommandQueue);
	MOCK(clCreateCommandQueueWithProperties);
	MOCK(clGetCommandQueueInfo);
	MOCK(clGetEventInfo);
	MOCK(clRetainEvent);
	MOCK(clReleaseEvent);
	MOCK(clGetEventProfilingInfo);
	MOCK(clEnqueueWriteBuffer);
	MOCK(clSetEventCallback);
	*(void **)&init = stub_symbol("clInitLayer");
	ck_assert_int_eq(init(OPENCL_N_PLACES, target, &n, &layer), 0);
	ck_assert(layer != target);
	mock = (struct mock){.start = 100, .end = 200};
	return layer;
}

/* One write, through the layer. */
static int32_t mock_write(void *const *layer, cl_event *event)
{
	opencl_clEnqueueWriteBuffer *write = (void *)layer[OPENCL_clEnqueueWriteBuffer];

	return write(QUEUE, MEM, 0, 0, 64, "", 0, NULL, event);
}

/* Ways in which a command ends: is it recorded, what is lost, and whose the event is then. */
static const struct ending {
	int32_t retain_error, callback_error, enqueue_error, profiling_error, status;
	uint64_t start, end;
	bool own; /* the program wants the event */
	bool recorded;
	int loss; /* -1: none */
	int references;
} endings[] = {
	{.start = 1, .end = 2, .recorded = true, .loss = -1, .references = 0},
	{.start = 1, .end = 2, .own = true, .recorded = true, .loss = -1, .references = 1},
	{.start = 2, .end = 2, .recorded = true, .loss = -1, .references = 0},
	{.start = 2, .end = 1, .own = true, .loss = LOSS_REVERSED_TIME, .references = 1},
	{.start = 0, .end = 0, .loss = LOSS_ZERO_TIME, .references = 0},
	{.start = 1, .end = 2, .profiling_error = -7, .loss = LOSS_ZERO_TIME, .references = 0},
	{.status = -14, .start = 1, .end = 2, .own = true, .loss = -1, .references = 1},
	{.enqueue_error = -5, .loss = -1, .references = 0},
	{.callback_error = -6, .loss = LOSS_DROPPED, .references = 0},
	{.callback_error = -6, .own = true, .loss = LOSS_DROPPED, .references = 1},
	{.retain_error = -6, .own = true, .loss = LOSS_DROPPED, .references = 1},
};

START_TEST(test_endings)
{
	const struct ending *t = &endings[_i];
	void *const *layer = mock_layer();
	struct stub *stub = stub_open();
	cl_event event = NULL;

	mock.retain_error = t->retain_error;
	mock.callback_error = t->callback_error;
	mock.enqueue_error = t->enqueue_error;
	mock.profiling_error = t->profiling_error;
	mock.start = t->start;
	mock.end = t->end;
	ck_assert_int_eq(mock_write(layer, t->own ? &event : NULL), t->enqueue_error);
	ck_assert_uint_eq(stub->n_launches, 1);
	if (!t->enqueue_error && !t->callback_error && !t->retain_error) {
		ck_assert_int_eq(mock.references, t->own ? 2 : 1);
		mock.callback(EVENT, t->status, mock.arg);
	}
	if (t->own && !t->enqueue_error)
		ck_assert(event == EVENT);
	ck_assert_int_eq(mock.references, t->references);
	ck_assert_uint_eq(stub->n_records, t->recorded);
	ck_assert_uint_eq(stub->n_unlaunches, !t->recorded);
	for (int i = 0; i < LOSS_N; i++)
		ck_assert_uint_eq(stub->n_losses[i], i == t->loss);
	stub->flush();
}
END_TEST

/* The reference that we hold is not the program's business. */
START_TEST(test_references)
{
	void *const *layer = mock_layer();
	opencl_clGetEventInfo *info = (void *)layer[OPENCL_clGetEventInfo];
	cl_event event;
	uint32_t n = 0;

	ck_assert_int_eq(mock_write(layer, &event), 0);
	ck_assert_int_eq(mock.references, 2);
	info(event, OPENCL_EVENT_REFERENCE_COUNT, sizeof(n), &n, NULL);
	ck_assert_uint_eq(n, 1);
	mock.callback(EVENT, 0, mock.arg);
	info(event, OPENCL_EVENT_REFERENCE_COUNT, sizeof(n), &n, NULL);
	ck_assert_uint_eq(n, 1);
}
END_TEST

/* A driver that refuses profiling gets what the program asked for. */
START_TEST(test_no_profiling)
{
	void *const *layer = mock_layer();
	opencl_clCreateCommandQueue *create = (void *)layer[OPENCL_clCreateCommandQueue];
	opencl_clCreateCommandQueueWithProperties *with =
		(void *)layer[OPENCL_clCreateCommandQueueWithProperties];
	opencl_clGetEventProfilingInfo *info = (void *)layer[OPENCL_clGetEventProfilingInfo];
	uint64_t t = 0;

	ck_assert(create(NULL, NULL, 1, NULL) == QUEUE);
	ck_assert_uint_eq(mock.properties, 3);
	ck_assert_int_eq(info(EVENT, OPENCL_PROFILING_COMMAND_START, sizeof(t), &t, NULL),
			 OPENCL_PROFILING_INFO_NOT_AVAILABLE);
	ck_assert(with(NULL, NULL, NULL, NULL) == QUEUE);
	ck_assert_uint_eq(mock.properties, 0);
	ck_assert_int_eq(info(EVENT, OPENCL_PROFILING_COMMAND_START, sizeof(t), &t, NULL), 0);
}
END_TEST

/* --- loaders ---------------------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
	char buf[65536];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	ssize_t n;

	ck_assert(in >= 0 && out >= 0);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		ck_assert_int_eq(write(out, buf, (size_t)n), n);
	close(in);
	close(out);
}

/* No loader, one without layers. */
START_TEST(test_loader_old)
{
	char dir[] = "/tmp/proton-test-XXXXXX", path[64];
	struct stub *stub = stub_open();

	stub->check_loader();
	ck_assert_str_eq(stub->note, "");
	ck_assert(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/libOpenCL.so.1", dir);
	copy_file(NOLAYERS_LIBRARY, path);
	ck_assert_msg(dlopen(path, RTLD_NOW) != NULL, "%s", dlerror());
	stub->check_loader();
	unlink(path);
	rmdir(dir);
	ck_assert_msg(strstr(stub->note, path) != NULL, "'%s'", stub->note);
	ck_assert(strstr(stub->note, "does not support layers: nothing was recorded") != NULL);
}
END_TEST

/* One with layers that the program loaded and never used is no reason to complain. */
START_TEST(test_loader_new)
{
	struct stub *stub = stub_open();

	unsetenv("OPENCL_LAYERS");
	if (!dlopen("libOpenCL.so.1", RTLD_NOW))
		return;
	stub->check_loader();
	ck_assert_str_eq(stub->note, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("opencl_abi");
	TCase *tc = tcase_create("opencl_abi");
	SRunner *sr = srunner_create(s);

	tcase_add_test(tc, test_info);
	tcase_add_loop_test(tc, test_tables, 0, 2);
	tcase_add_loop_test(tc, test_tables_refused, 0, 2);
	tcase_add_loop_test(tc, test_endings, 0, (int)ARRAY_SIZE(endings));
	tcase_add_test(tc, test_references);
	tcase_add_test(tc, test_no_profiling);
	tcase_add_test(tc, test_loader_old);
	tcase_add_test(tc, test_loader_new);
	suite_add_tcase(s, tc);
	srunner_set_fork_status(sr, CK_FORK);
	return check_end(sr);
}
