/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PROGRAMS_SESSION_APP_H
#define TESTS_PROGRAMS_SESSION_APP_H
/* What programs that start sessions share: launches of the mock libcuda, and words on how a call went. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "proton/proton.h"

static uint32_t (*launch)(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
			  uint32_t, void *, void **, void **);

static inline void open_cuda(const char *path)
{
	void *driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	uint32_t (*init)(uint32_t flags);

	if (!driver) {
		fprintf(stderr, "cannot open the driver: %s\n", dlerror());
		exit(2);
	}
	*(void **)&init = dlsym(driver, "cuInit");
	*(void **)&launch = dlsym(driver, "cuLaunchKernel");
	init(0);
}

static inline void run(const char *kernel, int n)
{
	while (n--)
		launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static inline void say(const char *what, int status)
{
	printf("%s %d%s%s\n", what, status, status < 0 ? " " : "",
	       status < 0 ? proton_session_error() : "");
	fflush(stdout);
}

#endif
