/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BENCH_FLOOR_H
#define PROTON_BENCH_FLOOR_H
/* What CUPTI itself costs: the least that any profiler with activity records must pay. An injection
 * library (CUDA_INJECTION64_PATH) that takes the records and counts them, nothing else.
 *
 * FLOOR_CUPTI names the libcupti (else ld.so and /usr/local/cuda); FLOOR_FLUSH_MS flushes that
 * often; FLOOR_GRAPHS records graphs whole; FLOOR_KINDS enables kinds of activity beside the usual ones (numbers, with
 * commas between); FLOOR_API has callbacks at each call; FLOOR_PINNED has times written into memory of the host; FLOOR_VERBOSE prints the counts at exit.
 * Buffers: a pool of zeroed, faulted-in ones. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backends/cupti_abi.h"

enum { FLOOR_BUFFER_BYTES = 1 << 20, FLOOR_N_BUFFERS = 64 };

static struct {
	struct cupti_api api;
	void *subscriber;
	pthread_mutex_t lock;
	uint8_t *free[FLOOR_N_BUFFERS];
	int n_free;
	_Atomic uint64_t n_kernels, n_others, n_callbacks;
} floor_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint8_t *floor_take(void)
{
	uint8_t *buffer = NULL;

	pthread_mutex_lock(&floor_state.lock);
	if (floor_state.n_free > 0)
		buffer = floor_state.free[--floor_state.n_free];
	pthread_mutex_unlock(&floor_state.lock);
	if (!buffer && (buffer = aligned_alloc(4096, FLOOR_BUFFER_BYTES)))
		memset(buffer, 0, FLOOR_BUFFER_BYTES);
	return buffer;
}

static void floor_return(uint8_t *buffer, size_t valid)
{
	memset(buffer, 0, valid);
	pthread_mutex_lock(&floor_state.lock);
	if (floor_state.n_free < FLOOR_N_BUFFERS) {
		floor_state.free[floor_state.n_free++] = buffer;
		buffer = NULL;
	}
	pthread_mutex_unlock(&floor_state.lock);
	free(buffer);
}

static void floor_requested(uint8_t **buffer, size_t *size, size_t *n_records_max)
{
	*buffer = floor_take();
	*size = *buffer ? FLOOR_BUFFER_BYTES : 0;
	*n_records_max = 0;
}

static void floor_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid)
{
	struct abi_record *record = NULL;
	uint64_t n_kernels = 0, n_others = 0;

	while (!floor_state.api.cuptiActivityGetNextRecord(buffer, valid, &record)) {
		if (record->kind == ABI_KIND_CONCURRENT_KERNEL)
			n_kernels++;
		else
			n_others++;
	}
	atomic_fetch_add(&floor_state.n_kernels, n_kernels);
	atomic_fetch_add(&floor_state.n_others, n_others);
	floor_return(buffer, valid);
}

static void floor_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
}

static void *floor_open(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12",
					    "/usr/local/cuda/lib64/libcupti.so.13",
					    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
	const char *name = getenv("FLOOR_CUPTI");
	void *library = name ? dlopen(name, RTLD_LAZY | RTLD_LOCAL) : NULL;

	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	return library;
}

static void floor_finish(void)
{
	floor_state.api.cuptiActivityFlushAll(ABI_FLUSH_FORCED);
	if (getenv("FLOOR_VERBOSE"))
		fprintf(stderr, "floor: kernels=%lu others=%lu\n",
			(unsigned long)floor_state.n_kernels, (unsigned long)floor_state.n_others);
}

static void *floor_flush(void *period)
{
	const struct timespec pause = {0, 1000000L * (long)(intptr_t)period};

	for (;;) {
		nanosleep(&pause, NULL);
		floor_state.api.cuptiActivityFlushAll(0);
	}
	return NULL;
}

static int floor_bind(void *library)
{
#define _(need, name, parameters) *(void **)&floor_state.api.name = dlsym(library, #name);
	ABI_CUPTI_FUNCTIONS(_)
#undef _
	return floor_state.api.cuptiSubscribe && floor_state.api.cuptiActivityEnable ? 0 : -1;
}

static void floor_enable_launches(void)
{
	static const uint32_t calls[] = {
#define _(name, number, class) number,
		ABI_CALLS(_)
#undef _
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		floor_state.api.cuptiEnableCallback(1, floor_state.subscriber, ABI_DOMAIN_DRIVER,
						    calls[i]);
}

static void floor_enable_kinds(const char *numbers)
{
	char *end = NULL;

	for (; numbers && *numbers; numbers = *end ? end + 1 : end) {
		uint32_t kind = (uint32_t)strtoul(numbers, &end, 10);

		if (end == numbers || floor_state.api.cuptiActivityEnable(kind)) {
			fprintf(stderr, "floor: no kind at '%s'\n", numbers);
			return;
		}
	}
}

static int floor_start(int activity, int callbacks)
{
	const char *period = getenv("FLOOR_FLUSH_MS");
	void *library = floor_open();
	size_t one = 1;
	uint8_t on = 1;
	pthread_t thread;

	if (!library || floor_bind(library) ||
	    floor_state.api.cuptiSubscribe(&floor_state.subscriber, floor_callback, NULL)) {
		fprintf(stderr, "floor: no CUPTI to subscribe to\n");
		return 1;
	}
	floor_state.api.cuptiActivitySetAttribute(ABI_ATTRIBUTE_ZEROED_BUFFER, &one, &on);
	if (getenv("FLOOR_PINNED"))
		floor_state.api.cuptiActivitySetAttribute(ABI_ATTRIBUTE_HOST_PINNED, &one, &on);
	floor_state.api.cuptiActivityRegisterCallbacks(floor_requested, floor_completed);
	if (activity && getenv("FLOOR_GRAPHS")) /* whole graphs: from the start, or not at all */
		floor_state.api.cuptiActivityEnable(ABI_KIND_GRAPH_TRACE);
	if (activity) {
		floor_state.api.cuptiActivityEnable(ABI_KIND_CONCURRENT_KERNEL);
		floor_state.api.cuptiActivityEnable(ABI_KIND_MEMCPY);
		floor_state.api.cuptiActivityEnable(ABI_KIND_MEMSET);
		floor_enable_kinds(getenv("FLOOR_KINDS"));
	}
	if (callbacks)
		floor_enable_launches();
	if (callbacks && getenv("FLOOR_API")) {
		floor_state.api.cuptiEnableDomain(1, floor_state.subscriber, ABI_DOMAIN_DRIVER);
		floor_state.api.cuptiEnableDomain(1, floor_state.subscriber, ABI_DOMAIN_RUNTIME);
	}
	if (period && atoi(period) > 0)
		pthread_create(&thread, NULL, floor_flush, (void *)(intptr_t)atoi(period));
	atexit(floor_finish);
	return 1;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

#endif
