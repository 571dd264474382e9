/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_DEVICE_METRICS_H
#define PROTON_COLLECT_DEVICE_METRICS_H
/* Metrics whose numbers a CUDA graph computes: they lie in the memory of a device, and are there when it has run. */
#include <stddef.h>
#include <stdint.h>

struct device_numbers {
	uint64_t memory; /* of the first; the others follow */
	int kind;        /* enum cuda_value_kind */
	size_t n;
	void *stream; /* that is being captured */
};

/* As collect_metric_at(), of each time that the graph runs: one number has the name, of several each is an element.
 * node: WIRE_NONE: where the thread is, or the launch that it has begun. The kernel that reads them is shown as
 * launch metadata, which is hidden.
 *   errors  -EINVAL: they cannot be read, which a note says; nothing is added then
 *   thread  any */
int collect_metric_device(uint32_t node, const char *name, const struct device_numbers *numbers);

#endif
