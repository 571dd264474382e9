/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_PM_ABI_H
#define PROTON_BACKENDS_CUPTI_PM_ABI_H
/* CUPTI's PM sampling (CUDA 12.6 and later): hardware counters of a whole device, read at an interval.
 * Declared and asserted as the other half is (cupti_host_abi.h), which knows the metrics. */
#include "backends/cupti_host_abi.h"

/* Results, beside those of enum abi_result and enum abi_host_result. */
enum abi_pm_result {
	ABI_PM_OVERFLOW = 8, /* samples came faster than they were decoded */
};

enum abi_pm_trigger {
	ABI_PM_CYCLES, /* of the system clock */
	ABI_PM_TIME,   /* ns; not on Turing and GA100 */
};

enum abi_pm_append { ABI_PM_KEEP_OLDEST, ABI_PM_KEEP_LATEST };

enum abi_pm_stop { ABI_PM_STOP_OTHER, ABI_PM_STOP_FULL, ABI_PM_STOP_END };

struct abi_pm_availability {
	size_t size;
	void *reserved;
	size_t device;
	size_t bytes; /* returned where image is NULL */
	uint8_t *image;
};

struct abi_pm_enable {
	size_t size;
	void *reserved;
	size_t device;
	void *ret_sampling;
};

/* Of disable, start and stop. */
struct abi_pm_object {
	size_t size;
	void *reserved, *sampling;
};

struct abi_pm_config {
	size_t size;
	void *reserved, *sampling;
	size_t image_bytes;
	const uint8_t *image;
	size_t buffer_bytes;
	uint64_t interval;
	uint32_t trigger; /* enum abi_pm_trigger */
	uint32_t append;  /* enum abi_pm_append */
};

struct abi_pm_data_size {
	size_t size;
	void *reserved, *sampling;
	const char **names;
	size_t n;
	uint32_t max_samples;
	size_t ret_bytes;
};

struct abi_pm_data_init {
	size_t size;
	void *reserved, *sampling;
	size_t bytes;
	uint8_t *data;
};

struct abi_pm_decode {
	size_t size;
	void *reserved, *sampling;
	uint8_t *data;
	size_t bytes;
	uint32_t ret_stop; /* enum abi_pm_stop */
	uint8_t ret_overflow;
};

struct abi_pm_data_info {
	size_t size;
	void *reserved;
	const uint8_t *data;
	size_t bytes;
	size_t ret_total, ret_populated, ret_completed;
};

struct abi_pm_sample {
	size_t size;
	void *reserved, *sampling;
	const uint8_t *data;
	size_t bytes, i;
	uint64_t ret_start_ns, ret_end_ns;
};

struct abi_host_evaluate {
	size_t size;
	void *reserved, *host;
	const uint8_t *data;
	size_t bytes, i;
	const char **names;
	size_t n;
	double *values;
};

#define ABI_PM_FUNCTIONS(_)                                                                        \
	_(cuptiPmSamplingGetCounterAvailability, (struct abi_pm_availability *))                   \
	_(cuptiPmSamplingEnable, (struct abi_pm_enable *))                                         \
	_(cuptiPmSamplingDisable, (struct abi_pm_object *))                                        \
	_(cuptiPmSamplingSetConfig, (struct abi_pm_config *))                                      \
	_(cuptiPmSamplingStart, (struct abi_pm_object *))                                          \
	_(cuptiPmSamplingStop, (struct abi_pm_object *))                                           \
	_(cuptiPmSamplingGetCounterDataSize, (struct abi_pm_data_size *))                          \
	_(cuptiPmSamplingCounterDataImageInitialize, (struct abi_pm_data_init *))                  \
	_(cuptiPmSamplingDecodeData, (struct abi_pm_decode *))                                     \
	_(cuptiPmSamplingGetCounterDataInfo, (struct abi_pm_data_info *))                          \
	_(cuptiPmSamplingCounterDataGetSampleInfo, (struct abi_pm_sample *))                       \
	_(cuptiProfilerHostEvaluateToGpuValues, (struct abi_host_evaluate *))

struct cupti_pm_api {
#define _(name, parameters) uint32_t(*name) parameters;
	ABI_PM_FUNCTIONS(_)
#undef _
};

#endif
