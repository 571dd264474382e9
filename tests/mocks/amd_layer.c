/* SPDX-License-Identifier: MIT */
/* A layer of OpenCL that lets every device look like one of AMD's at PCI address 0000:c1:00.1: as AMD's
 * driver tells it, or ($MOCK_AMD_BUS_INFO) as others do. */
#include "config.h" // IWYU pragma: keep
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "backends/opencl_abi.h"

#define EXPORT __attribute__((visibility("default")))

static void *dispatch[OPENCL_N_PLACES];
static opencl_clGetDeviceInfo *next;

static int32_t answer(const void *value, size_t n, size_t size, void *to)
{
	if (size < n)
		return OPENCL_INVALID_VALUE;
	memcpy(to, value, n);
	return OPENCL_SUCCESS;
}

static bool has_bus_info(void)
{
	const char *asked = getenv("MOCK_AMD_BUS_INFO");

	return asked && *asked;
}

static int32_t get_device_info(cl_device_id device, uint32_t what, size_t size, void *value,
			       size_t *ret_size)
{
	static const uint8_t topology[24] = {1, [21] = 0xc1, 0x00, 0x01};
	static const uint32_t vendor = OPENCL_VENDOR_AMD, at[4] = {0, 0xc1, 0, 1};

	switch (what) {
	case OPENCL_DEVICE_VENDOR_ID:
		return answer(&vendor, sizeof(vendor), size, value);
	case OPENCL_DEVICE_PCI_BUS_INFO:
		return has_bus_info() ? answer(at, sizeof(at), size, value) : OPENCL_INVALID_VALUE;
	case OPENCL_DEVICE_TOPOLOGY_AMD:
		return has_bus_info() ? OPENCL_INVALID_VALUE
				      : answer(topology, sizeof(topology), size, value);
	default:
		return next(device, what, size, value, ret_size);
	}
}

EXPORT int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *ret_size);
int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *ret_size)
{
	const uint32_t version = OPENCL_LAYER_API_VERSION_100;

	if (what != OPENCL_LAYER_API_VERSION)
		return OPENCL_INVALID_VALUE;
	if (ret_size)
		*ret_size = sizeof(version);
	return value ? answer(&version, sizeof(version), size, value) : OPENCL_SUCCESS;
}

EXPORT int32_t clInitLayer(uint32_t n, const void *target, uint32_t *ret_n,
			   const void **ret_dispatch);
int32_t clInitLayer(uint32_t n, const void *target, uint32_t *ret_n, const void **ret_dispatch)
{
	const uint32_t n_known = n < OPENCL_N_PLACES ? n : OPENCL_N_PLACES;
	opencl_clGetDeviceInfo *ours = get_device_info;

	memcpy(dispatch, target, n_known * sizeof(void *));
	memcpy(&next, &dispatch[OPENCL_clGetDeviceInfo], sizeof(void *));
	memcpy(&dispatch[OPENCL_clGetDeviceInfo], &ours, sizeof(void *));
	*ret_n = n_known;
	*ret_dispatch = dispatch;
	return OPENCL_SUCCESS;
}
