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

#include "backends/cupti_abi.h"
#include "mock_cupti.h"

#define EXPORT __attribute__((visibility("default")))

static mock_call_fn *call;
static mock_resource_fn *resource;
static _Atomic bool is_initialised;

static void find_mock_cupti(void)
{
	const char *path = getenv("PROTON_CUPTI_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;

	if (!library)
		return;
	*(void **)&call = dlsym(library, "mock_call");
	*(void **)&resource = dlsym(library, "mock_resource");
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

EXPORT uint32_t cuLaunchKernel(const char *function, uint32_t gx, uint32_t gy, uint32_t gz,
			       uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared, void *stream,
			       void **parameters, void **extra);
uint32_t cuLaunchKernel(const char *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
			uint32_t by, uint32_t bz, uint32_t shared, void *stream, void **parameters,
			void **extra)
{
	struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
			     .name = function,
			     .context = 1,
			     .stream = (uint32_t)(uintptr_t)stream + 7};

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

/* Memory of the device is the program's own. */
EXPORT uint32_t cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t bytes, void *stream);
uint32_t cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t bytes, void *stream)
{
	(void)stream;
	memcpy(dst, (const void *)(uintptr_t)src, bytes);
	return copy(279, ABI_COPY_DTOH, ABI_MEMORY_DEVICE, ABI_MEMORY_PAGEABLE, bytes);
}

EXPORT uint32_t cuStreamSynchronize(void *stream);
uint32_t cuStreamSynchronize(void *stream)
{
	(void)stream;
	return 0;
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

	return make(17, &op);
}

EXPORT uint32_t cuDriverGetVersion(int *version);
uint32_t cuDriverGetVersion(int *version)
{
	*version = 13000;
	return 0;
}

EXPORT uint32_t cuDeviceGetCount(int *n);
uint32_t cuDeviceGetCount(int *n)
{
	*n = 2;
	return is_initialised ? 0 : 3;
}

EXPORT uint32_t cuDeviceGet(int *device, int ordinal);
uint32_t cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal >= 0 && ordinal < 2 ? 0 : 101;
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

	*value = attribute < 128 ? values[attribute] : 0;
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
