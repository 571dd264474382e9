/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 without a GPU: device information, and a driver API whose calls go to the mock
 * CUPTI when the injected library has loaded one. A CUfunction is the kernel's name, device memory
 * is any address. cuInit() loads CUDA_INJECTION64_PATH as the real one does. */
#include "config.h" // IWYU pragma: keep

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cupti_abi.h"
#include "mock_cupti.h"

#define EXPORT __attribute__((visibility("default")))

static mock_call_fn *call;
static mock_resource_fn *resource;
static mock_wait_fn *wait_for_device;
static _Atomic bool is_initialised;

static void find_mock_cupti(void)
{
	const char *path = getenv("PROTON_CUPTI_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;

	if (!library)
		return;
	*(void **)&call = dlsym(library, "mock_call");
	*(void **)&resource = dlsym(library, "mock_resource");
	*(void **)&wait_for_device = dlsym(library, "mock_wait");
}

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize)
		initialize();
	find_mock_cupti();
	if (resource)
		resource(ABI_RESOURCE_INIT_FINISHED);
	is_initialised = true;
}

EXPORT uint32_t cuInit(uint32_t flags);
uint32_t cuInit(uint32_t flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, inject);
	return 0;
}

/* A profiler may come late. */
static uint32_t make(uint32_t cbid, const struct mock_op *op)
{
	if (!call)
		find_mock_cupti();
	if (call)
		call(cbid, op);
	return op->result;
}

/* Later than any before; the caller holds the lock of what it is of. */
static uint64_t next_ns(void)
{
	static uint64_t last;
	struct timespec t;
	uint64_t now;

	clock_gettime(CLOCK_REALTIME, &t);
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	last = now > last ? now : last + 1;
	return last;
}

/* ---- captured launches ---- */

/* One of proton's kernel that brings numbers out of graphs is run here, as src/backends/cuda_values.ptx has it. */
struct metric_launch {
	uint64_t source, ring;
	uint32_t size, kind, n_entries, first, n;
};

enum { CAPTURED_MAX = 256, COUNTERS = 16384, EXECUTABLE = 2 };
/* The graph that is captured is 1; behind a node the one that is made of it. */
#define FIRST_NODE (UINT64_C(1) << 32 | 1000)
#define CLONE      (UINT64_C(1) << 32)
static struct {
	const char *name;
	bool is_metric;
	struct metric_launch metric;
} captured[CAPTURED_MAX];
static size_t n_captured;

static void run_metric(const struct metric_launch *m)
{
	static uint64_t position, runs[COUNTERS], sums[COUNTERS];

	for (uint32_t i = 0; i < m->n; i++) {
		const void *from = (const void *)(uintptr_t)(m->source + i * m->size);
		uint64_t *sum = &sums[m->first + i];
		_Atomic uint64_t *entry =
			(_Atomic uint64_t *)(uintptr_t)m->ring + position % m->n_entries * 4;
		double real = 0;
		int64_t whole = 0;

		if (m->kind == 0 || m->kind == 1) {
			double before;

			if (m->kind == 0)
				memcpy(&real, from, sizeof(real));
			else
				real = *(const float *)from;
			memcpy(&before, sum, sizeof(before));
			before += real;
			memcpy(sum, &before, sizeof(before));
			memcpy(&whole, &real, sizeof(real));
		} else {
			if (m->size == sizeof(int32_t))
				whole = *(const int32_t *)from;
			else
				memcpy(&whole, from, m->size);
			*sum += (uint64_t)whole;
		}
		entry[0] = 0; /* the host may be reading it */
		entry[2] = (uint64_t)whole;
		entry[1] = (uint64_t)++runs[m->first + i] << 32 | (m->first + i);
		entry[3] = *sum;
		entry[0] = ++position;
	}
}

/* The graph runs, and its records are still to come. */
EXPORT void mock_graph_run(void);
void mock_graph_run(void)
{
	for (size_t i = 0; i < n_captured; i++)
		if (captured[i].is_metric)
			run_metric(&captured[i].metric);
}

/* What was captured, in its order, as a graph that was made of it: a record each, or one for all (MOCK_CUDA_WHOLE). */
EXPORT void mock_graph_launch(void);
void mock_graph_launch(void)
{
	for (size_t i = 0; i < n_captured; i++) {
		struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
				     .name = captured[i].name,
				     .context = 1,
				     .stream = 7,
				     .graph = EXECUTABLE,
				     .graph_node = CLONE + FIRST_NODE + i};

		if (captured[i].is_metric)
			run_metric(&captured[i].metric);
		if (i + 1 == n_captured || !getenv("MOCK_CUDA_WHOLE"))
			make(514, &op);
	}
}

