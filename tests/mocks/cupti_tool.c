/* SPDX-License-Identifier: MIT */
/* A profiler inside a program, over CUPTI: it is linked to the mock, as PyTorch is to the real one, and is loaded so
 * that nobody else sees its symbols. Its functions are found by dlsym.
 *   tool_start()   subscribes unless it has, to be told of contexts for ever, and switches records of kernels and
 *                  a callback on; CUPTI's result
 *   tool_stop()    switches off what it has on, and takes what was recorded; stays subscribed
 *   tool_leave()   unsubscribes; tool_finalize(): with cuptiFinalize(), too
 *   tool_again()   unsubscribes what it has not any more
 *   tool_records() switches records of kernels on without subscribing; says where they go to the first time alone
 *   tool_count()   records of kernels since the last call */
#include "config.h" // IWYU pragma: keep
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cupti_abi.h"

#define EXPORT __attribute__((visibility("default")))
enum { BUFFER_BYTES = 1 << 16, MARK = 0x70cc, CALLBACK = 307, CONTEXTS = 2 };

#define _(need, name, parameters) uint32_t name parameters;
ABI_CUPTI_FUNCTIONS(_)
#undef _
uint32_t cuptiFinalize(void);

static void *subscriber, *earlier;
static atomic_ulong n_records, n_calls;

static void die(const char *what)
{
	fprintf(stderr, "cupti_tool: %s\n", what);
	abort();
}

/* Not zeroed: CUPTI does that, unless somebody told it otherwise. */
static void requested(uint8_t **buffer, size_t *size, size_t *n_records_max)
{
	uint64_t *all = malloc(BUFFER_BYTES + sizeof(uint64_t));

	if (!all)
		die("no memory");
	memset(all, 0xaa, BUFFER_BYTES + sizeof(uint64_t));
	all[0] = MARK;
	*buffer = (uint8_t *)(all + 1);
	*size = BUFFER_BYTES;
	*n_records_max = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint64_t *all = (uint64_t *)(void *)buffer - 1;
	struct abi_record *record = NULL;

	if (all[0] != MARK)
		die("a buffer of somebody else's");
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == ABI_OK)
		if (record->kind == ABI_KIND_CONCURRENT_KERNEL)
			atomic_fetch_add(&n_records, 1);
	free(all);
}

static void called(void *user, uint32_t domain, uint32_t id, const void *data)
{
	atomic_fetch_add(&n_calls, 1);
}

EXPORT uint32_t tool_start(void);
uint32_t tool_start(void)
{
	uint32_t result = ABI_OK;

	if (!subscriber) {
		result = cuptiSubscribe(&subscriber, called, NULL);
		if (result == ABI_OK)
			result = cuptiEnableCallback(1, subscriber, ABI_DOMAIN_RESOURCE, CONTEXTS);
	}
	if (result != ABI_OK)
		return result;
	result = cuptiActivityRegisterCallbacks(requested, completed);
	if (result == ABI_OK)
		result = cuptiActivityEnable(ABI_KIND_CONCURRENT_KERNEL);
	if (result == ABI_OK)
		result = cuptiEnableCallback(1, subscriber, ABI_DOMAIN_DRIVER, CALLBACK);
	return result;
}

EXPORT void tool_stop(void);
void tool_stop(void)
{
	uint8_t off = 0;
	size_t size = sizeof(off);

	cuptiActivityDisable(ABI_KIND_CONCURRENT_KERNEL);
	if (subscriber)
		cuptiEnableCallback(0, subscriber, ABI_DOMAIN_DRIVER, CALLBACK);
	cuptiActivityFlushAll(ABI_FLUSH_FORCED);
	cuptiActivitySetAttribute(ABI_ATTRIBUTE_PER_THREAD_BUFFER, &size, &off);
}

EXPORT uint32_t tool_leave(void);
uint32_t tool_leave(void)
{
	void *its = subscriber;

	earlier = its;
	subscriber = NULL;
	return cuptiUnsubscribe(its);
}

EXPORT uint32_t tool_again(void);
uint32_t tool_again(void)
{
	return cuptiUnsubscribe(earlier);
}

EXPORT uint32_t tool_records(void);
uint32_t tool_records(void)
{
	static bool has_registered;

	if (!has_registered)
		cuptiActivityRegisterCallbacks(requested, completed);
	has_registered = true;
	return cuptiActivityEnable(ABI_KIND_CONCURRENT_KERNEL);
}

EXPORT uint32_t tool_finalize(void);
uint32_t tool_finalize(void)
{
	uint32_t result = tool_leave();

	return cuptiFinalize() + result;
}

EXPORT unsigned long tool_count(unsigned long *ret_calls);
unsigned long tool_count(unsigned long *ret_calls)
{
	*ret_calls = atomic_exchange(&n_calls, 0);
	return atomic_exchange(&n_records, 0);
}
