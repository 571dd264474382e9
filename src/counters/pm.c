/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/pm.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cupti_abi.h"
#include "backends/cupti_refusals.h"
#include "base/util.h"
#include "counters/ask.h"

enum {
	BUFFER_BYTES = 64 << 20, /* of the hardware's, into which it writes */
	DECODES_MAX = 8          /* a read: the hardware may be faster than we are */
};

bool pm_bind(const struct cupti_host *host, struct cupti_pm_api *ret)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define _(name, parameters) {#name, offsetof(struct cupti_pm_api, name)},
		ABI_PM_FUNCTIONS(_)
#undef _
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *symbol = dlsym(host->library, functions[i].name);

		if (!symbol)
			return false;
		memcpy((char *)ret + functions[i].offset, &symbol, sizeof(symbol));
	}
	return true;
}

/* Remembers what failed. */
static int failed(struct pm *pm, const char *at, int r)
{
	if (r)
		pm->at = at;
	return r;
}

#define CALL(pm, name, p) failed(pm, #name, (int)(pm)->api->name(p))

/* ---- what is counted ---- */

static int ask_availability(struct pm *pm)
{
	struct abi_pm_availability p = {.size = ABI_HOST_SIZE(abi_pm_availability, image),
					.device = pm->device};
	int r = CALL(pm, cuptiPmSamplingGetCounterAvailability, &p);

	if (r)
		return r;
	p.image = pm->availability = calloc(1, p.bytes + 1);
	return p.image ? CALL(pm, cuptiPmSamplingGetCounterAvailability, &p) : -ENOMEM;
}

static int choose(struct pm *pm, const struct metric_set *set)
{
	int r = counters_host_plan(&pm->chip, set, &pm->plan);

	if (r)
		return failed(pm, "passes of the metrics", r);
	if (!pm->plan.n_counted)
		return ABI_UNSUPPORTED;
	pm->names = calloc(pm->plan.n_counted, sizeof(*pm->names));
	pm->values = calloc(pm->plan.n_counted, sizeof(*pm->values));
	if (!pm->names || !pm->values)
		return -ENOMEM;
	for (size_t i = 0; i < pm->plan.n; i++)
		if (pm->plan.rows[i].state == PLAN_COUNTED)
			pm->names[pm->n++] = pm->plan.rows[i].name;
	return failed(pm, "cuptiProfilerHostGetConfigImage",
		      cupti_chip_image(&pm->chip, pm->names, pm->n, &pm->image, &pm->image_bytes));
}

/* ---- sampling ---- */

/* Where it cannot be triggered by time it is by cycles, of which a nanosecond has between one and two. */
static int configure(struct pm *pm)
{
	struct abi_pm_config p = {.size = ABI_HOST_SIZE(abi_pm_config, append),
				  .sampling = pm->sampling,
				  .image_bytes = pm->image_bytes,
				  .image = pm->image,
				  .buffer_bytes = BUFFER_BYTES,
				  .interval = pm->interval_ns,
				  .trigger = ABI_PM_TIME,
				  .append = ABI_PM_KEEP_OLDEST};

	if (pm->api->cuptiPmSamplingSetConfig(&p) == 0)
		return 0;
	p.trigger = ABI_PM_CYCLES;
	p.interval = pm->interval_ns * 3 / 2;
	return CALL(pm, cuptiPmSamplingSetConfig, &p);
}

static int clear_data(struct pm *pm)
{
	struct abi_pm_data_init p = {.size = ABI_HOST_SIZE(abi_pm_data_init, data),
				     .sampling = pm->sampling,
				     .bytes = pm->data_bytes,
				     .data = pm->data};

	return CALL(pm, cuptiPmSamplingCounterDataImageInitialize, &p);
}

static int make_data(struct pm *pm)
{
	struct abi_pm_data_size p = {.size = ABI_HOST_SIZE(abi_pm_data_size, ret_bytes),
				     .sampling = pm->sampling,
				     .names = pm->names,
				     .n = pm->n,
				     .max_samples = PM_ROOM};
	int r = CALL(pm, cuptiPmSamplingGetCounterDataSize, &p);

	if (r)
		return r;
	pm->data_bytes = p.ret_bytes;
	pm->data = calloc(1, p.ret_bytes + 1);
	return pm->data ? clear_data(pm) : -ENOMEM;
}

static struct abi_pm_object object(const struct pm *pm)
{
	return (struct abi_pm_object){.size = ABI_HOST_SIZE(abi_pm_object, sampling),
				      .sampling = pm->sampling};
}

static int begin(struct pm *pm)
{
	struct abi_pm_object p = object(pm);

	pm->is_first = true;
	return CALL(pm, cuptiPmSamplingStart, &p);
}

static int enable(struct pm *pm)
{
	struct abi_pm_enable p = {.size = ABI_HOST_SIZE(abi_pm_enable, ret_sampling),
				  .device = pm->device};
	int r = CALL(pm, cuptiPmSamplingEnable, &p);

	if (r == 0)
		pm->sampling = p.ret_sampling;
	r = r ? r : configure(pm);
	r = r ? r : make_data(pm);
	return r ? r : begin(pm);
}