/* A graph is made executable of what was captured. */
EXPORT void mock_graph_instantiate(void);
void mock_graph_instantiate(void)
{
	mock_clone_fn *clone = NULL;
	void *library = dlopen(getenv("PROTON_CUPTI_PATH"), RTLD_LAZY | RTLD_NOLOAD);

	if (library)
		*(void **)&clone = dlsym(library, "mock_clone");
	for (size_t i = 0; clone && i < n_captured; i++)
		clone(FIRST_NODE + i, CLONE + FIRST_NODE + i);
}

static uint32_t capture_launch(const char *function, uint32_t n_threads, void **parameters)
{
	struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
			     .name = function,
			     .captured = true,
			     .graph_node = FIRST_NODE + n_captured};

	if (n_captured == CAPTURED_MAX)
		return 2;
	captured[n_captured].name = function;
	captured[n_captured].is_metric = !strcmp(function, "proton_metric");
	if (captured[n_captured].is_metric) {
		struct metric_launch *m = &captured[n_captured].metric;

		memcpy(&m->source, parameters[0], sizeof(m->source));
		memcpy(&m->size, parameters[1], sizeof(m->size));
		memcpy(&m->kind, parameters[2], sizeof(m->kind));
		memcpy(&m->ring, parameters[3], sizeof(m->ring));
		memcpy(&m->n_entries, parameters[4], sizeof(m->n_entries));
		memcpy(&m->first, parameters[5], sizeof(m->first));
		m->n = n_threads;
	}
	n_captured++;
	return make(307, &op);
}

/* Stream 1 always captures. */
EXPORT uint32_t cuStreamBeginCapture_v2(void *stream, int mode);
uint32_t cuStreamBeginCapture_v2(void *stream, int mode)
{
	struct mock_op op = {.stream = (uint32_t)(uintptr_t)stream};

	(void)mode;
	return make(539, &op);
}

EXPORT uint32_t cuStreamEndCapture(void *stream, void **ret);
uint32_t cuStreamEndCapture(void *stream, void **ret)
{
	struct mock_op op = {.stream = (uint32_t)(uintptr_t)stream};

	*ret = NULL;
	return make(497, &op);
}

EXPORT uint32_t cuThreadExchangeStreamCaptureMode(int *mode);
uint32_t cuThreadExchangeStreamCaptureMode(int *mode)
{
	static __thread int now STATIC_TLS;
	int before = now;

	now = *mode;
	*mode = before;
	return 0;
}

EXPORT uint32_t cuStreamGetCtx(void *stream, void **ret);
uint32_t cuStreamGetCtx(void *stream, void **ret)
{
	(void)stream;
	*ret = captured;
	return 0;
}

/* ---- functions of modules and libraries, as a test has them ---- */

static const struct mock_functions *functions;
static __thread unsigned within_module STATIC_TLS;

EXPORT mock_functions_fn mock_functions;
void mock_functions(const struct mock_functions *of)
{
	functions = of;
}

EXPORT uint32_t cuCtxPushCurrent_v2(void *context);
uint32_t cuCtxPushCurrent_v2(void *context)
{
	return context != captured && !functions;
}

/* A call that a profiler makes while a launch is under way has its number. As with the real one, from within the callback of
 * a module's loading it would never return. */
static uint32_t nested(uint32_t cbid)
{
	const struct mock_op op = {.as_newest = true};

	if (!functions)
		return 1;
	if (within_module) {
		fputs("mock_cuda: called while a module is loaded\n", stderr);
		abort();
	}
	return make(cbid, &op);
}

EXPORT uint32_t cuKernelGetLibrary(void **ret, void *kernel);
uint32_t cuKernelGetLibrary(void **ret, void *kernel)
{
	uint32_t r = nested(0);

	*ret = r ? NULL : functions->library(kernel);
	return *ret ? 0 : 400;
}

EXPORT uint32_t cuKernelGetFunction(void **ret, void *kernel);
uint32_t cuKernelGetFunction(void **ret, void *kernel)
{
	uint32_t r = nested(0);

	*ret = kernel;
	within_module++;
	if (!r)
		functions->load(kernel);
	within_module--;
	return r;
}

