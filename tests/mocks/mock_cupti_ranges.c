/* SPDX-License-Identifier: MIT */
/* The range profiler of the mock CUPTI. The mock's driver tells it of each launch (mock_range_launched): a kernel counts
 * for the ranges that are open, or is one, with planted values: metric number m of kernel "mul" is 200 + m, of any other
 * 100 + m, both times the launches in the range; what has __sass_ in its name is 0 in ranges that are pushed. A pass
 * counts one level of ranges, as a real one does: none is pushed within another.
 *
 * Environment: MOCK_CUPTI_RANGES, words with blanks between them:
 *   N          what Enable fails with: 35, 40, 26, 43 …
 *   broken     decoding fails
 *   short      CUPTI's own ranges are one less than there were kernels
 *   timed      records of kernels that CUPTI replays have times, which real ones have not
 *   drop       the first range of each image is dropped
 *   at=N       the N-th call, from 1 on, fails
 *   cancel     a thread that pushes a range may be cancelled there, as one that waits in a driver
 *   waits      a kernel of the profiler's own is launched before each range that is pushed, and before it ends, in a call
 *              of which callbacks are told
 *   unseen     … are not told
 *   within     … after each range alone, not told, and with the number of the program's call, as real ones have */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cupti_abi.h"
#include "backends/cupti_range_abi.h"
#include "mock_cupti.h"

#define EXPORT __attribute__((visibility("default")))

enum { MOST = 1024, DEPTH_MAX = 1 };

struct range {
	char name[64];
	unsigned n_kernels, base; /* of planted values, added up */
};

static struct profiler {
	bool is_enabled, is_configured, is_running, by_kernel;
	size_t n_passes;
	size_t n, depth;
	size_t open[DEPTH_MAX];
	struct range ranges[MOST];
	struct data *data;
} profilers[2];

/* The counter data image. */
struct data {
	bool by_kernel;
	size_t n;
	struct range ranges[MOST];
};

static bool is_said(const char *word)
{
	const char *all = getenv("MOCK_CUPTI_RANGES");

	return all && strstr(all, word);
}

/* Is it this call's turn to fail? */
static bool is_failing(void)
{
	static atomic_uint n_calls;
	const char *all = getenv("MOCK_CUPTI_RANGES"), *at = all ? strstr(all, "at=") : NULL;

	return at && atomic_fetch_add(&n_calls, 1) + 1 == strtoul(at + 3, NULL, 10);
}

#define CHECK(p, type, last)                                                                       \
	do {                                                                                       \
		if ((p)->size != ABI_HOST_SIZE(type, last) || (p)->reserved)                       \
			return ABI_BAD_ARGUMENT;                                                   \
		if (is_failing())                                                                  \
			return ABI_UNKNOWN;                                                        \
	} while (0)

EXPORT uint32_t cuptiGetDeviceId(void *context, uint32_t *ret_id);
uint32_t cuptiGetDeviceId(void *context, uint32_t *ret_id)
{
	(void)context;
	*ret_id = 0;
	return 0;
}

