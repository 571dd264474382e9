/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_chip.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

const char *const counting_words[N_COUNTINGS] = {[COUNTING_RANGE] = "range", [COUNTING_PM] = "pm"};
const char *const counting_titles[N_COUNTINGS] = {
	[COUNTING_RANGE] = "range profiler", [COUNTING_PM] = "PM sampling"};

bool cupti_host_bind(void *library, struct cupti_host_api *api)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define _(name, parameters) {#name, offsetof(struct cupti_host_api, name)},
		ABI_HOST_FUNCTIONS(_)
#undef _
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *symbol = dlsym(library, functions[i].name);

		if (!symbol)
			return false;
		memcpy((char *)api + functions[i].offset, &symbol, sizeof(symbol));
	}
	return true;
}

/* ---- chips ---- */

int cupti_host_chips(const struct cupti_host_api *api, const char *const **ret_names, size_t *ret_n)
{
	struct abi_host_chips p = {.size = ABI_HOST_SIZE(abi_host_chips, ret_names)};
	uint32_t r = api->cuptiProfilerHostGetSupportedChips(&p);

	if (r)
		return (int)r;
	*ret_names = p.ret_names;
	*ret_n = p.ret_n;
	return 0;
}

/* The second call crashes where the first has failed. */
int cupti_host_device_chip(const struct cupti_host_api *api, size_t device, const char **ret_name)
{
	struct abi_profiler_init init = {.size = ABI_HOST_SIZE(abi_profiler_init, reserved)};
	struct abi_chip_of_device p = {.size = ABI_HOST_SIZE(abi_chip_of_device, ret_name),
				       .device = device};
	uint32_t r = api->cuptiProfilerInitialize(&init);

	if (r == 0)
		r = api->cuptiDeviceGetChipName(&p);
	if (r)
		return (int)r;
	*ret_name = p.ret_name;
	return p.ret_name ? 0 : -ENODEV;
}

int cupti_chip_open_on(const struct cupti_host_api *api, const char *name,
		       enum counting_kind counting, const uint8_t *availability,
		       struct cupti_chip *ret)
{
	struct abi_host_init p = {.size = ABI_HOST_SIZE(abi_host_init, ret_host),
				  .profiler = counting,
				  .chip = name,
				  .availability = availability};
	uint32_t r = api->cuptiProfilerHostInitialize(&p);

	if (r == 0)
		*ret = (struct cupti_chip){api, name, counting, availability, p.ret_host};
	return (int)r;
}

int cupti_chip_open(const struct cupti_host_api *api, const char *name, enum counting_kind counting,
		    struct cupti_chip *ret)
{
	return cupti_chip_open_on(api, name, counting, NULL, ret);
}

void cupti_chip_close(struct cupti_chip *c)
{
	struct abi_host_free p = {.size = ABI_HOST_SIZE(abi_host_free, host), .host = c->object};

	c->api->cuptiProfilerHostDeinitialize(&p);
}

/* ---- metrics ---- */

int cupti_chip_metrics(const struct cupti_chip *c, enum abi_metric_type type,
		       const char ***ret_names, size_t *ret_n)
{
	struct abi_host_metrics p = {
		.size = ABI_HOST_SIZE(abi_host_metrics, ret_n), .host = c->object, .type = type};
	uint32_t r = c->api->cuptiProfilerHostGetBaseMetrics(&p);

	if (r)
		return (int)r;
	*ret_names = p.ret_names;
	*ret_n = p.ret_n;
	return 0;
}

int cupti_chip_submetrics(const struct cupti_chip *c, enum abi_metric_type type, const char *name,
			  const char ***ret_names, size_t *ret_n)
{
	struct abi_host_submetrics p = {.size = ABI_HOST_SIZE(abi_host_submetrics, ret_names),
					.host = c->object,
					.type = type,
					.name = name};
	uint32_t r = c->api->cuptiProfilerHostGetSubMetrics(&p);

	if (r)
		return (int)r;
	*ret_names = p.ret_names;
	*ret_n = p.ret_n;
	return 0;
}

int cupti_chip_metric(const struct cupti_chip *c, const char *name, struct cupti_metric *ret)
{
	struct abi_host_properties p = {.size = ABI_HOST_SIZE(abi_host_properties, ret_type),
					.host = c->object,
					.name = name};
	uint32_t r = c->api->cuptiProfilerHostGetMetricProperties(&p);

	if (r)
		return (int)r;
	*ret = (struct cupti_metric){.type = p.ret_type < ABI_N_METRIC_TYPES
						     ? (enum abi_metric_type)p.ret_type
						     : ABI_METRIC_COUNTER,
				     .description = p.ret_description ? p.ret_description : "",
				     .hardware = p.ret_hardware ? p.ret_hardware : "",
				     .unit = p.ret_unit ? p.ret_unit : ""};
	return 0;
}

const char *cupti_usual_submetric(enum abi_metric_type type)
{
	static const char *const usual[ABI_N_METRIC_TYPES] = {
		[ABI_METRIC_COUNTER] = ".sum",
		[ABI_METRIC_RATIO] = ".pct",
		[ABI_METRIC_THROUGHPUT] = ".avg.pct_of_peak_sustained_elapsed"};

	return usual[type];
}

/* ---- passes ---- */

static int make_image(const struct cupti_chip *c, uint8_t **ret_image, size_t *ret_bytes)
{
	const struct cupti_host_api *api = c->api;
	struct abi_host_image_size size = {.size = ABI_HOST_SIZE(abi_host_image_size, ret_bytes),
					   .host = c->object};
	struct abi_host_image image = {.size = ABI_HOST_SIZE(abi_host_image, image),
				       .host = c->object};
	uint32_t r = api->cuptiProfilerHostGetConfigImageSize(&size);

	if (r)
		return (int)r;
	image.bytes = size.ret_bytes;
	image.image = calloc(1, size.ret_bytes + 1);
	if (!image.image)
		return -ENOMEM;
	r = api->cuptiProfilerHostGetConfigImage(&image);
	if (r) {
		free(image.image);
		return (int)r;
	}
	*ret_image = image.image;
	*ret_bytes = image.bytes;
	return 0;
}

int cupti_chip_image(const struct cupti_chip *c, const char *const *names, size_t n,
		     uint8_t **ret_image, size_t *ret_bytes)
{
	struct abi_host_add p = {.size = ABI_HOST_SIZE(abi_host_add, n),
				 .host = c->object,
				 .names = (const char **)names,
				 .n = n};
	uint32_t r = c->api->cuptiProfilerHostConfigAddMetrics(&p);

	return r ? (int)r : make_image(c, ret_image, ret_bytes);
}

/* A host object keeps what was once added to it: each question has one of its own. */
int cupti_chip_passes(const struct cupti_chip *c, const char *const *names, size_t n,
		      size_t *ret_passes)
{
	struct abi_host_passes passes = {.size = ABI_HOST_SIZE(abi_host_passes, ret_n)};
	struct cupti_chip fresh;
	int r;

	r = cupti_chip_open_on(c->api, c->name, c->counting, c->availability, &fresh);
	if (r)
		return r;
	r = cupti_chip_image(&fresh, names, n, &passes.image, &passes.bytes);
	if (r == 0) {
		r = (int)c->api->cuptiProfilerHostGetNumOfPasses(&passes);
		free(passes.image);
	}
	cupti_chip_close(&fresh);
	if (r == 0)
		*ret_passes = passes.ret_n;
	return r;
}