EXPORT uint32_t cuFuncGetModule(void **ret, void *function);
uint32_t cuFuncGetModule(void **ret, void *function)
{
	*ret = function;
	return nested(0);
}

static uint32_t global(uint64_t *ret, size_t *ret_size, void *of, const char *name)
{
	uint32_t r = nested(0);

	*ret = r ? 0 : (uintptr_t)functions->global(of, name);
	*ret_size = sizeof(uint64_t);
	return *ret ? 0 : 500;
}

EXPORT uint32_t cuLibraryGetGlobal(uint64_t *ret, size_t *ret_size, void *library,
				   const char *name);
uint32_t cuLibraryGetGlobal(uint64_t *ret, size_t *ret_size, void *library, const char *name)
{
	return global(ret, ret_size, library, name);
}

EXPORT uint32_t cuModuleGetGlobal_v2(uint64_t *ret, size_t *ret_size, void *module,
				     const char *name);
uint32_t cuModuleGetGlobal_v2(uint64_t *ret, size_t *ret_size, void *module, const char *name)
{
	return global(ret, ret_size, module, name);
}

EXPORT uint32_t cuStreamCreate(void **ret, unsigned flags);
uint32_t cuStreamCreate(void **ret, unsigned flags)
{
	*ret = captured;
	return flags > 1;
}

EXPORT uint32_t cuStreamWriteValue64_v2(void *stream, uint64_t at, uint64_t value, unsigned flags);
uint32_t cuStreamWriteValue64_v2(void *stream, uint64_t at, uint64_t value, unsigned flags)
{
	(void)stream;
	memcpy((void *)(uintptr_t)at, &value, sizeof(value));
	return flags || nested(0);
}

EXPORT uint32_t cuCtxPopCurrent_v2(void **ret);
uint32_t cuCtxPopCurrent_v2(void **ret)
{
	*ret = captured;
	return 0;
}

EXPORT uint32_t cuModuleLoadData(void **ret, const void *text);
uint32_t cuModuleLoadData(void **ret, const void *text)
{
	*ret = captured;
	return getenv("MOCK_CUDA_NO_JIT") || !strstr(text, ".entry proton_metric(") ? 218 : 0;
}

/* As the one above, of which a profiler asks no other. */
EXPORT uint32_t cuModuleLoadDataEx(void **ret, const void *text, unsigned n, void *options,
				   void **values);
uint32_t cuModuleLoadDataEx(void **ret, const void *text, unsigned n, void *options, void **values)
{
	(void)n, (void)options, (void)values;
	return cuModuleLoadData(ret, text);
}

EXPORT uint32_t cuModuleLoadFatBinary(void **ret, const void *text);
uint32_t cuModuleLoadFatBinary(void **ret, const void *text)
{
	return cuModuleLoadData(ret, text);
}

EXPORT uint32_t cuModuleLoad(void **ret, const char *name);
uint32_t cuModuleLoad(void **ret, const char *name)
{
	*ret = captured;
	return *name ? 301 : 0;
}

EXPORT uint32_t cuModuleGetFunction(void **ret, void *module, const char *name);
uint32_t cuModuleGetFunction(void **ret, void *module, const char *name)
{
	static char kernel[] = "proton_metric";

	(void)module;
	*ret = kernel;
	return strcmp(name, kernel) != 0;
}

/* ---- memory ---- */

/* Addresses are only numbers. That which was released last is given out first. */
enum { BLOCKS_MAX = 1 << 21, POOL = 0x9001, PARTS_MAX = 1 << 12 };
#define BLOCK_STEP  4096
#define BLOCK_FIRST (UINT64_C(1) << 40)

