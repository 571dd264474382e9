/* SPDX-License-Identifier: MIT */
/* AMD's management library, in our own words. It comes with ROCm, from 5.7 on, and what it fills changes
 * with its version: numbers that are passed alone are read of any, structures only of versions that
 * are known (docs/adr/0025-amd-by-its-management-library.md). */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/amdsmi_places.h"
#include "sensors/look.h"

enum {
	GPUS = 1 << 1, /* to start with */
	CLOCK_GRAPHICS = 0,
	MEMORY_VRAM = 0,
	NOW = 0, /* of a temperature: not its limit */
};

/* The edge of the chip is what other vendors tell; newer ones have their hottest spot alone. */
static const int temperatures[] = {0, 1};

/* What a structure is read from is larger than any version of it. */
union filled {
	uint32_t u32[128];
	uint64_t u64[64];
};

/* Where versions of the library have what, in numbers of 32 bits. The first number of the version is a
 * year up to 25. */
struct layout {
	uint32_t first, second; /* of the version; from here on */
	unsigned power[2];      /* in W: of now, on average; the one that is told */
};
static const struct layout layouts[] = {
	{26, 0, {2, 3}}, {25, 0, {2, 3}}, {24, 0, {0, 1}}, {23, 4, {0, 1}}, {23, 0, {0, 0}},
};
#define NEWEST 26

typedef void *amd_device;

static struct {
	int (*init)(uint64_t);
	int (*version)(union filled *);
	int (*by_address)(uint64_t, amd_device *);
	int (*clock)(amd_device, int, union filled *);
	int (*power)(amd_device, union filled *);
	int (*power_cap)(amd_device, uint32_t, union filled *);
	int (*temperature)(amd_device, int, int, int64_t *);
	int (*memory)(amd_device, int, uint64_t *);
	int (*memory_total)(amd_device, int, uint64_t *);
	int (*activity)(amd_device, union filled *);
	const struct layout *layout; /* NULL: of no version that is known */
} amd;

static const struct {
	void *function;
	const char *name;
} functions[] = {
	{&amd.init, "amdsmi_init"},
	{&amd.version, "amdsmi_get_lib_version"},
	{&amd.by_address, "amdsmi_get_processor_handle_from_bdf"},
	{&amd.clock, "amdsmi_get_clock_info"},
	{&amd.power, "amdsmi_get_power_info"},
	{&amd.power_cap, "amdsmi_get_power_cap_info"},
	{&amd.temperature, "amdsmi_get_temp_metric"},
	{&amd.memory, "amdsmi_get_gpu_memory_usage"},
	{&amd.memory_total, "amdsmi_get_gpu_memory_total"},
	{&amd.activity, "amdsmi_get_gpu_activity"},
};

/* What does not change is asked for once. */
struct device {
	amd_device handle;
	double clock_limit, power_limit, memory_total;
};

static void *load(void)
{
	char path[PATH_MAX];
	const char *name;
	void *library = NULL;

	for (size_t i = 0; !library && (name = amdsmi_place(i, path, sizeof(path))); i++)
		library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	return library;
}

static const struct layout *layout_of_version(void)
{
	union filled v = {{0}};

	if (!amd.version || amd.version(&v) != 0 || v.u32[0] > NEWEST)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (v.u32[0] > layouts[i].first ||
		    (v.u32[0] == layouts[i].first && v.u32[1] >= layouts[i].second))
			return &layouts[i];
	return NULL;
}

static bool open_library(void)
{
	void *library = load();

	if (!library)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		*(void **)functions[i].function = dlsym(library, functions[i].name);
	if (!amd.init || !amd.by_address || amd.init(GPUS) != 0)
		return false;
	amd.layout = layout_of_version();
	return true;
}

/* What is not told is all ones, of as many bits as the driver's table has. */
static double told(uint32_t v)
{
	return v == UINT16_MAX || v == UINT32_MAX ? 0 : v;
}

