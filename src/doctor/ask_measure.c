/* SPDX-License-Identifier: MIT */
/* How fast the links and the memory of devices are, by copies of our own: in a child, for a context may hang or crash. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/peaks.h"
#include "doctor/asks.h"
#include "doctor/questions.h"

enum {
	HOST_BYTES = 64 << 20,
	DEVICE_BYTES = 256 << 20, /* more than caches hold */
	ROUNDS = 6,               /* the fastest counts */
	TIMES = 4,                /* copies of a round */
	N_DEVICES_MAX = 64,
	NAME_BYTES = 256,
};

/* Of the driver, as its header declares them; all return a CUresult. */
#define CALLS(_)                                                                                   \
	_(cuInit, (unsigned flags))                                                                \
	_(cuDeviceGetCount, (int *n))                                                              \
	_(cuDeviceGet, (int *device, int ordinal))                                                 \
	_(cuDeviceGetName, (char *name, int size, int device))                                     \
	_(cuDeviceGetUuid_v2, (uint8_t uuid[16], int device))                                      \
	_(cuDevicePrimaryCtxRetain, (void **context, int device))                                  \
	_(cuDevicePrimaryCtxRelease_v2, (int device))                                              \
	_(cuCtxSetCurrent, (void *context))                                                        \
	_(cuCtxSynchronize, (void))                                                                \
	_(cuMemAlloc_v2, (uint64_t * address, size_t bytes))                                       \
	_(cuMemFree_v2, (uint64_t address))                                                        \
	_(cuMemAllocHost_v2, (void **p, size_t bytes))                                             \
	_(cuMemFreeHost, (void *p))                                                                \
	_(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, void *stream))       \
	_(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, void *stream))             \
	_(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t bytes, void *stream))          \
	_(cuMemsetD32Async, (uint64_t to, unsigned v, size_t n, void *stream))                     \
	_(cuEventCreate, (void **event, unsigned flags))                                           \
	_(cuEventRecord, (void *event, void *stream))                                              \
	_(cuEventElapsedTime, (float *ms, void *from, void *to))

struct meter {
	int fd;
#define _(name, parameters) int(*name) parameters;
	CALLS(_)
#undef _
	uint64_t device[2]; /* memory there; of the second half the first half of bytes */
	void *pinned, *pageable;
	void *begin, *end; /* events */
};

/* The name of the first function that is not there; NULL: all are. */
static const char *bind_calls(struct meter *m, void *library)
{
#define _(call, parameters)                                                                        \
	*(void **)&m->call = dlsym(library, #call);                                                \
	if (!m->call)                                                                              \
		return #call;
	CALLS(_)
#undef _
	return NULL;
}

/* ---- what is measured ---- */

static int move(struct meter *m, enum peak_measured what)
{
	switch (what) {
	case MEASURED_TO_DEVICE:
		return m->cuMemcpyHtoDAsync_v2(m->device[0], m->pinned, HOST_BYTES, NULL);
	case MEASURED_TO_HOST:
		return m->cuMemcpyDtoHAsync_v2(m->pinned, m->device[0], HOST_BYTES, NULL);
	case MEASURED_PAGEABLE_TO_DEVICE:
		return m->cuMemcpyHtoDAsync_v2(m->device[0], m->pageable, HOST_BYTES, NULL);
	case MEASURED_DEVICE_TO_PAGEABLE:
		return m->cuMemcpyDtoHAsync_v2(m->pageable, m->device[0], HOST_BYTES, NULL);
	default:
		return m->cuMemcpyDtoDAsync_v2(m->device[1], m->device[0], DEVICE_BYTES, NULL);
	}
}

/* A copy within a device reads and writes. */
static double bytes_of(enum peak_measured what)
{
	return what == MEASURED_MEMORY ? 2.0 * DEVICE_BYTES : HOST_BYTES;
}

/* Bytes a second; 0: it failed. */
static double round_of(struct meter *m, enum peak_measured what)
{
	float ms = 0;
	int r = m->cuEventRecord(m->begin, NULL);

	for (int i = 0; i < TIMES && r == 0; i++)
		r = move(m, what);
	if (r || m->cuEventRecord(m->end, NULL) || m->cuCtxSynchronize() ||
	    m->cuEventElapsedTime(&ms, m->begin, m->end) || !(ms > 0))
		return 0;
	return TIMES * bytes_of(what) / ms * 1e3;
}

static double measure(struct meter *m, enum peak_measured what)
{
	double best = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double rate = round_of(m, what);

		best = rate > best ? rate : best;
	}
	return best;
}

