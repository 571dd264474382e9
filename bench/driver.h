/* SPDX-License-Identifier: MIT */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H
/* Functions of the driver, for programs that are not linked with it. Before this is included:
 *
 *   #define DRIVER(_) \
 *           _(Init, "cuInit", (unsigned)) …      name, symbol, parameters
 *
 * CHECK(driver.Init(0)) ends the program where one fails. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
#define _(name, symbol, parameters) CUresult(*name) parameters;
	DRIVER(_)
#undef _
} driver;

#define CHECK(call)                                                                                \
	do {                                                                                       \
		CUresult result_ = (call);                                                         \
		if (result_ != CUDA_SUCCESS) {                                                     \
			fprintf(stderr, "%s: error %d\n", #call, result_);                         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void load_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

#define _(name, symbol, parameters)                                                                \
	driver.name = library ? (CUresult(*) parameters)dlsym(library, symbol) : NULL;             \
	if (!driver.name) {                                                                        \
		fprintf(stderr, "no %s\n", symbol);                                                \
		exit(1);                                                                           \
	}
	DRIVER(_)
#undef _
}

#endif
