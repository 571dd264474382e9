/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_RANGE_ABI_H
#define PROTON_BACKENDS_CUPTI_RANGE_ABI_H
/* CUPTI's range profiler (CUDA 12.6 and later): hardware counters around kernels of a context. Declared and
 * asserted as the other half is (cupti_host_abi.h), which knows the metrics. */
#include "backends/cupti_pm_abi.h"

enum abi_range { ABI_RANGE_AUTO = 1, /* each kernel is one */ ABI_RANGE_USER };
enum abi_replay { ABI_REPLAY_APPLICATION = 1, ABI_REPLAY_KERNEL, ABI_REPLAY_USER };

struct abi_range_availability {
	size_t size;
	void *reserved, *context;
	size_t bytes; /* returned where image is NULL */
	uint8_t *image;
};

struct abi_range_enable {
	size_t size;
	void *reserved, *context;
	void *ret_profiler;
};

/* Of disable, start and pop. */
struct abi_range_object {
	size_t size;
	void *reserved, *profiler;
};

struct abi_range_stop {
	size_t size;
	void *reserved, *profiler;
	size_t ret_pass, ret_level;
	uint8_t ret_all_passes;
};

struct abi_range_push {
	size_t size;
	void *reserved, *profiler;
	const char *name;
};

struct abi_range_config {
	size_t size;
	void *reserved, *profiler;
	size_t image_bytes;
	const uint8_t *image;
	size_t data_bytes;
	uint8_t *data;
	uint32_t range;    /* enum abi_range */
	uint32_t replay;   /* enum abi_replay */
	size_t ranges_max; /* a pass */
	uint16_t n_levels, least_level;
	size_t pass;
	uint16_t level;
};

struct abi_range_data_size {
	size_t size;
	void *reserved, *profiler;
	const char **names;
	size_t n;
	size_t ranges_max;
	uint32_t nodes_max; /* of the tree of their names */
	size_t ret_bytes;
};

struct abi_range_data_init {
	size_t size;
	void *reserved, *profiler;
	size_t bytes;
	uint8_t *data;
};

struct abi_range_decode {
	size_t size;
	void *reserved, *profiler;
	size_t ret_dropped;
};

struct abi_range_data_info {
	size_t size;
	void *reserved;
	const uint8_t *data;
	size_t bytes;
	size_t ret_n;
};

struct abi_range_info {
	size_t size;
	void *reserved;
	const uint8_t *data;
	size_t bytes, i;
	const char *between; /* names of nested ranges */
	const char *ret_name;
};

#define ABI_RANGE_FUNCTIONS(_)                                                                     \
	_(cuptiGetDeviceId, (void *context, uint32_t *ret_id))                                     \
	_(cuptiProfilerGetCounterAvailability, (struct abi_range_availability *))                  \
	_(cuptiRangeProfilerEnable, (struct abi_range_enable *))                                   \
	_(cuptiRangeProfilerDisable, (struct abi_range_object *))                                  \
	_(cuptiRangeProfilerSetConfig, (struct abi_range_config *))                                \
	_(cuptiRangeProfilerStart, (struct abi_range_object *))                                    \
	_(cuptiRangeProfilerStop, (struct abi_range_stop *))                                       \
	_(cuptiRangeProfilerPushRange, (struct abi_range_push *))                                  \
	_(cuptiRangeProfilerPopRange, (struct abi_range_object *))                                 \
	_(cuptiRangeProfilerDecodeData, (struct abi_range_decode *))                               \
	_(cuptiRangeProfilerGetCounterDataSize, (struct abi_range_data_size *))                    \
	_(cuptiRangeProfilerCounterDataImageInitialize, (struct abi_range_data_init *))            \
	_(cuptiRangeProfilerGetCounterDataInfo, (struct abi_range_data_info *))                    \
	_(cuptiRangeProfilerCounterDataGetRangeInfo, (struct abi_range_info *))                    \
	_(cuptiProfilerHostEvaluateToGpuValues, (struct abi_host_evaluate *))

struct cupti_range_api {
#define _(name, parameters) uint32_t(*name) parameters;
	ABI_RANGE_FUNCTIONS(_)
#undef _
};

#endif