EXPORT uint32_t cuptiProfilerGetCounterAvailability(struct abi_range_availability *p);
uint32_t cuptiProfilerGetCounterAvailability(struct abi_range_availability *p)
{
	CHECK(p, abi_range_availability, image);
	p->bytes = 3;
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerEnable(struct abi_range_enable *p);
uint32_t cuptiRangeProfilerEnable(struct abi_range_enable *p)
{
	const char *how = getenv("MOCK_CUPTI_RANGES");
	struct profiler *r = &profilers[0];

	CHECK(p, abi_range_enable, ret_profiler);
	if (how && atoi(how))
		return (uint32_t)atoi(how);
	if (is_said("crash-open")) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	if (r->is_enabled)
		return ABI_BAD_OPERATION;
	*r = (struct profiler){.is_enabled = true};
	p->ret_profiler = r;
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerDisable(struct abi_range_object *p);
uint32_t cuptiRangeProfilerDisable(struct abi_range_object *p)
{
	CHECK(p, abi_range_object, profiler);
	((struct profiler *)p->profiler)->is_enabled = false;
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerGetCounterDataSize(struct abi_range_data_size *p);
uint32_t cuptiRangeProfilerGetCounterDataSize(struct abi_range_data_size *p)
{
	CHECK(p, abi_range_data_size, ret_bytes);
	if (!p->n || p->ranges_max != MOST || p->nodes_max < MOST)
		return ABI_BAD_ARGUMENT;
	p->ret_bytes = sizeof(struct data);
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerCounterDataImageInitialize(struct abi_range_data_init *p);
uint32_t cuptiRangeProfilerCounterDataImageInitialize(struct abi_range_data_init *p)
{
	CHECK(p, abi_range_data_init, data);
	if (p->bytes != sizeof(struct data))
		return ABI_BAD_ARGUMENT;
	((struct data *)(void *)p->data)->n = 0;
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerSetConfig(struct abi_range_config *p);
uint32_t cuptiRangeProfilerSetConfig(struct abi_range_config *p)
{
	struct profiler *r = p->profiler;

	CHECK(p, abi_range_config, level);
	if (!r->is_enabled || r->is_running || p->image_bytes != sizeof(r->n_passes) ||
	    p->n_levels != 1 || p->least_level != 1 || p->ranges_max != MOST)
		return ABI_BAD_ARGUMENT;
	if ((p->range == ABI_RANGE_AUTO) != (p->replay == ABI_REPLAY_KERNEL))
		return ABI_BAD_ARGUMENT;
	memcpy(&r->n_passes, p->image, sizeof(r->n_passes));
	r->by_kernel = p->range == ABI_RANGE_AUTO;
	r->data = (struct data *)(void *)p->data;
	r->is_configured = true;
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerStart(struct abi_range_object *p);
uint32_t cuptiRangeProfilerStart(struct abi_range_object *p)
{
	struct profiler *r = p->profiler;

	CHECK(p, abi_range_object, profiler);
	if (!r->is_configured || r->is_running)
		return ABI_BAD_OPERATION;
	r->is_running = true;
	r->n = r->depth = 0;
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerStop(struct abi_range_stop *p);
uint32_t cuptiRangeProfilerStop(struct abi_range_stop *p)
{
	struct profiler *r = p->profiler;

	CHECK(p, abi_range_stop, ret_all_passes);
	if (!r->is_running || r->depth)
		return ABI_BAD_OPERATION;
	r->is_running = false;
	p->ret_all_passes = r->by_kernel || r->n_passes == 1;
	return 0;
}

extern mock_call_fn mock_call;

static void wait_ns(void)
{
	struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
			     .name = "WaitNs",
			     .context = 1,
			     .stream = 7,
			     .lasts_ns = 40000,
			     .unseen = !is_said("waits"),
			     .as_newest = is_said("within")};

	if (is_said("waits") || is_said("unseen") || is_said("within"))
		mock_call(307, &op);
}

EXPORT uint32_t cuptiRangeProfilerPushRange(struct abi_range_push *p);
uint32_t cuptiRangeProfilerPushRange(struct abi_range_push *p)
{
	struct profiler *r = p->profiler;

	CHECK(p, abi_range_push, name);
	if (is_said("cancel"))
		pthread_testcancel();
	if (!r->is_running || r->by_kernel || r->depth == DEPTH_MAX || r->n == MOST)
		return ABI_BAD_OPERATION;
	if (!is_said("within"))
		wait_ns();
	r->open[r->depth++] = r->n;
	r->ranges[r->n] = (struct range){.n_kernels = 0};
	snprintf(r->ranges[r->n++].name, sizeof(r->ranges[0].name), "%s", p->name);
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerPopRange(struct abi_range_object *p);
uint32_t cuptiRangeProfilerPopRange(struct abi_range_object *p)
{
	struct profiler *r = p->profiler;

	CHECK(p, abi_range_object, profiler);
	if (!r->is_running || !r->depth)
		return ABI_BAD_OPERATION;
	r->depth--;
	wait_ns();
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerDecodeData(struct abi_range_decode *p);
uint32_t cuptiRangeProfilerDecodeData(struct abi_range_decode *p)
{
	struct profiler *r = p->profiler;
	size_t from;

	CHECK(p, abi_range_decode, ret_dropped);
	if (r->is_running)
		return ABI_BAD_OPERATION;
	if (is_said("broken"))
		return ABI_UNKNOWN;
	from = r->n && (is_said("drop") || (r->by_kernel && is_said("short")));
	p->ret_dropped = from && is_said("drop");
	r->data->n = r->n - from;
	r->data->by_kernel = r->by_kernel;
	/* Not in the order in which they were pushed. */
	for (size_t i = 0; i < r->data->n; i++)
		r->data->ranges[r->by_kernel ? i : r->data->n - 1 - i] = r->ranges[from + i];
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerGetCounterDataInfo(struct abi_range_data_info *p);
uint32_t cuptiRangeProfilerGetCounterDataInfo(struct abi_range_data_info *p)
{
	CHECK(p, abi_range_data_info, ret_n);
	p->ret_n = ((const struct data *)(const void *)p->data)->n;
	return 0;
}

EXPORT uint32_t cuptiRangeProfilerCounterDataGetRangeInfo(struct abi_range_info *p);
uint32_t cuptiRangeProfilerCounterDataGetRangeInfo(struct abi_range_info *p)
{
	const struct data *d = (const struct data *)(const void *)p->data;

	CHECK(p, abi_range_info, ret_name);
	if (p->i >= d->n || !p->between)
		return ABI_BAD_ARGUMENT;
	p->ret_name = d->ranges[p->i].name;
	return 0;
}

bool mock_ranges_evaluate(const struct abi_host_evaluate *p)
{
	const struct data *d = (const struct data *)(const void *)p->data;

	if (p->bytes != sizeof(*d))
		return false;
	for (size_t m = 0; m < p->n; m++)
		p->values[m] =
			!d->by_kernel && strstr(p->names[m], "__sass_")
				? 0
				: d->ranges[p->i].base + (double)(m * d->ranges[p->i].n_kernels);
	return true;
}

bool mock_ranges_launched(const char *name, bool in_graph)
{
	struct profiler *r = &profilers[0];
	unsigned base = name && !strcmp(name, "mul") ? 200 : 100;

	if (!r->is_running || (in_graph && r->by_kernel))
		return false;
	if (r->by_kernel && r->n < MOST) {
		r->open[0] = r->n;
		r->ranges[r->n] = (struct range){.n_kernels = 0};
		snprintf(r->ranges[r->n].name, sizeof(r->ranges[0].name), "%zu", r->n);
		r->n++;
	}
	for (size_t i = 0; i < (r->by_kernel ? 1 : r->depth); i++) {
		r->ranges[r->open[i]].n_kernels++;
		r->ranges[r->open[i]].base += base;
	}
	return r->by_kernel && !is_said("timed");
}
