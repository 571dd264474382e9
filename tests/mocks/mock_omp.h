/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_MOCK_OMP_H
#define PROTON_TESTS_MOCK_OMP_H
/* A runtime of OpenMP with OMPT, and its part for devices, which do nothing but tell their tool. The
 * library is called libomptarget.so: that is what the tool looks for. */
#include <stdbool.h>
#include <stddef.h>
#include "backends/ompt_abi.h"

typedef struct ompt_tool *mock_omp_start_fn(unsigned version, const char *runtime);

struct mock_omp {
	/* Start a tool: of the process, else of OMP_TOOL_LIBRARIES, as LLVM's runtime does; or this
	 * one. Was there one that wants to be called? */
	bool (*start)(void);
	bool (*start_with)(mock_omp_start_fn *start);
	void (*finish)(void);
	/* A device comes up. */
	void (*device)(int device, const char *type);
	/* The calling thread is at this end of a construct. */
	void (*target)(int kind, int endpoint, int device, const void *code);
	void (*parallel)(int endpoint, int flags, const void *code);
	/* It copies, or runs a kernel. */
	void (*copy)(int kind, int src_device, int dst_device, size_t bytes);
	void (*kernel)(void);
	/* The same without the words that a runtime keeps, and an end without a begin. */
	void (*wordless)(int device);
	bool never;   /* ompt_set_callback() answers that it will not call, as LLVM 14 does */
	int n_events; /* that it was asked for */
};

/* dlsym(handle, "mock_omp") */
typedef struct mock_omp *mock_omp_fn(void);

#endif
