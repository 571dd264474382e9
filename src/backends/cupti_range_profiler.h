/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_RANGE_PROFILER_H
#define PROTON_BACKENDS_CUPTI_RANGE_PROFILER_H
/* CUPTI's range profiler of one context: hardware counters between two points of it, or around each kernel.
 *
 *   open ── begin ── push, launch, pop ── drain ── begin …
 *
 * Its context is current on the thread that calls it.
 *
 *   errors  -ENOMEM, or a result of CUPTI, which is above 0; `at` says of what
 *   thread  one at a time */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backends/cupti_chip.h"
#include "backends/cupti_range_abi.h"

enum { RANGES_MAX = 1024 }; /* that an image has; more are decoded in several */

struct range_profiler_api {
	struct cupti_host_api host;
	struct cupti_range_api range;
};
/* False: this library is older than CUDA 12.6. */
bool range_profiler_bind(void *library, struct range_profiler_api *ret);

struct range_profiler {
	const struct range_profiler_api *api;
	const char *const *names; /* of metrics */
	size_t n;
	bool by_kernel; /* each kernel is a range, and runs once a pass; else ranges are pushed, in one pass */
	bool is_running;
	void *object;
	struct cupti_chip chip;
	uint8_t *availability, *image, *data;
	size_t image_bytes, data_bytes, n_passes;
	double *values;
	const char *at; /* what failed */
};

/* Names are borrowed. range_profiler_close() also after an error. */
int range_profiler_open(struct range_profiler *p, const struct range_profiler_api *api,
			void *context, const char *const *names, size_t n, bool by_kernel);
void range_profiler_close(struct range_profiler *p);
/* From here on it counts. */
int range_profiler_begin(struct range_profiler *p);
int range_profiler_push(struct range_profiler *p, const char *name);
int range_profiler_pop(struct range_profiler *p);
/* It counts no longer; what it has counted is told, range by range, in the order of its image. name: as it was pushed.
 * n: how many there are. n_dropped: for which there was no room. */
typedef void range_told_fn(void *ctx, size_t i, size_t n, const char *name, const double *values);
int range_profiler_drain(struct range_profiler *p, range_told_fn *fn, void *ctx, size_t *ret_n,
			 size_t *ret_dropped);

#endif
