/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OPENCL_MEMORY_H
#define PROTON_BACKENDS_OPENCL_MEMORY_H
/* What a program allocates by OpenCL: buffers, images, pipes, memory shared with the host (SVM). */
#include <stdbool.h>
#include "backends/opencl_abi.h"

/* Of each function that allocates or releases: FUNCTION(name). */
#define OPENCL_MEMORY_FUNCTIONS(_)                                                                 \
	_(clCreateBuffer)                                                                          \
	_(clCreateBufferWithProperties)                                                            \
	_(clCreateImage)                                                                           \
	_(clCreateImageWithProperties)                                                             \
	_(clCreateImage2D)                                                                         \
	_(clCreateImage3D)                                                                         \
	_(clCreatePipe)                                                                            \
	_(clReleaseMemObject)                                                                      \
	_(clSVMAlloc)                                                                              \
	_(clSVMFree)                                                                               \
	_(clEnqueueSVMFree)

#define _(function) opencl_##function opencl_hook_##function;
OPENCL_MEMORY_FUNCTIONS(_)
#undef _

/* What was allocated and released up to now is all told. */
void opencl_memory_settle(bool force);
void opencl_memory_forked(void);

#endif
