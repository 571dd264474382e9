/* SPDX-License-Identifier: MIT */
/* NVIDIA's management library, in our own words. It comes with the driver: what it lacks is not told.
 * Numbers of its ABI as of driver 580; it does not change what it has once said. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "sensors/look.h"

enum {
	CLOCK_SM = 1,
	SENSOR_OF_GPU = 0, /* the one temperature that all have */
	ERRORS_UNCORRECTED = 1,
	ERRORS_SINCE_LOAD = 0, /* of the driver */
};

/* Bits of why the clock is what it is. */
#define REASON_IDLE       UINT64_C(0x01)
#define REASON_POWER_CAP  UINT64_C(0x04)
#define REASON_HARDWARE   UINT64_C(0x08)
#define REASON_HEAT       UINT64_C(0x20) /* told by the driver … */
#define REASON_HEAT_ALARM UINT64_C(0x40) /* … and by the hardware */
#define REASON_BRAKE      UINT64_C(0x80)

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};
#define MEMORY_V2 ((unsigned)sizeof(struct nvml_memory_v2) | 2u << 24)

struct nvml_process {
	unsigned pid;
	unsigned long long used;
	unsigned gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct nvml_process) == 24, "as nvmlProcessInfo_t");

typedef void *nvml_device;
typedef int nvml_number(nvml_device, unsigned *);

static struct {
	int (*init)(void);
	int (*count)(unsigned *);
	int (*by_index)(unsigned, nvml_device *);
	int (*uuid)(nvml_device, char *, unsigned);
	int (*name)(nvml_device, char *, unsigned);
	int (*by_uuid)(const char *, nvml_device *);
	int (*clock)(nvml_device, int, unsigned *);
	int (*clock_limit)(nvml_device, int, unsigned *);
	nvml_number *power, *power_limit; /* mW */
	int (*temperature)(nvml_device, int, unsigned *);
	int (*memory)(nvml_device, struct nvml_memory *);
	int (*memory_v2)(nvml_device, struct nvml_memory_v2 *);
	int (*reasons)(nvml_device, unsigned long long *);
	nvml_number *generation, *generation_limit, *width, *width_limit;
	int (*errors)(nvml_device, int, int, unsigned long long *);
	int (*processes)(nvml_device, unsigned *, struct nvml_process *);
} nvml;