static struct {
	pthread_mutex_t lock;
	uint32_t n, n_free;
	uint32_t free[BLOCKS_MAX]; /* numbers of blocks */
	uint64_t bytes[BLOCKS_MAX];
	struct {
		uint64_t address, bytes; /* address 0: a hole */
	} part[PARTS_MAX];               /* of the pool: side by side */
	uint32_t n_parts;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t block_take(uint64_t bytes)
{
	uint32_t i;

	if (heap.n == BLOCKS_MAX && !heap.n_free)
		return 0;
	i = heap.n_free ? heap.free[--heap.n_free] : heap.n++;
	heap.bytes[i] = bytes;
	return BLOCK_FIRST + (uint64_t)i * BLOCK_STEP;
}

/* Of how many bytes; 0: it is none. */
static uint64_t block_release(uint64_t address)
{
	uint64_t i = (address - BLOCK_FIRST) / BLOCK_STEP, bytes;

	if (address < BLOCK_FIRST || i >= heap.n || !heap.bytes[i])
		return 0;
	bytes = heap.bytes[i];
	heap.bytes[i] = 0;
	heap.free[heap.n_free++] = (uint32_t)i;
	return bytes;
}

static void part_insert(uint32_t at, uint64_t address, uint64_t bytes)
{
	if (heap.n_parts == PARTS_MAX)
		abort();
	memmove(&heap.part[at + 1], &heap.part[at], (heap.n_parts - at) * sizeof(*heap.part));
	heap.part[at].address = address;
	heap.part[at].bytes = bytes;
	heap.n_parts++;
}

static void part_remove(uint32_t at)
{
	heap.n_parts--;
	memmove(&heap.part[at], &heap.part[at + 1], (heap.n_parts - at) * sizeof(*heap.part));
}

/* Of the first hole that it fits into; else the pool grows by it, behind all others. */
static void pool_take(uint64_t address, uint64_t bytes)
{
	uint32_t i = 0;

	while (i < heap.n_parts && (heap.part[i].address || heap.part[i].bytes < bytes))
		i++;
	if (i < heap.n_parts && heap.part[i].bytes == bytes) {
		heap.part[i].address = address;
		return;
	}
	if (i < heap.n_parts)
		heap.part[i].bytes -= bytes;
	part_insert(i, address, bytes);
}

static bool is_hole(uint32_t i)
{
	return i < heap.n_parts && !heap.part[i].address;
}

/* Holes side by side are one. */
static void pool_release(uint64_t address)
{
	uint32_t i = 0;

	while (i < heap.n_parts && heap.part[i].address != address)
		i++;
	if (i == heap.n_parts)
		return;
	heap.part[i].address = 0;
	if (is_hole(i + 1)) {
		heap.part[i].bytes += heap.part[i + 1].bytes;
		part_remove(i + 1);
	}
	if (i && is_hole(i - 1)) {
		heap.part[i - 1].bytes += heap.part[i].bytes;
		part_remove(i);
	}
}

static void count_pool(struct mock_op *op)
{
	op->pool = POOL;
	op->pool_bytes = op->pool_used = 0;
	for (uint32_t i = 0; i < heap.n_parts; i++) {
		op->pool_bytes += heap.part[i].bytes;
		op->pool_used += heap.part[i].address ? heap.part[i].bytes : 0;
	}
}

/* Times are taken in the order in which blocks are; records come to the tool as they may. */
static uint32_t allocate(uint32_t cbid, uint64_t *ret, uint64_t bytes, uint8_t kind, bool in_pool,
			 uint32_t stream)
{
	struct mock_op op = {.kind = ABI_KIND_MEMORY2,
			     .operation = ABI_MEMORY_ALLOCATED,
			     .dst_kind = kind,
			     .bytes = bytes,
			     .context = 1,
			     .stream = stream};

	if (!bytes)
		return 1;
	if (getenv("MOCK_CUDA_FULL"))
		return 2;
	pthread_mutex_lock(&heap.lock);
	*ret = block_take(bytes);
	if (*ret && in_pool) {
		op.async = true;
		pool_take(*ret, bytes);
		count_pool(&op);
	}
	op.address = *ret;
	op.start_ns = op.end_ns = next_ns();
	pthread_mutex_unlock(&heap.lock);
	return *ret ? make(cbid, &op) : 2;
}

static uint32_t release(uint32_t cbid, uint64_t address, uint8_t kind, bool in_pool,
			uint32_t stream)
{
	struct mock_op op = {.kind = ABI_KIND_MEMORY2,
			     .operation = ABI_MEMORY_RELEASED,
			     .dst_kind = kind,
			     .address = address,
			     .context = 1,
			     .stream = stream};

	if (!address)
		return 0;
	pthread_mutex_lock(&heap.lock);
	op.start_ns = op.end_ns = next_ns();
	op.bytes = block_release(address);
	if (in_pool) {
		op.async = true;
		pool_release(address);
		count_pool(&op);
	}
	pthread_mutex_unlock(&heap.lock);
	return op.bytes ? make(cbid, &op) : 1;
}

static uint32_t stream_id(void *stream)
{
	return (uint32_t)(uintptr_t)stream + 7;
}

/* With mock_functions() there is memory behind it. */
EXPORT uint32_t cuMemAlloc_v2(uint64_t *ret, size_t bytes);
uint32_t cuMemAlloc_v2(uint64_t *ret, size_t bytes)
{
	struct mock_op op = {.kind = ABI_KIND_MEMORY2,
			     .operation = ABI_MEMORY_ALLOCATED,
			     .dst_kind = ABI_MEMORY_DEVICE,
			     .bytes = bytes,
			     .context = 1,
			     .as_newest = true};

	if (functions) {
		op.address = *ret = getenv("MOCK_CUDA_FULL") ? 0 : (uintptr_t)calloc(1, bytes);
		return *ret ? make(243, &op) : 2;
	}
	return allocate(243, ret, bytes, ABI_MEMORY_DEVICE, false, 0);
}

EXPORT uint32_t cuMemFree_v2(uint64_t address);
uint32_t cuMemFree_v2(uint64_t address)
{
	return release(245, address, ABI_MEMORY_DEVICE, false, 0);
}

EXPORT uint32_t cuMemAllocAsync(uint64_t *ret, size_t bytes, void *stream);
uint32_t cuMemAllocAsync(uint64_t *ret, size_t bytes, void *stream)
{
	return allocate(598, ret, bytes, ABI_MEMORY_DEVICE, true, stream_id(stream));
}

EXPORT uint32_t cuMemFreeAsync(uint64_t address, void *stream);
uint32_t cuMemFreeAsync(uint64_t address, void *stream)
{
	return release(600, address, ABI_MEMORY_DEVICE, true, stream_id(stream));
}

EXPORT uint32_t cuMemAllocManaged(uint64_t *ret, size_t bytes, uint32_t flags);
uint32_t cuMemAllocManaged(uint64_t *ret, size_t bytes, uint32_t flags)
{
	return flags ? allocate(371, ret, bytes, ABI_MEMORY_MANAGED, false, 0) : 1;
}

EXPORT uint32_t cuMemAllocHost_v2(uint64_t *ret, size_t bytes);
uint32_t cuMemAllocHost_v2(uint64_t *ret, size_t bytes)
{
	return allocate(294, ret, bytes, ABI_MEMORY_PINNED, false, 0);
}

EXPORT uint32_t cuMemFreeHost(uint64_t address);
uint32_t cuMemFreeHost(uint64_t address)
{
	return release(38, address, ABI_MEMORY_PINNED, false, 0);
}

/* The pool gives back what it does not use. */
EXPORT uint32_t cuMemPoolTrimTo(void *pool, size_t bytes);
uint32_t cuMemPoolTrimTo(void *pool, size_t bytes)
{
	struct mock_op op = {
		.kind = ABI_KIND_MEMORY_POOL, .operation = ABI_POOL_TRIMMED, .pool = POOL};

	(void)pool;
	pthread_mutex_lock(&heap.lock);
	count_pool(&op);
	for (uint32_t i = heap.n_parts; i-- > 0 && op.pool_bytes > bytes;)
		if (is_hole(i)) {
			op.pool_bytes -= heap.part[i].bytes;
			part_remove(i);
		}
	op.start_ns = op.end_ns = next_ns();
	pthread_mutex_unlock(&heap.lock);
	return make(0, &op);
}

/* What was allocated in it is gone. The handle is the id. */
EXPORT uint32_t cuCtxDestroy_v2(void *context);
uint32_t cuCtxDestroy_v2(void *context)
{
	const char *path = getenv("PROTON_CUPTI_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	mock_context_fn *end = NULL;

	if (library)
		*(void **)&end = dlsym(library, "mock_context_end");
	if (end)
		end((uint32_t)(uintptr_t)context);
	return 0;
}

EXPORT uint32_t cuMemHostRegister_v2(void *p, size_t size, uint32_t flags);
uint32_t cuMemHostRegister_v2(void *p, size_t size, uint32_t flags)
{
	struct mock_op op = {.kind = ABI_KIND_MEMORY2,
			     .operation = ABI_MEMORY_ALLOCATED,
			     .dst_kind = ABI_MEMORY_PINNED,
			     .address = (uintptr_t)p,
			     .bytes = size,
			     .context = 1};

	(void)flags;
	return p && size ? make(379, &op) : 1;
}

EXPORT uint32_t cuMemHostUnregister(void *p);
uint32_t cuMemHostUnregister(void *p)
{
	struct mock_op op = {.kind = ABI_KIND_MEMORY2,
			     .operation = ABI_MEMORY_RELEASED,
			     .dst_kind = ABI_MEMORY_PINNED,
			     .address = (uintptr_t)p,
			     .context = 1};

	return p ? make(302, &op) : 1;
}

EXPORT uint32_t cuMemHostGetDevicePointer_v2(uint64_t *ret, void *p, uint32_t flags);
uint32_t cuMemHostGetDevicePointer_v2(uint64_t *ret, void *p, uint32_t flags)
{
	*ret = (uintptr_t)p;
	return flags;
}

EXPORT uint32_t cuLaunchKernel(const char *function, uint32_t gx, uint32_t gy, uint32_t gz,
			       uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared, void *stream,
			       void **parameters, void **extra);
uint32_t cuLaunchKernel(const char *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
			uint32_t by, uint32_t bz, uint32_t shared, void *stream, void **parameters,
			void **extra)
{
	static _Atomic uint64_t n_launches;
	struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
			     .name = function,
			     .context = 1,
			     .number = ++n_launches,
			     .stream = (uint32_t)(uintptr_t)stream + 7};

	if ((uintptr_t)stream == 1)
		return capture_launch(function, bx, parameters);
	return make(307, &op);
}

static uint32_t copy(uint32_t cbid, uint8_t kind, uint8_t src, uint8_t dst, size_t bytes)
{
	struct mock_op op = {.kind = ABI_KIND_MEMCPY,
			     .copy_kind = kind,
			     .src_kind = src,
			     .dst_kind = dst,
			     .bytes = bytes,
			     .context = 1,
			     .stream = 7};

	return make(cbid, &op);
}

EXPORT uint32_t cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t bytes);
uint32_t cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t bytes)
{
	return copy(276, ABI_COPY_HTOD, ABI_MEMORY_PAGEABLE, ABI_MEMORY_DEVICE, bytes);
}

