/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/cupti_host.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/util.h"
#include "core/cupti_places.h"

const char *const counting_words[N_COUNTINGS] = {[COUNTING_RANGE] = "range", [COUNTING_PM] = "pm"};
const char *const counting_titles[N_COUNTINGS] = {
	[COUNTING_RANGE] = "range profiler", [COUNTING_PM] = "PM sampling"};

/* ---- the library ---- */

struct search {
	struct cupti_host *h;
	cupti_seen_fn *seen;
	void *ctx;
	struct cupti_tried tried;
};

static bool bind_functions(void *library, struct cupti_host_api *api)
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

static bool try_library(const struct search *s, void *library, const char *name)
{
	struct cupti_host *h = s->h;
	struct link_map *map = NULL;
	char text[PATH_MAX + 64];

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && map->l_name[0])
		name = map->l_name;
	if (!bind_functions(library, &h->api) || h->api.cuptiGetVersion(&h->version)) {
		snprintf(text, sizeof(text), "%s is older than CUDA 12.6, and knows no metrics",
			 name);
		s->seen(s->ctx, NULL, text);
		return false;
	}
	h->path = strdup(name);
	h->library = library;
	return h->path;
}

static bool try_place(void *ctx, const char *name, bool is_asked)
{
	struct search *s = ctx;
	const char *error;
	void *library;

	if (!is_asked && strchr(name, '/') && access(name, R_OK))
		return false;
	s->seen(s->ctx, name, NULL);
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		error = dlerror();
		if (strchr(name, '/'))
			s->seen(s->ctx, NULL, error ? error : name);
		return false;
	}
	return !cupti_was_tried(&s->tried, library) && try_library(s, library, name);
}

int cupti_host_open(struct cupti_host *h, cupti_seen_fn *seen, void *ctx)
{
	const char *list = getenv("PROTON_CUPTI_PATH");
	struct search s = {.h = h, .seen = seen, .ctx = ctx};
	bool found;

	*h = (struct cupti_host){.library = NULL};
	if (list && list[0])
		found = cupti_places_listed(list, try_place, &s);
	else
		found = cupti_places_installed(try_place, &s);
	return found ? 0 : -ENOENT;
}

void cupti_host_close(struct cupti_host *h)
{
	free(h->path); /* the library stays: it may have threads */
	h->path = NULL;
}

/* ---- chips ---- */

int cupti_host_chips(const struct cupti_host *h, const char *const **ret_names, size_t *ret_n)
{
	struct abi_host_chips p = {.size = ABI_HOST_SIZE(abi_host_chips, ret_names)};
	uint32_t r = h->api.cuptiProfilerHostGetSupportedChips(&p);

	if (r)
		return (int)r;
	*ret_names = p.ret_names;
	*ret_n = p.ret_n;
	return 0;
}

/* The second call crashes where the first has failed. */
int cupti_host_device_chip(const struct cupti_host *h, size_t device, const char **ret_name)
{
	struct abi_profiler_init init = {.size = ABI_HOST_SIZE(abi_profiler_init, reserved)};
	struct abi_chip_of_device p = {.size = ABI_HOST_SIZE(abi_chip_of_device, ret_name),
				       .device = device};
	uint32_t r = h->api.cuptiProfilerInitialize(&init);

	if (r == 0)
		r = h->api.cuptiDeviceGetChipName(&p);
	if (r)
		return (int)r;
	*ret_name = p.ret_name;
	return p.ret_name ? 0 : -ENODEV;
}

int cupti_chip_open_on(const struct cupti_host *h, const char *name, enum counting counting,
		       const uint8_t *availability, struct cupti_chip *ret)
{
	struct abi_host_init p = {.size = ABI_HOST_SIZE(abi_host_init, ret_host),
				  .profiler = counting,
				  .chip = name,
				  .availability = availability};
	uint32_t r = h->api.cuptiProfilerHostInitialize(&p);

	if (r == 0)
		*ret = (struct cupti_chip){h, name, counting, availability, p.ret_host};
	return (int)r;
}

int cupti_chip_open(const struct cupti_host *h, const char *name, enum counting counting,
		    struct cupti_chip *ret)
{
	return cupti_chip_open_on(h, name, counting, NULL, ret);
}

void cupti_chip_close(struct cupti_chip *c)
{
	struct abi_host_free p = {.size = ABI_HOST_SIZE(abi_host_free, host), .host = c->object};

	c->host->api.cuptiProfilerHostDeinitialize(&p);
}

/* ---- metrics ---- */

int cupti_chip_metrics(const struct cupti_chip *c, enum abi_metric_type type,
		       const char ***ret_names, size_t *ret_n)
{
	struct abi_host_metrics p = {
		.size = ABI_HOST_SIZE(abi_host_metrics, ret_n), .host = c->object, .type = type};
	uint32_t r = c->host->api.cuptiProfilerHostGetBaseMetrics(&p);

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
	uint32_t r = c->host->api.cuptiProfilerHostGetSubMetrics(&p);

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
	uint32_t r = c->host->api.cuptiProfilerHostGetMetricProperties(&p);

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
	const struct cupti_host_api *api = &c->host->api;
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
	uint32_t r = c->host->api.cuptiProfilerHostConfigAddMetrics(&p);

	return r ? (int)r : make_image(c, ret_image, ret_bytes);
}

/* A host object keeps what was once added to it: each question has one of its own. */
int cupti_chip_passes(const struct cupti_chip *c, const char *const *names, size_t n,
		      size_t *ret_passes)
{
	struct abi_host_passes passes = {.size = ABI_HOST_SIZE(abi_host_passes, ret_n)};
	struct cupti_chip fresh;
	int r;

	r = cupti_chip_open_on(c->host, c->name, c->counting, c->availability, &fresh);
	if (r)
		return r;
	r = cupti_chip_image(&fresh, names, n, &passes.image, &passes.bytes);
	if (r == 0) {
		r = (int)c->host->api.cuptiProfilerHostGetNumOfPasses(&passes);
		free(passes.image);
	}
	cupti_chip_close(&fresh);
	if (r == 0)
		*ret_passes = passes.ret_n;
	return r;
}
