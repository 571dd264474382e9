/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/driver.h"
#include <dlfcn.h>
#include <stdlib.h>
#include "base/util.h"

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

void driver_show_all(void)
{
	unsetenv("CUDA_VISIBLE_DEVICES");
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
}