/* Each function by the newest of its names; one that is not there stays NULL. */
static const struct {
	void *function;
	const char *names[2];
} functions[] = {
	{&nvml.init, {"nvmlInit_v2"}},
	{&nvml.count, {"nvmlDeviceGetCount_v2"}},
	{&nvml.by_index, {"nvmlDeviceGetHandleByIndex_v2"}},
	{&nvml.uuid, {"nvmlDeviceGetUUID"}},
	{&nvml.name, {"nvmlDeviceGetName"}},
	{&nvml.by_uuid, {"nvmlDeviceGetHandleByUUID"}},
	{&nvml.clock, {"nvmlDeviceGetClockInfo"}},
	{&nvml.clock_limit, {"nvmlDeviceGetMaxClockInfo"}},
	{&nvml.power, {"nvmlDeviceGetPowerUsage"}},
	{&nvml.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"}},
	{&nvml.temperature, {"nvmlDeviceGetTemperature"}},
	{&nvml.memory, {"nvmlDeviceGetMemoryInfo"}},
	{&nvml.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"}},
	{&nvml.reasons,
	 {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}},
	{&nvml.generation, {"nvmlDeviceGetCurrPcieLinkGeneration"}},
	{&nvml.generation_limit, {"nvmlDeviceGetMaxPcieLinkGeneration"}},
	{&nvml.width, {"nvmlDeviceGetCurrPcieLinkWidth"}},
	{&nvml.width_limit, {"nvmlDeviceGetMaxPcieLinkWidth"}},
	{&nvml.errors, {"nvmlDeviceGetTotalEccErrors"}},
	{&nvml.processes,
	 {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}},
};

/* What does not change is asked for once: it takes milliseconds. */
struct device {
	nvml_device handle;
	double clock_limit, power_limit, generation_limit, width_limit;
};

static void *find_function(void *library, const char *const names[2])
{
	void *function = dlsym(library, names[0]);

	return function || !names[1] ? function : dlsym(library, names[1]);
}

static bool open_library(void)
{
	void *library = dlopen(look_nvml.library, RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		*(void **)functions[i].function = find_function(library, functions[i].names);
	return nvml.init && nvml.by_uuid && nvml.init() == 0;
}

static double number(nvml_number *ask, nvml_device handle)
{
	unsigned v;

	return ask && ask(handle, &v) == 0 ? v : 0;
}

static double of_clock(int (*ask)(nvml_device, int, unsigned *), nvml_device handle, int which)
{
	unsigned v;

	return ask && ask(handle, which, &v) == 0 ? v : 0;
}

/* One that does not tell its uuid keeps its number, and cannot be asked for. */
static uint32_t list(struct look_found *out, uint32_t most)
{
	unsigned n = 0;

	if (!nvml.count || !nvml.by_index || !nvml.uuid || nvml.count(&n))
		return 0;
	n = MIN(n, most);
	for (unsigned i = 0; i < n; i++) {
		nvml_device handle;

		out[i] = (struct look_found){.uuid = ""};
		if (nvml.by_index(i, &handle))
			continue;
		if (nvml.uuid(handle, out[i].uuid, sizeof(out[i].uuid)))
			out[i].uuid[0] = '\0';
		if (!nvml.name || nvml.name(handle, out[i].name, sizeof(out[i].name)))
			out[i].name[0] = '\0';
		out[i].uuid[sizeof(out[i].uuid) - 1] = out[i].name[sizeof(out[i].name) - 1] = '\0';
	}
	return n;
}

/* A part of a device (MIG) has a uuid of the same form behind another word. */
static nvml_device handle_of(const char *uuid)
{
	nvml_device handle;
	char part[80];

	if (nvml.by_uuid(uuid, &handle) == 0)
		return handle;
	snprintf(part, sizeof(part), "MIG%s", uuid + strcspn(uuid, "-"));
	return nvml.by_uuid(part, &handle) == 0 ? handle : NULL;
}

static void *find(const char *uuid)
{
	nvml_device handle = handle_of(uuid);
	struct device *d = handle ? calloc(1, sizeof(*d)) : NULL;

	if (!d)
		return NULL;
	d->handle = handle;
	d->clock_limit = of_clock(nvml.clock_limit, handle, CLOCK_SM);
	d->power_limit = number(nvml.power_limit, handle) / 1000;
	d->generation_limit = number(nvml.generation_limit, handle);
	d->width_limit = number(nvml.width_limit, handle);
	return d;
}

/* The older call counts what the driver keeps for itself as used. */
static void look_at_memory(nvml_device handle, struct sensor_look *ret)
{
	struct nvml_memory_v2 m2 = {.version = MEMORY_V2};
	struct nvml_memory m;

	if (nvml.memory_v2 && nvml.memory_v2(handle, &m2) == 0) {
		ret->memory_bytes = (double)m2.used;
		ret->memory_total_bytes = (double)m2.total;
	} else if (nvml.memory && nvml.memory(handle, &m) == 0) {
		ret->memory_bytes = (double)m.used;
		ret->memory_total_bytes = (double)m.total;
	}
}

/* Where it does not say why, or whether it is idle, every look counts as one at work. */
static void look_at_reasons(nvml_device handle, struct sensor_look *ret)
{
	unsigned long long r;

	ret->working = true;
	if (!nvml.reasons || nvml.reasons(handle, &r) != 0)
		return;
	ret->working = !(r & REASON_IDLE);
	if (r & REASON_POWER_CAP)
		ret->cut |= LOOK_CUT_POWER;
	if (r & (REASON_HEAT | REASON_HEAT_ALARM))
		ret->cut |= LOOK_CUT_HEAT;
	if (r & REASON_BRAKE)
		ret->cut |= LOOK_CUT_BRAKE;
	if ((r & REASON_HARDWARE) && !ret->cut)
		ret->cut = LOOK_CUT_HARDWARE;
}

static void look_at_processes(nvml_device handle, struct sensor_look *ret)
{
	struct nvml_process list[LOOK_PROCESSES];
	unsigned n = LOOK_PROCESSES;

	if (!nvml.processes || nvml.processes(handle, &n, list) != 0)
		return;
	for (unsigned i = 0; i < n && i < LOOK_PROCESSES; i++)
		ret->pids[ret->n_processes++] = list[i].pid;
}

static void look(void *device, struct sensor_look *ret)
{
	const struct device *d = device;
	unsigned long long errors;

	*ret = (struct sensor_look){.clock_limit_mhz = d->clock_limit,
				    .power_limit_w = d->power_limit,
				    .pcie_generation_limit = d->generation_limit,
				    .pcie_width_limit = d->width_limit,
				    .errors = NAN};
	ret->clock_mhz = of_clock(nvml.clock, d->handle, CLOCK_SM);
	ret->power_w = number(nvml.power, d->handle) / 1000;
	ret->temperature_c = of_clock(nvml.temperature, d->handle, SENSOR_OF_GPU);
	ret->pcie_generation = number(nvml.generation, d->handle);
	ret->pcie_width = number(nvml.width, d->handle);
	if (nvml.errors &&
	    nvml.errors(d->handle, ERRORS_UNCORRECTED, ERRORS_SINCE_LOAD, &errors) == 0)
		ret->errors = (double)errors;
	look_at_memory(d->handle, ret);
	look_at_reasons(d->handle, ret);
	look_at_processes(d->handle, ret);
}

static bool is_of_cuda(const char *type, const char *uuid)
{
	(void)uuid;
	return !strcmp(type, "CUDA");
}

const struct look_source look_nvml = {.library = "libnvidia-ml.so.1",
				      .is_its = is_of_cuda,
				      .open = open_library,
				      .list = list,
				      .find = find,
				      .look = look};
