/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OPENCL_H
#define PROTON_BACKENDS_OPENCL_H
/* The OpenCL backend, as the collector's door sees it. */
#include <stdbool.h>
#include <stdint.h>

struct activity_sink;

/* The table that lies on top of `target`, or `target` itself when the backend is not started: then
 * the layer is not there. At most *ret_n entries of it; the loader fills in the rest.
 *   thread  one: the loader calls it once, before any other OpenCL function returns */
const void *opencl_layer(uint32_t n, const void *target, uint32_t *ret_n);

/* At exit: an OpenCL loader that knows no layers is mapped, so nothing was seen: say so. */
void opencl_check_loader(struct activity_sink *sink);

#endif