/* ---- a device ---- */

static bool get_memory(struct meter *m)
{
	if (m->cuMemAlloc_v2(&m->device[0], DEVICE_BYTES) ||
	    m->cuMemAlloc_v2(&m->device[1], DEVICE_BYTES) ||
	    m->cuMemAllocHost_v2(&m->pinned, HOST_BYTES) || m->cuEventCreate(&m->begin, 0) ||
	    m->cuEventCreate(&m->end, 0))
		return false;
	/* Memory that nothing is in reads as if it were in the caches. */
	return m->cuMemsetD32Async(m->device[0], 0x3f800000, DEVICE_BYTES / 4, NULL) == 0 &&
	       m->cuMemsetD32Async(m->device[1], 0, DEVICE_BYTES / 4, NULL) == 0 &&
	       m->cuCtxSynchronize() == 0;
}

static void put_memory_back(struct meter *m)
{
	for (size_t i = 0; i < 2; i++)
		if (m->device[i])
			m->cuMemFree_v2(m->device[i]);
	if (m->pinned)
		m->cuMemFreeHost(m->pinned);
	m->device[0] = m->device[1] = 0;
	m->pinned = NULL;
}

static void tell_rates(struct meter *m, const uint8_t u[16], const char *name)
{
	double rates[N_MEASURED];

	for (unsigned i = 0; i < N_MEASURED; i++)
		rates[i] = measure(m, (enum peak_measured)i);
	probe_tell(m->fd,
		   "measured GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		   "%02x%02x%02x%02x%02x%02x %.0f %.0f %.0f %.0f %.0f %s",
		   u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		   u[13], u[14], u[15], rates[MEASURED_TO_DEVICE], rates[MEASURED_TO_HOST],
		   rates[MEASURED_PAGEABLE_TO_DEVICE], rates[MEASURED_DEVICE_TO_PAGEABLE],
		   rates[MEASURED_MEMORY], name);
}
_Static_assert(N_MEASURED == 5, "one number each");

static void measure_device(struct meter *m, int ordinal)
{
	char name[NAME_BYTES] = "?";
	void *context = NULL;
	uint8_t uuid[16];
	int device, r;

	if (m->cuDeviceGet(&device, ordinal) || m->cuDeviceGetUuid_v2(uuid, device))
		return;
	if (m->cuDeviceGetName(name, sizeof(name), device) == 0)
		name[sizeof(name) - 1] = '\0';
	probe_tell(m->fd, "stage measuring %s", name);
	r = m->cuDevicePrimaryCtxRetain(&context, device);
	if (r || (r = m->cuCtxSetCurrent(context))) {
		probe_tell(m->fd, "unmeasured %s: no context (error %d)", name, r);
		return;
	}
	if (get_memory(m))
		tell_rates(m, uuid, name);
	else
		probe_tell(m->fd, "unmeasured %s: it has no %d MiB of memory to spare", name,
			   2 * DEVICE_BYTES >> 20);
	put_memory_back(m);
	m->cuDevicePrimaryCtxRelease_v2(device);
}

void ask_measure(const void *ctx, int fd)
{
	struct meter m = {.fd = fd};
	const char *missing;
	void *library;
	int n = 0, r;

	(void)ctx;
	unsetenv("CUDA_INJECTION64_PATH");
	probe_tell(fd, "stage loading libcuda.so.1");
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		probe_tell(fd, "error %s", dlerror());
		return;
	}
	missing = bind_calls(&m, library);
	if (missing) {
		probe_tell(fd, "error libcuda.so.1 has no %s", missing);
		return;
	}
	probe_tell(fd, "stage cuInit of libcuda.so.1");
	r = m.cuInit(0);
	if (r || (r = m.cuDeviceGetCount(&n))) {
		probe_tell(fd, "error cuInit fails with %d", r);
		return;
	}
	m.pageable = malloc(HOST_BYTES);
	if (!m.pageable)
		return;
	memset(m.pageable, 1, HOST_BYTES); /* all of it is there */
	for (int i = 0; i < n && i < N_DEVICES_MAX; i++)
		measure_device(&m, i);
}