EXPORT uint32_t cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t bytes);
uint32_t cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t bytes)
{
	return copy(278, ABI_COPY_DTOH, ABI_MEMORY_DEVICE, ABI_MEMORY_PAGEABLE, bytes);
}

/* ---- how long copies take ---- */

/* Bytes in a millisecond of the device's own time, which events take. */
enum { TO_DEVICE, TO_HOST, FROM_PAGEABLE, TO_PAGEABLE, WITHIN, N_RATES };
static const double rates[N_RATES] = {50e6, 40e6, 8e6, 6e6, 1e9};
static double device_ms;

static void take_time(unsigned what, size_t bytes)
{
	device_ms += (double)bytes / rates[what];
}

/* What we have given out, which nobody may look into. */
static bool is_block(uint64_t address)
{
	return address >= BLOCK_FIRST && address < BLOCK_FIRST + (uint64_t)BLOCKS_MAX * BLOCK_STEP;
}

EXPORT uint32_t cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t bytes, void *stream);
uint32_t cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t bytes, void *stream)
{
	(void)dst, (void)stream;
	take_time(is_block((uintptr_t)src) ? TO_DEVICE : FROM_PAGEABLE, bytes);
	return copy(277, ABI_COPY_HTOD, ABI_MEMORY_PAGEABLE, ABI_MEMORY_DEVICE, bytes);
}

