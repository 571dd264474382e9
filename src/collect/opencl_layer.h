/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_OPENCL_LAYER_H
#define PROTON_COLLECT_OPENCL_LAYER_H
/* What libproton.so exports for OpenCL's loader. A dispatch table is an array of n functions. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "collect/collect.h"

EXPORT int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *ret_size);
EXPORT int32_t clInitLayer(uint32_t n, const void *target, uint32_t *ret_n,
			   const void **ret_dispatch);

/* The loader asked for a layer when nobody profiled. */
bool opencl_layer_came_early(void);

#endif