int pm_open(struct pm *pm, const struct cupti_host *host, const struct cupti_pm_api *api,
	    size_t device, uint64_t interval_ns, const struct metric_set *set)
{
	const char *chip;
	int r;

	*pm = (struct pm){.host = host, .api = api, .device = device, .interval_ns = interval_ns};
	r = failed(pm, "cuptiDeviceGetChipName", cupti_host_device_chip(&host->api, device, &chip));
	r = r ? r : ask_availability(pm);
	r = r ? r
	      : failed(pm, "cuptiProfilerHostInitialize",
		       cupti_chip_open_on(&host->api, chip, COUNTING_PM, pm->availability,
					  &pm->chip));
	r = r ? r : choose(pm, set);
	return r ? r : enable(pm);
}

void pm_close(struct pm *pm)
{
	struct abi_pm_object p = object(pm);

	if (pm->sampling) {
		(void)pm->api->cuptiPmSamplingStop(&p);
		(void)pm->api->cuptiPmSamplingDisable(&p);
	}
	if (pm->chip.object)
		cupti_chip_close(&pm->chip);
	plan_done(&pm->plan);
	free(pm->names);
	free(pm->values);
	free(pm->availability);
	free(pm->image);
	free(pm->data);
	*pm = (struct pm){.n = 0};
}

/* ---- samples ---- */

static int put_sample(struct pm *pm, size_t i, pm_sample_fn *fn, void *ctx)
{
	struct abi_pm_sample p = {.size = ABI_HOST_SIZE(abi_pm_sample, ret_end_ns),
				  .sampling = pm->sampling,
				  .data = pm->data,
				  .bytes = pm->data_bytes,
				  .i = i};
	struct abi_host_evaluate e = {.size = ABI_HOST_SIZE(abi_host_evaluate, values),
				      .host = pm->chip.object,
				      .data = pm->data,
				      .bytes = pm->data_bytes,
				      .i = i,
				      .names = pm->names,
				      .n = pm->n,
				      .values = pm->values};
	int r;

	if (pm->is_first) {
		pm->is_first = false;
		return 0;
	}
	r = CALL(pm, cuptiPmSamplingCounterDataGetSampleInfo, &p);
	r = r ? r : CALL(pm, cuptiProfilerHostEvaluateToGpuValues, &e);
	if (r == 0 && p.ret_end_ns > p.ret_start_ns)
		fn(ctx, pm, p.ret_start_ns, p.ret_end_ns, pm->values);
	return r;
}

/* What was decoded, and then the image is as new. */
static int take_data(struct pm *pm, pm_sample_fn *fn, void *ctx, size_t *ret_n)
{
	struct abi_pm_data_info p = {.size = ABI_HOST_SIZE(abi_pm_data_info, ret_completed),
				     .data = pm->data,
				     .bytes = pm->data_bytes};
	int r = CALL(pm, cuptiPmSamplingGetCounterDataInfo, &p);

	for (size_t i = 0; r == 0 && i < p.ret_completed; i++)
		r = put_sample(pm, i, fn, ctx);
	*ret_n = p.ret_completed;
	return r ? r : clear_data(pm);
}

/* What is still in the hardware's buffer goes with it. */
static int begin_anew(struct pm *pm)
{
	struct abi_pm_object p = object(pm);
	int r = CALL(pm, cuptiPmSamplingStop, &p);

	r = r ? r : begin(pm);
	return r ? r : ABI_PM_OVERFLOW;
}

int pm_read(struct pm *pm, pm_sample_fn *fn, void *ctx)
{
	for (unsigned k = 0; k < DECODES_MAX; k++) {
		struct abi_pm_decode p = {.size = ABI_HOST_SIZE(abi_pm_decode, ret_overflow),
					  .sampling = pm->sampling,
					  .data = pm->data,
					  .bytes = pm->data_bytes};
		int r = CALL(pm, cuptiPmSamplingDecodeData, &p), taken;
		size_t n;

		if (r && r != ABI_PM_OVERFLOW)
			return r;
		taken = take_data(pm, fn, ctx, &n);
		if (taken)
			return taken;
		if (r || p.ret_overflow)
			return begin_anew(pm);
		if (p.ret_stop != ABI_PM_STOP_FULL || !n)
			return 0;
	}
	return 0;
}

/* ---- trouble ---- */

const char *pm_trouble(const struct pm *pm, int r, struct buf *scratch)
{
	const char *why = cupti_refusal(CUPTI_SAMPLES_COUNTERS, (uint32_t)r);
	const bool chip_has_none = r == ABI_UNSUPPORTED && !pm->at;

	if (why && !chip_has_none)
		return why;
	if (chip_has_none)
		buf_printf(scratch, "the chip %s has none that proton asks for", pm->chip.name);
	else if (r < 0)
		buf_puts(scratch, strerror(-r));
	else
		buf_printf(scratch, "%s fails with %d", pm->at ? pm->at : "CUPTI", r);
	return buf_str(scratch);
}