EXPORT uint32_t cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t bytes, void *stream);
uint32_t cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t bytes, void *stream)
{
	(void)dst, (void)src, (void)stream;
	take_time(WITHIN, bytes);
	return copy(281, ABI_COPY_DTOD, ABI_MEMORY_DEVICE, ABI_MEMORY_DEVICE, bytes);
}

EXPORT uint32_t cuMemsetD32Async(uint64_t dst, unsigned value, size_t n, void *stream);
uint32_t cuMemsetD32Async(uint64_t dst, unsigned value, size_t n, void *stream)
{
	(void)dst, (void)value, (void)n, (void)stream;
	return 0;
}

/* ---- copies to the host that come later, and events behind them ---- */

/* While they are deferred they wait, in the order of all streams, until as many are let through, or an event is asked. */
enum { DEFERRED_MAX = 8192 };
static struct {
	pthread_mutex_t lock;
	enum { DEFER_NOT, DEFER, DEFER_UNTIL_ASKED } how;
	uint64_t n, n_done;
	struct {
		void *to;
		const void *from;
		size_t bytes;
	} copy[DEFERRED_MAX];
} deferred = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct event {
	double ms;
	uint64_t behind; /* so many deferred copies */
	bool fails;
	struct event *before;
};

EXPORT void mock_defer(int how);
void mock_defer(int how)
{
	deferred.how = how;
}

