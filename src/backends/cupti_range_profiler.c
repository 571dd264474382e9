/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_range_profiler.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

bool range_profiler_bind(void *library, struct range_profiler_api *ret)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define _(name, parameters) {#name, offsetof(struct cupti_range_api, name)},
		ABI_RANGE_FUNCTIONS(_)
#undef _
	};

	if (!cupti_host_bind(library, &ret->host))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *symbol = dlsym(library, functions[i].name);

		if (!symbol)
			return false;
		memcpy((char *)&ret->range + functions[i].offset, &symbol, sizeof(symbol));
	}
	return true;
}

/* Remembers what failed. */
static int failed(struct range_profiler *p, const char *at, int r)
{
	if (r)
		p->at = at;
	return r;
}

#define CALL(p, name, parameters) failed(p, #name, (int)(p)->api->range.name(parameters))

static struct abi_range_object object(const struct range_profiler *p)
{
	return (struct abi_range_object){.size = ABI_HOST_SIZE(abi_range_object, profiler),
					 .profiler = p->object};
}

/* ---- what is counted ---- */

static int ask_availability(struct range_profiler *p, void *context)
{
	struct abi_range_availability a = {.size = ABI_HOST_SIZE(abi_range_availability, image),
					   .context = context};
	int r = CALL(p, cuptiProfilerGetCounterAvailability, &a);

	if (r)
		return r;
	a.image = p->availability = calloc(1, a.bytes + 1);
	return a.image ? CALL(p, cuptiProfilerGetCounterAvailability, &a) : -ENOMEM;
}

static int open_chip(struct range_profiler *p, void *context)
{
	const char *chip;
	uint32_t device;
	int r = failed(p, "cuptiGetDeviceId",
		       (int)p->api->range.cuptiGetDeviceId(context, &device));

	r = r ? r
	      : failed(p, "cuptiDeviceGetChipName",
		       cupti_host_device_chip(&p->api->host, device, &chip));
	r = r ? r : ask_availability(p, context);
	return r ? r
		 : failed(p, "cuptiProfilerHostInitialize",
			  cupti_chip_open_on(&p->api->host, chip, COUNTING_RANGE, p->availability,
					     &p->chip));
}

static int choose(struct range_profiler *p)
{
	int r = failed(p, "passes of the metrics",
		       cupti_chip_passes(&p->chip, p->names, p->n, &p->n_passes));

	p->values = calloc(p->n, sizeof(*p->values));
	if (r == 0 && !p->values)
		return -ENOMEM;
	return r ? r
		 : failed(p, "cuptiProfilerHostGetConfigImage",
			  cupti_chip_image(&p->chip, p->names, p->n, &p->image, &p->image_bytes));
}

/* ---- its image ---- */

static int clear_data(struct range_profiler *p)
{
	struct abi_range_data_init i = {.size = ABI_HOST_SIZE(abi_range_data_init, data),
					.profiler = p->object,
					.bytes = p->data_bytes,
					.data = p->data};

	return CALL(p, cuptiRangeProfilerCounterDataImageInitialize, &i);
}

static int make_data(struct range_profiler *p)
{
	struct abi_range_data_size s = {.size = ABI_HOST_SIZE(abi_range_data_size, ret_bytes),
					.profiler = p->object,
					.names = (const char **)p->names,
					.n = p->n,
					.ranges_max = RANGES_MAX,
					.nodes_max = RANGES_MAX};
	int r = CALL(p, cuptiRangeProfilerGetCounterDataSize, &s);

	if (r)
		return r;
	p->data_bytes = s.ret_bytes;
	p->data = calloc(1, s.ret_bytes + 1);
	return p->data ? 0 : -ENOMEM;
}

static int enable(struct range_profiler *p, void *context)
{
	struct abi_range_enable e = {.size = ABI_HOST_SIZE(abi_range_enable, ret_profiler),
				     .context = context};
	int r = CALL(p, cuptiRangeProfilerEnable, &e);

	if (r == 0)
		p->object = e.ret_profiler;
	return r ? r : make_data(p);
}

int range_profiler_open(struct range_profiler *p, const struct range_profiler_api *api,
			void *context, const char *const *names, size_t n, bool by_kernel)
{
	int r;

	*p = (struct range_profiler){.api = api, .names = names, .n = n, .by_kernel = by_kernel};
	r = open_chip(p, context);
	r = r ? r : choose(p);
	return r ? r : enable(p, context);
}

