/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_HOST_ABI_H
#define PROTON_BACKENDS_CUPTI_HOST_ABI_H
/* CUPTI's profiler host API (CUDA 12.6 and later), declared in our own words as cupti_abi.h is, and
 * asserted by the same test. It knows the metrics of each chip by the chip's name and needs no GPU.
 *
 * Every call takes one structure that begins with its size: up to the end of the last field, without
 * what the compiler adds behind it (ABI_HOST_SIZE); CUPTI refuses any other size. */
#include <stddef.h>
#include <stdint.h>

#define ABI_HOST_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

/* Results, beside those of enum abi_result. */
enum abi_host_result {
	ABI_HOST_BAD_NAME = 17,      /* no such metric on this chip, or not with this rollup */
	ABI_HOST_NOT_SUPPORTED = 27, /* this chip cannot be counted on so, or this metric not */
	ABI_HOST_BAD_CHIP = 46,
};

enum abi_metric_type {
	ABI_METRIC_COUNTER,
	ABI_METRIC_RATIO,
	ABI_METRIC_THROUGHPUT,
	ABI_N_METRIC_TYPES
};

enum abi_profiler_type { ABI_PROFILER_RANGE, ABI_PROFILER_PM_SAMPLING };

struct abi_host_init {
	size_t size;
	void *reserved;
	uint32_t profiler; /* enum abi_profiler_type */
	const char *chip;
	const uint8_t *availability; /* NULL: all that the chip has */
	void *ret_host;
};

struct abi_host_free {
	size_t size;
	void *reserved, *host;
};

/* Names belong to CUPTI and stay. */
struct abi_host_chips {
	size_t size;
	void *reserved;
	size_t ret_n;
	const char *const *ret_names;
};

/* What is returned by this one and the next lives as long as the host object. */
struct abi_host_metrics {
	size_t size;
	void *reserved, *host;
	uint32_t type; /* enum abi_metric_type */
	const char **ret_names;
	size_t ret_n;
};

/* How a metric can be asked for: ".sum", ".avg.per_second" … */
struct abi_host_submetrics {
	size_t size;
	void *reserved, *host;
	uint32_t type;
	const char *name;
	size_t ret_n;
	const char **ret_names;
};

struct abi_host_properties {
	size_t size;
	void *reserved, *host;
	const char *name; /* with or without a submetric */
	const char *ret_description, *ret_hardware, *ret_unit;
	uint32_t ret_type;
};

struct abi_host_add {
	size_t size;
	void *reserved, *host;
	const char **names;
	size_t n;
};

struct abi_host_image_size {
	size_t size;
	void *reserved, *host;
	size_t ret_bytes;
};

struct abi_host_image {
	size_t size;
	void *reserved, *host;
	size_t bytes;
	uint8_t *image;
};

struct abi_host_passes {
	size_t size;
	void *reserved;
	size_t bytes;
	uint8_t *image;
	size_t ret_n;
};

/* Of the other half, which talks to devices. */
struct abi_profiler_init {
	size_t size;
	void *reserved;
};

struct abi_chip_of_device {
	size_t size;
	void *reserved;
	size_t device;
	const char *ret_name;
};

/*      name                                  parameters; all return a CUptiResult */
#define ABI_HOST_FUNCTIONS(_)                                                                      \
	_(cuptiGetVersion, (uint32_t * version))                                                   \
	_(cuptiProfilerHostGetSupportedChips, (struct abi_host_chips *))                           \
	_(cuptiProfilerHostInitialize, (struct abi_host_init *))                                   \
	_(cuptiProfilerHostDeinitialize, (struct abi_host_free *))                                 \
	_(cuptiProfilerHostGetBaseMetrics, (struct abi_host_metrics *))                            \
	_(cuptiProfilerHostGetSubMetrics, (struct abi_host_submetrics *))                          \
	_(cuptiProfilerHostGetMetricProperties, (struct abi_host_properties *))                    \
	_(cuptiProfilerHostConfigAddMetrics, (struct abi_host_add *))                              \
	_(cuptiProfilerHostGetConfigImageSize, (struct abi_host_image_size *))                     \
	_(cuptiProfilerHostGetConfigImage, (struct abi_host_image *))                              \
	_(cuptiProfilerHostGetNumOfPasses, (struct abi_host_passes *))                             \
	_(cuptiProfilerInitialize, (struct abi_profiler_init *))                                   \
	_(cuptiDeviceGetChipName, (struct abi_chip_of_device *))

struct cupti_host_api {
#define _(name, parameters) uint32_t(*name) parameters;
	ABI_HOST_FUNCTIONS(_)
#undef _
};

#endif
