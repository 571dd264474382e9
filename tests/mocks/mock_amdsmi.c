/* SPDX-License-Identifier: MIT */
/* A libamd_smi.so without a GPU, of the version that the file $MOCK_AMDSMI names, with that version's
 * structures. It says what the file says at that moment: lines "KEY NUMBER"; what the file lacks is
 * not supported. It has one device, at the address "address". Looks are counted (note_look.h). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "note_look.h"

#define EXPORT __attribute__((visibility("default")))

enum { INVALID = 1, NOT_SUPPORTED = 2, NOT_FOUND = 31 };

static int of_file(const char *key, uint64_t *ret)
{
	const char *path = getenv("MOCK_AMDSMI");
	FILE *f = path ? fopen(path, "re") : NULL;
	unsigned long long v;
	char name[32];
	int r = NOT_SUPPORTED;

	while (f && fscanf(f, "%31s %llu", name, &v) == 2)
		if (!strcmp(name, key)) {
			*ret = v;
			r = 0;
			break;
		}
	if (f)
		fclose(f);
	return r;
}

static uint64_t or_zero(const char *key)
{
	uint64_t v = 0;

	(void)of_file(key, &v);
	return v;
}

EXPORT int amdsmi_init(uint64_t what);
int amdsmi_init(uint64_t what)
{
	uint64_t v;

	if (of_file("crash", &v) == 0)
		abort();
	return what == 2 ? 0 : INVALID; /* GPUs */
}

/* Up to 25 a year stands before it. */
EXPORT int amdsmi_get_lib_version(uint32_t *ret);
int amdsmi_get_lib_version(uint32_t *ret)
{
	uint64_t major = or_zero("version");
	const char *build = "mock";
	size_t i = 0;

	ret[i++] = (uint32_t)major;
	ret[i++] = (uint32_t)or_zero("version2");
	if (major <= 25)
		ret[i++] = 0;
	ret[i++] = 1;
	memcpy(&ret[4], &build, sizeof(build));
	return 0;
}

EXPORT int amdsmi_get_processor_handle_from_bdf(uint64_t address, void **ret);
int amdsmi_get_processor_handle_from_bdf(uint64_t address, void **ret)
{
	*ret = ret;
	return address == or_zero("address") ? 0 : NOT_FOUND;
}

EXPORT int amdsmi_get_socket_handles(uint32_t *n, void **ret);
int amdsmi_get_socket_handles(uint32_t *n, void **ret)
{
	if (ret)
		ret[0] = ret;
	*n = 1;
	return 0;
}

EXPORT int amdsmi_get_clock_info(void *device, int which, uint32_t *ret);
int amdsmi_get_clock_info(void *device, int which, uint32_t *ret)
{
	uint64_t now;

	(void)device;
	if (which || of_file("clock", &now))
		return NOT_SUPPORTED;
	ret[0] = (uint32_t)now;
	ret[1] = 100;
	ret[2] = (uint32_t)or_zero("clock_limit");
	return 0;
}

EXPORT int amdsmi_get_power_info(void *device, uint32_t *ret);
int amdsmi_get_power_info(void *device, uint32_t *ret)
{
	uint64_t major = or_zero("version"), watts;
	size_t i = 0;

	(void)device;
	if (of_file("power", &watts))
		return NOT_SUPPORTED;
	if (major >= 25) {
		memset(ret, 0xff, 8); /* of a host of virtual machines */
		i = 2;
	}
	if (major >= 24 || or_zero("version2") >= 4)
		ret[i++] = UINT32_MAX; /* of now: newer devices */
	ret[i++] = (uint32_t)watts;    /* on average */
	ret[i] = 850;                  /* mV */
	return 0;
}

EXPORT int amdsmi_get_power_cap_info(void *device, uint32_t sensor, uint64_t *ret);
int amdsmi_get_power_cap_info(void *device, uint32_t sensor, uint64_t *ret)
{
	(void)device;
	return sensor ? INVALID : of_file("power_cap", ret);
}

EXPORT int amdsmi_get_temp_metric(void *device, int sensor, int metric, int64_t *ret);
int amdsmi_get_temp_metric(void *device, int sensor, int metric, int64_t *ret)
{
	uint64_t v;
	int r = of_file(sensor ? "hotspot" : "edge", &v);

	(void)device;
	if (!r)
		*ret = (int64_t)v;
	return metric || sensor > 1 ? INVALID : r;
}

EXPORT int amdsmi_get_gpu_memory_usage(void *device, int kind, uint64_t *ret);
int amdsmi_get_gpu_memory_usage(void *device, int kind, uint64_t *ret)
{
	(void)device;
	return kind ? INVALID : of_file("memory", ret);
}

EXPORT int amdsmi_get_gpu_memory_total(void *device, int kind, uint64_t *ret);
int amdsmi_get_gpu_memory_total(void *device, int kind, uint64_t *ret)
{
	(void)device;
	return kind ? INVALID : of_file("memory_total", ret);
}

EXPORT int amdsmi_get_gpu_activity(void *device, uint32_t *ret);
int amdsmi_get_gpu_activity(void *device, uint32_t *ret)
{
	uint64_t v = 0;
	int r = of_file("activity", &v);

	(void)device;
	note_look(getenv("MOCK_AMDSMI"));
	ret[0] = (uint32_t)v;
	return r;
}