EXPORT void mock_let_through(unsigned n);
void mock_let_through(unsigned n)
{
	pthread_mutex_lock(&deferred.lock);
	for (; n && deferred.n_done < deferred.n; n--, deferred.n_done++) {
		size_t i = deferred.n_done % DEFERRED_MAX;

		memcpy(deferred.copy[i].to, deferred.copy[i].from, deferred.copy[i].bytes);
	}
	pthread_mutex_unlock(&deferred.lock);
}

static void copy_out(void *to, const void *from, size_t bytes)
{
	pthread_mutex_lock(&deferred.lock);
	if (!deferred.how) {
		memcpy(to, from, bytes);
	} else if (deferred.n - deferred.n_done == DEFERRED_MAX) {
		abort();
	} else {
		deferred.copy[deferred.n % DEFERRED_MAX].to = to;
		deferred.copy[deferred.n % DEFERRED_MAX].from = from;
		deferred.copy[deferred.n++ % DEFERRED_MAX].bytes = bytes;
	}
	pthread_mutex_unlock(&deferred.lock);
}

EXPORT uint32_t cuEventCreate(void **ret, unsigned flags);
uint32_t cuEventCreate(void **ret, unsigned flags)
{
	static struct event *last; /* they go with the program */
	struct event *e = calloc(1, sizeof(*e));

	pthread_mutex_lock(&deferred.lock);
	e->before = last;
	last = e;
	pthread_mutex_unlock(&deferred.lock);
	*ret = e;
	return flags & ~2u;
}

EXPORT uint32_t cuEventDestroy_v2(void *event);
uint32_t cuEventDestroy_v2(void *event)
{
	return event == NULL;
}

EXPORT uint32_t cuEventQuery(void *event);
uint32_t cuEventQuery(void *event)
{
	struct event *e = event;
	uint32_t answer;

	pthread_mutex_lock(&deferred.lock);
	answer = e->behind > deferred.n_done ? 600 : e->fails ? 700 : 0;
	pthread_mutex_unlock(&deferred.lock);
	if (deferred.how == DEFER_UNTIL_ASKED)
		mock_let_through(1);
	return answer;
}

EXPORT uint32_t cuEventRecord(void *event, void *stream);
uint32_t cuEventRecord(void *event, void *stream)
{
	struct event *e = event;

	e->ms = device_ms;
	e->behind = deferred.n;
	e->fails = (uintptr_t)stream == 9; /* what ran in it went wrong */
	return 0;
}

EXPORT uint32_t cuEventElapsedTime(float *ms, void *from, void *to);
uint32_t cuEventElapsedTime(float *ms, void *from, void *to)
{
	*ms = (float)(((struct event *)to)->ms - ((struct event *)from)->ms);
	return 0;
}

EXPORT uint32_t cuDevicePrimaryCtxRetain(void **ret, int device);
uint32_t cuDevicePrimaryCtxRetain(void **ret, int device)
{
	const char *without = getenv("MOCK_CUDA_NO_CONTEXT"); /* a device's place; "all" */

	*ret = &device_ms;
	return device < 0 || (without && (!strcmp(without, "all") || atoi(without) == device)) ? 46
											       : 0;
}

EXPORT uint32_t cuDevicePrimaryCtxRelease_v2(int device);
uint32_t cuDevicePrimaryCtxRelease_v2(int device)
{
	return device < 0;
}

EXPORT uint32_t cuCtxGetDevice(int *ret);
uint32_t cuCtxGetDevice(int *ret)
{
	*ret = 0;
	return 0;
}

EXPORT uint32_t cuCtxSetCurrent(void *context);
uint32_t cuCtxSetCurrent(void *context)
{
	return context == NULL;
}

/* Memory of the device is the program's own. */
EXPORT uint32_t cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t bytes, void *stream);
uint32_t cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t bytes, void *stream)
{
	(void)stream;
	take_time(is_block((uintptr_t)dst) ? TO_HOST : TO_PAGEABLE, bytes);
	if (!is_block(src))
		copy_out(dst, (const void *)(uintptr_t)src, bytes);
	return copy(279, ABI_COPY_DTOH, ABI_MEMORY_DEVICE, ABI_MEMORY_PAGEABLE, bytes);
}

