/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/driver.h"
#include <dlfcn.h>
#include <stdlib.h>
#include "backends/cupti_abi.h"
#include "base/util.h"

enum { COMPUTE_DEFAULT = 0 }; /* else: prohibited, or one process at a time */

uint32_t driver_n_devices(void *driver)
{
	uint32_t (*count)(int *) = NULL;
	int n = 0;

	*(void **)&count = dlsym(driver, "cuDeviceGetCount");
	return count && count(&n) == 0 ? (uint32_t)MAX(n, 0) : 0;
}

void driver_device(void *driver, uint32_t i, struct driver_device *ret)
{
	uint32_t (*get)(int *, int) = NULL, (*get_uuid)(uint8_t[16], int) = NULL;
	uint32_t (*get_name)(char *, int, int) = NULL;
	uint8_t bytes[16];
	int handle;

	*ret = (struct driver_device){.uuid = ""};
	*(void **)&get = dlsym(driver, "cuDeviceGet");
	*(void **)&get_uuid = dlsym(driver, "cuDeviceGetUuid_v2");
	*(void **)&get_name = dlsym(driver, "cuDeviceGetName");
	if (!get || get(&handle, (int)i))
		return;
	if (get_uuid && get_uuid(bytes, handle) == 0)
		cuda_uuid_text(bytes, ret->uuid);
	if (!get_name || get_name(ret->name, sizeof(ret->name), handle))
		ret->name[0] = '\0';
	ret->name[sizeof(ret->name) - 1] = '\0';
}

void *driver_context(void *driver, uint32_t i, const char **ret_why, int *ret_result)
{
	uint32_t (*get)(int *, int) = NULL, (*attribute)(int *, int, int) = NULL;
	uint32_t (*retain)(void **, int) = NULL, (*set)(void *) = NULL;
	int device, mode = COMPUTE_DEFAULT;
	void *context = NULL;

	*(void **)&get = dlsym(driver, "cuDeviceGet");
	*(void **)&attribute = dlsym(driver, "cuDeviceGetAttribute");
	*(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
	*(void **)&set = dlsym(driver, "cuCtxSetCurrent");
	*ret_why = "the driver makes no context";
	*ret_result = 0;
	if (!get || !attribute || !retain || !set || (*ret_result = (int)get(&device, (int)i)))
		return NULL;
	if (attribute(&mode, ABI_DEVICE_COMPUTE_MODE, device) == 0 && mode != COMPUTE_DEFAULT) {
		*ret_why = "its compute mode admits one process at a time, or none";
		return NULL;
	}
	if ((*ret_result = (int)retain(&context, device)) || (*ret_result = (int)set(context)))
		return NULL;
	return context;
}

void driver_put_context(void *driver, uint32_t i)
{
	uint32_t (*get)(int *, int) = NULL, (*release)(int) = NULL;
	int device;

	*(void **)&get = dlsym(driver, "cuDeviceGet");
	*(void **)&release = dlsym(driver, "cuDevicePrimaryCtxRelease_v2");
	if (get && release && get(&device, (int)i) == 0)
		release(device);
}

void driver_show_all(void)
{
	unsetenv("CUDA_VISIBLE_DEVICES");
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
}
