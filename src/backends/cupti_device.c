/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include <string.h>

#include "backends/cuda_driver.h"
#include "backends/cuda_uuid.h"
#include "backends/cupti.h"
#include "base/util.h"

struct texts {
	char name[128], arch[16], uuid[CUDA_UUID_TEXT], driver[16];
};

/* False: no driver is mapped, or it is too old to have these functions. */
static bool bind_driver(struct cuda_api *api)
{
	static const struct cuda_function functions[] = {
#define _(name, parameters) {#name, offsetof(struct cuda_api, name), false},
		ABI_CUDA_FUNCTIONS(_)
#undef _
	};

	return cuda_driver_bind(api, functions, ARRAY_SIZE(functions)) && api->cuDeviceGet &&
	       api->cuDeviceGetAttribute;
}

static uint32_t attribute(const struct cuda_api *api, int device, uint32_t attribute)
{
	int value = 0;

	if (api->cuDeviceGetAttribute(&value, attribute, device) != ABI_OK || value < 0)
		return 0;
	return (uint32_t)value;
}

static void uuid_text(const struct cuda_api *api, int device, char out[CUDA_UUID_TEXT])
{
	uint32_t (*get)(uint8_t uuid[16], int device) =
		api->cuDeviceGetUuid_v2 ? api->cuDeviceGetUuid_v2 : api->cuDeviceGetUuid;
	uint8_t u[16];

	if (get && get(u, device) == ABI_OK)
		cuda_uuid_text(u, out);
}

static void fill_texts(const struct cuda_api *api, int device, struct texts *t)
{
	uint32_t major = attribute(api, device, ABI_DEVICE_CC_MAJOR);
	int version = 0;

	if (api->cuDeviceGetName)
		api->cuDeviceGetName(t->name, sizeof(t->name), device);
	if (major)
		snprintf(t->arch, sizeof(t->arch), "%u",
			 10 * major + attribute(api, device, ABI_DEVICE_CC_MINOR));
	uuid_text(api, device, t->uuid);
	if (api->cuDriverGetVersion && api->cuDriverGetVersion(&version) == ABI_OK)
		snprintf(t->driver, sizeof(t->driver), "%d.%d", version / 1000,
			 version % 1000 / 10);
}

static const char *or_null(const char *s)
{
	return s[0] ? s : NULL;
}

static void tell(struct cupti *c, const struct cuda_api *api, int index)
{
	struct texts t = {0};
	struct device_info info = {.type = "CUDA", .index = index};
	size_t bytes = 0;
	int device;

	if (api->cuDeviceGet && api->cuDeviceGet(&device, index) == ABI_OK) {
		fill_texts(api, device, &t);
		info.num_sms = attribute(api, device, ABI_DEVICE_NUM_SMS);
		info.clock_khz = attribute(api, device, ABI_DEVICE_CLOCK_KHZ);
		info.memory_clock_khz = attribute(api, device, ABI_DEVICE_MEMORY_CLOCK_KHZ);
		info.bus_width_bits = attribute(api, device, ABI_DEVICE_BUS_WIDTH_BITS);
		if (api->cuDeviceTotalMem_v2 && api->cuDeviceTotalMem_v2(&bytes, device) == ABI_OK)
			info.memory_bytes = bytes;
	}
	info.name = or_null(t.name);
	info.arch = or_null(t.arch);
	info.uuid = or_null(t.uuid);
	info.driver = or_null(t.driver);
	c->sink->ops->device(c->sink, &info);
}

void cupti_device_tell(struct cupti *c)
{
	uint64_t unseen = atomic_load(&c->devices_seen) & ~c->devices_told;
	struct cuda_api api = {0};

	if (!unseen)
		return;
	if (!bind_driver(&api))
		memset(&api, 0, sizeof(api));
	c->devices_told |= unseen;
	cuda_driver_ours++;
	for (int i = 0; i < 64; i++)
		if (unseen & (UINT64_C(1) << i))
			tell(c, &api, i);
	cuda_driver_ours--;
}
