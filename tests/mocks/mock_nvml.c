/* SPDX-License-Identifier: MIT */
/* A libnvidia-ml.so.1 without a GPU. Its devices say what the file $MOCK_NVML says at that moment: lines
 * "KEY NUMBER". What the file lacks is not supported. "crash" and "hang" are what they say; "scribble" writes
 * over the memory that is shared with others. Looks are counted (note_look.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "note_look.h"

#define EXPORT __attribute__((visibility("default")))

enum { NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int of_file(const char *key, unsigned long long *ret)
{
	const char *path = getenv("MOCK_NVML");
	FILE *f = path ? fopen(path, "re") : NULL;
	char name[32];
	int r = NOT_SUPPORTED;

	while (f && fscanf(f, "%31s %llu", name, ret) == 2)
		if (!strcmp(name, key)) {
			r = 0;
			break;
		}
	if (f)
		fclose(f);
	return r;
}

static int number(const char *key, unsigned *ret)
{
	unsigned long long v;
	int r = of_file(key, &v);

	if (r == 0)
		*ret = (unsigned)v;
	return r;
}

EXPORT int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	return 0;
}

/* "devices N": so many, by the uuids of those of mock_cuda.c. */
EXPORT int nvmlDeviceGetCount_v2(unsigned *ret);
int nvmlDeviceGetCount_v2(unsigned *ret)
{
	return number("devices", ret);
}

static char handles[64];

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **ret)
{
	*ret = &handles[i];
	return 0;
}

EXPORT int nvmlDeviceGetUUID(void *device, char *ret, unsigned size);
int nvmlDeviceGetUUID(void *device, char *ret, unsigned size)
{
	unsigned n = 16 * (unsigned)((char *)device - handles);

	snprintf(ret, size,
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", n,
		 n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11,
		 n + 12, n + 13, n + 14, n + 15);
	return 0;
}

EXPORT int nvmlDeviceGetName(void *device, char *ret, unsigned size);
int nvmlDeviceGetName(void *device, char *ret, unsigned size)
{
	snprintf(ret, size, "Mock GPU %d", (int)((char *)device - handles));
	return 0;
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret)
{
	unsigned long long is_part = 0;

	*ret = ret;
	(void)of_file("part", &is_part);
	return !strncmp(uuid, "MIG-", 4) == (is_part != 0) ? 0 : NOT_FOUND;
}

/* Over each small mapping that is shared and may be written. */
static void scribble(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[256], rights[5];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 &&
		    !strcmp(rights, "rw-s") && to - from < 1 << 20)
			memset((void *)from, 0x7f, to - from);
	if (f)
		fclose(f);
}

EXPORT int nvmlDeviceGetClockInfo(void *device, int which, unsigned *ret);
int nvmlDeviceGetClockInfo(void *device, int which, unsigned *ret)
{
	unsigned long long v;

	(void)device;
	note_look(getenv("MOCK_NVML"));
	if (of_file("crash", &v) == 0)
		abort();
	if (of_file("scribble", &v) == 0)
		scribble();
	while (of_file("hang", &v) == 0)
		sleep(1);
	return number(which == 1 ? "clock" : "other_clock", ret);
}

EXPORT int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *ret);
int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *ret)
{
	(void)device;
	return number(which == 1 ? "clock_limit" : "other_clock", ret);
}

EXPORT int nvmlDeviceGetTemperature(void *device, int which, unsigned *ret);
int nvmlDeviceGetTemperature(void *device, int which, unsigned *ret)
{
	(void)device;
	return which ? NOT_SUPPORTED : number("temperature", ret);
}

#define NUMBER(function, key)                                                                      \
	EXPORT int function(void *device, unsigned *ret);                                          \
	int function(void *device, unsigned *ret)                                                  \
	{                                                                                          \
		(void)device;                                                                      \
		return number(key, ret);                                                           \
	}
NUMBER(nvmlDeviceGetPowerUsage, "power_mw")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "generation")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "generation_limit")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "width")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "width_limit")

EXPORT int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3]);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
	(void)device;
	ret[1] = 0;
	return of_file("memory_total", &ret[0]) ? NOT_SUPPORTED : of_file("memory", &ret[2]);
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret)
{
	(void)device;
	return of_file("reasons", ret);
}

EXPORT int nvmlDeviceGetTotalEccErrors(void *device, int kind, int since, unsigned long long *ret);
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int since, unsigned long long *ret)
{
	(void)device;
	return kind == 1 && since == 0 ? of_file("errors", ret) : NOT_SUPPORTED;
}

struct process {
	unsigned pid;
	unsigned long long used;
	unsigned gpu_instance, compute_instance;
};

/* pid0, pid1 … as far as the file names them. */
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *list);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *list)
{
	unsigned room = *n;
	char key[16];

	(void)device;
	for (*n = 0; *n < room; (*n)++) {
		snprintf(key, sizeof(key), "pid%u", *n);
		if (number(key, &list[*n].pid))
			break;
	}
	return 0;
}
