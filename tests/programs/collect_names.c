/* SPDX-License-Identifier: MIT */
/* Many names: collect_names LIBCUDA count|spell NAMES LAUNCHES.
 *
 * Enters a scope NAMES times, each time of another name, and launches `add` LAUNCHES times in it: "step 0",
 * "step 1" …, or words of which no two are alike. Prints how much memory the process has, in KiB, when
 * half of that is done and at the end. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "proton/proton.h"

static uint32_t (*launch)(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
			  uint32_t, void *, void **, void **);
static uint32_t (*synchronize)(void);

static void open_cuda(const char *path)
{
	void *driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	uint32_t (*init)(uint32_t flags);

	if (!driver) {
		fprintf(stderr, "collect_names: %s\n", dlerror());
		exit(2);
	}
	*(void **)&init = dlsym(driver, "cuInit");
	*(void **)&launch = dlsym(driver, "cuLaunchKernel");
	*(void **)&synchronize = dlsym(driver, "cuCtxSynchronize");
	init(0);
}

/* The mock of CUPTI delivers on a thread of its own, which on a busy machine may have no turn until the memory
 * for records is full: what is complete is delivered here. */
static void take_records(void)
{
	const char *path = getenv("PROTON_CUPTI_PATH");
	void *cupti = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	uint32_t (*flush)(uint32_t flags) = NULL;

	synchronize();
	if (cupti)
		*(void **)&flush = dlsym(cupti, "cuptiActivityFlushAll");
	if (flush)
		flush(0);
	if (cupti)
		dlclose(cupti);
}

static void put_name(char name[32], long i, bool counts)
{
	if (counts) {
		snprintf(name, 32, "step %ld", i);
		return;
	}
	memset(name, 'a', 12);
	name[12] = '\0';
	for (int at = 11; i; i /= 26)
		name[at--] = (char)('a' + i % 26);
}

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

int main(int argc, char **argv)
{
	long n_names, n_launches, half = 0;
	char name[32];

	if (argc < 5)
		return 2;
	n_names = strtol(argv[3], NULL, 10);
	n_launches = strtol(argv[4], NULL, 10);
	open_cuda(argv[1]);
	for (long i = 0; i < n_names; i++) {
		put_name(name, i, !strcmp(argv[2], "count"));
		proton_enter_scope(name);
		for (long j = 0; j < n_launches; j++)
			launch("add", 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		proton_exit_scope();
		if (i % 1000 == 0)
			take_records();
		if (i == n_names / 2)
			half = resident_kib();
	}
	synchronize();
	printf("%ld %ld\n", half, resident_kib());
	return 0;
}
