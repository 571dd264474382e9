/* SPDX-License-Identifier: MIT */
/* The door that OpenCL's loader opens (OPENCL_LAYERS). */
#include "config.h" // IWYU pragma: keep
#include "collect/opencl_layer.h"
#include <stdatomic.h>
#include <string.h>
#include "backends/opencl.h"
#include "backends/opencl_abi.h"
#include "collect/collect.h"

static int32_t answer(const void *from, size_t n, size_t size, void *value, size_t *ret_size)
{
	if (value && size < n)
		return OPENCL_INVALID_VALUE;
	if (value)
		memcpy(value, from, n);
	if (ret_size)
		*ret_size = n;
	return OPENCL_SUCCESS;
}

int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *ret_size)
{
	static const uint32_t version = OPENCL_LAYER_API_VERSION_100;
	static const char name[] = "proton";

	switch (what) {
	case OPENCL_LAYER_API_VERSION:
		return answer(&version, sizeof(version), size, value, ret_size);
	case OPENCL_LAYER_NAME:
		return answer(name, sizeof(name), size, value, ret_size);
	default:
		return OPENCL_INVALID_VALUE;
	}
}

static _Atomic bool came_early;

bool opencl_layer_came_early(void)
{
	return atomic_load(&came_early);
}

/* An error would make the loader unload us, who may be here by other doors: we never fail. */
int32_t clInitLayer(uint32_t n, const void *target, uint32_t *ret_n, const void **ret_dispatch)
{
	if (!target || !n || !ret_n || !ret_dispatch)
		return OPENCL_INVALID_VALUE;
	*ret_n = n;
	*ret_dispatch = target;
	if (collect_start(DOOR_OPENCL) == 0 && collect_on)
		*ret_dispatch = opencl_layer(n, target, ret_n);
	else
		atomic_store(&came_early, true);
	return OPENCL_SUCCESS;
}