EXPORT uint32_t cuStreamSynchronize(void *stream);
uint32_t cuStreamSynchronize(void *stream)
{
	(void)stream;
	return functions ? nested(126) : 0;
}

/* Stream 1 is. */
EXPORT uint32_t cuStreamIsCapturing(void *stream, int *status);
uint32_t cuStreamIsCapturing(void *stream, int *status)
{
	*status = (uintptr_t)stream == 1;
	return 0;
}

EXPORT uint32_t cuMemcpyDtoD_v2(uint64_t dst, uint64_t src, size_t bytes);
uint32_t cuMemcpyDtoD_v2(uint64_t dst, uint64_t src, size_t bytes)
{
	return copy(280, ABI_COPY_DTOD, ABI_MEMORY_DEVICE, ABI_MEMORY_DEVICE, bytes);
}

EXPORT uint32_t cuMemsetD8_v2(uint64_t dst, uint8_t value, size_t bytes);
uint32_t cuMemsetD8_v2(uint64_t dst, uint8_t value, size_t bytes)
{
	struct mock_op op = {.kind = ABI_KIND_MEMSET,
			     .dst_kind = ABI_MEMORY_DEVICE,
			     .bytes = bytes,
			     .context = 1,
			     .stream = 7};

	return make(249, &op);
}

EXPORT uint32_t cuCtxSynchronize(void);
uint32_t cuCtxSynchronize(void)
{
	struct mock_op op = {
		.kind = ABI_KIND_SYNCHRONIZATION, .sync_type = ABI_SYNC_CONTEXT, .context = 1};
	uint32_t result = make(17, &op);

	if (wait_for_device)
		wait_for_device();
	return result;
}

EXPORT uint32_t cuDriverGetVersion(int *version);
uint32_t cuDriverGetVersion(int *version)
{
	*version = 13000;
	return 0;
}

static int n_devices(void)
{
	const char *n = getenv("MOCK_CUDA_DEVICES");

	return n ? atoi(n) : 2;
}

EXPORT uint32_t cuDeviceGetCount(int *n);
uint32_t cuDeviceGetCount(int *n)
{
	*n = n_devices();
	return is_initialised ? 0 : 3;
}

EXPORT uint32_t cuDeviceGet(int *device, int ordinal);
uint32_t cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal >= 0 && ordinal < n_devices() ? 0 : 101;
}

EXPORT uint32_t cuDeviceGetName(char *name, int size, int device);
uint32_t cuDeviceGetName(char *name, int size, int device)
{
	snprintf(name, (size_t)size, "Mock GPU %d", device);
	return 0;
}

EXPORT uint32_t cuDeviceGetAttribute(int *value, uint32_t attribute, int device);
uint32_t cuDeviceGetAttribute(int *value, uint32_t attribute, int device)
{
	static const int values[128] = {
		[ABI_DEVICE_CLOCK_KHZ] = 1980000,
		[ABI_DEVICE_NUM_SMS] = 132,
		[ABI_DEVICE_MEMORY_CLOCK_KHZ] = 3201000,
		[ABI_DEVICE_BUS_WIDTH_BITS] = 6144,
		[ABI_DEVICE_CC_MAJOR] = 9,
	};

	const char *capability = getenv("MOCK_CUDA_CAPABILITY"); /* 86: 8.6 */

	*value = attribute < 128 ? values[attribute] : 0;
	if (capability && attribute == ABI_DEVICE_CC_MAJOR)
		*value = atoi(capability) / 10;
	if (capability && attribute == ABI_DEVICE_CC_MINOR)
		*value = atoi(capability) % 10;
	if (attribute == ABI_DEVICE_COMPUTE_MODE && getenv("MOCK_CUDA_EXCLUSIVE"))
		*value = 3;
	return 0;
}

EXPORT uint32_t cuDeviceGetUuid_v2(uint8_t uuid[16], int device);
uint32_t cuDeviceGetUuid_v2(uint8_t uuid[16], int device)
{
	for (int i = 0; i < 16; i++)
		uuid[i] = (uint8_t)(16 * device + i);
	return 0;
}

EXPORT uint32_t cuDeviceTotalMem_v2(size_t *bytes, int device);
uint32_t cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	*bytes = (size_t)141 << 30;
	return 0;
}