/* Which unit has changed with versions: no device draws a hundred kilowatts, nor is it a thousand
 * degrees hot. */
static double to_watts(double v)
{
	return v >= 1e5 ? v / 1e6 : v;
}
static double to_celsius(double v)
{
	return v >= 1e3 ? v / 1e3 : v;
}

/* now, lowest, highest; that order is of all versions. Returns whether they were told. */
static bool clocks_of(amd_device handle, double ret[3])
{
	union filled f = {{0}};

	if (!amd.layout || !amd.clock || amd.clock(handle, CLOCK_GRAPHICS, &f) != 0)
		return false;
	for (unsigned i = 0; i < 3; i++)
		ret[i] = told(f.u32[i]);
	return true;
}

static double power_of(amd_device handle)
{
	union filled f = {{0}};
	double now;

	if (!amd.layout || !amd.power || amd.power(handle, &f) != 0)
		return 0;
	now = told(f.u32[amd.layout->power[0]]);
	return now > 0 ? now : told(f.u32[amd.layout->power[1]]);
}

static double power_limit_of(amd_device handle)
{
	union filled f = {{0}};

	return amd.layout && amd.power_cap && amd.power_cap(handle, 0, &f) == 0
		       ? to_watts((double)f.u64[0])
		       : 0;
}

static double temperature_of(amd_device handle)
{
	int64_t v = 0;

	for (size_t i = 0; amd.temperature && i < ARRAY_SIZE(temperatures); i++)
		if (amd.temperature(handle, temperatures[i], NOW, &v) == 0 && v > 0)
			return to_celsius((double)v);
	return 0;
}

static double memory_of(int (*ask)(amd_device, int, uint64_t *), amd_device handle)
{
	uint64_t v = 0;

	return ask && ask(handle, MEMORY_VRAM, &v) == 0 ? (double)v : 0;
}

/* Where it is not told, every look counts as one at work. */
static bool is_working(amd_device handle)
{
	union filled f = {{0}};

	return !amd.activity || amd.activity(handle, &f) != 0 || f.u32[0] != 0;
}

/* "pci-0000:c1:00.0": as the library packs it. */
static bool read_address(const char *id, uint64_t *ret)
{
	unsigned domain, bus, device, function;

	if (sscanf(id, LOOK_BY_ADDRESS "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return false;
	*ret = (uint64_t)domain << 16 | (bus & 0xff) << 8 | (device & 0x1f) << 3 | (function & 7);
	return true;
}

static void *find(const char *id)
{
	struct device *d = calloc(1, sizeof(*d));
	double clocks[3] = {0};
	uint64_t address;

	if (!d || !read_address(id, &address) || amd.by_address(address, &d->handle) != 0) {
		free(d);
		return NULL;
	}
	clocks_of(d->handle, clocks);
	d->clock_limit = clocks[2];
	d->power_limit = power_limit_of(d->handle);
	d->memory_total = memory_of(amd.memory_total, d->handle);
	return d;
}

static void look(void *device, struct sensor_look *ret)
{
	const struct device *d = device;
	double clocks[3] = {0};

	clocks_of(d->handle, clocks);
	*ret = (struct sensor_look){.working = is_working(d->handle),
				    .clock_mhz = clocks[0],
				    .clock_limit_mhz = d->clock_limit,
				    .power_w = power_of(d->handle),
				    .power_limit_w = d->power_limit,
				    .temperature_c = temperature_of(d->handle),
				    .memory_bytes = memory_of(amd.memory, d->handle),
				    .memory_total_bytes = d->memory_total,
				    .errors = NAN};
}

/* Devices whose address is all that their library tells. */
static bool is_ours(const char *type, const char *id)
{
	(void)type;
	return !strncmp(id, LOOK_BY_ADDRESS, strlen(LOOK_BY_ADDRESS));
}

const struct look_source look_amdsmi = {.library = "libamd_smi.so",
					.is_its = is_ours,
					.open = open_library,
					.find = find,
					.look = look};