void range_profiler_close(struct range_profiler *p)
{
	struct abi_range_object o = object(p);

	if (p->object)
		(void)p->api->range.cuptiRangeProfilerDisable(&o);
	if (p->chip.object)
		cupti_chip_close(&p->chip);
	free(p->availability);
	free(p->image);
	free(p->data);
	free(p->values);
	*p = (struct range_profiler){.at = p->at};
}

/* ---- ranges ---- */

static int configure(struct range_profiler *p)
{
	struct abi_range_config c = {.size = ABI_HOST_SIZE(abi_range_config, level),
				     .profiler = p->object,
				     .image_bytes = p->image_bytes,
				     .image = p->image,
				     .data_bytes = p->data_bytes,
				     .data = p->data,
				     .range = p->by_kernel ? ABI_RANGE_AUTO : ABI_RANGE_USER,
				     .replay = p->by_kernel ? ABI_REPLAY_KERNEL : ABI_REPLAY_USER,
				     .ranges_max = RANGES_MAX,
				     .n_levels = 1,
				     .least_level = 1,
				     .level = 1};

	return CALL(p, cuptiRangeProfilerSetConfig, &c);
}

int range_profiler_begin(struct range_profiler *p)
{
	struct abi_range_object o = object(p);
	int r = clear_data(p);

	r = r ? r : configure(p);
	r = r ? r : CALL(p, cuptiRangeProfilerStart, &o);
	p->is_running = r == 0;
	return r;
}

int range_profiler_push(struct range_profiler *p, const char *name)
{
	struct abi_range_push push = {
		.size = ABI_HOST_SIZE(abi_range_push, name), .profiler = p->object, .name = name};

	return CALL(p, cuptiRangeProfilerPushRange, &push);
}

int range_profiler_pop(struct range_profiler *p)
{
	struct abi_range_object o = object(p);

	return CALL(p, cuptiRangeProfilerPopRange, &o);
}

static int tell(struct range_profiler *p, size_t i, size_t n, range_told_fn *fn, void *ctx)
{
	struct abi_range_info info = {.size = ABI_HOST_SIZE(abi_range_info, ret_name),
				      .data = p->data,
				      .bytes = p->data_bytes,
				      .i = i,
				      .between = "/"};
	struct abi_host_evaluate e = {.size = ABI_HOST_SIZE(abi_host_evaluate, values),
				      .host = p->chip.object,
				      .data = p->data,
				      .bytes = p->data_bytes,
				      .i = i,
				      .names = (const char **)p->names,
				      .n = p->n,
				      .values = p->values};
	int r = CALL(p, cuptiRangeProfilerCounterDataGetRangeInfo, &info);

	r = r ? r : CALL(p, cuptiProfilerHostEvaluateToGpuValues, &e);
	if (r == 0)
		fn(ctx, i, n, info.ret_name ? info.ret_name : "", p->values);
	return r;
}

static int tell_all(struct range_profiler *p, range_told_fn *fn, void *ctx, size_t *ret_n)
{
	struct abi_range_data_info info = {.size = ABI_HOST_SIZE(abi_range_data_info, ret_n),
					   .data = p->data,
					   .bytes = p->data_bytes};
	int r = CALL(p, cuptiRangeProfilerGetCounterDataInfo, &info);

	*ret_n = r ? 0 : info.ret_n;
	for (size_t i = 0; r == 0 && i < info.ret_n; i++)
		r = tell(p, i, info.ret_n, fn, ctx);
	return r;
}

int range_profiler_drain(struct range_profiler *p, range_told_fn *fn, void *ctx, size_t *ret_n,
			 size_t *ret_dropped)
{
	struct abi_range_stop stop = {.size = ABI_HOST_SIZE(abi_range_stop, ret_all_passes),
				      .profiler = p->object};
	struct abi_range_decode decode = {.size = ABI_HOST_SIZE(abi_range_decode, ret_dropped),
					  .profiler = p->object};
	int r = CALL(p, cuptiRangeProfilerStop, &stop);

	p->is_running = false;
	r = r ? r : CALL(p, cuptiRangeProfilerDecodeData, &decode);
	*ret_dropped = r ? 0 : decode.ret_dropped;
	*ret_n = 0;
	return r ? r : tell_all(p, fn, ctx, ret_n);
}
