/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OPENCL_QUEUE_H
#define PROTON_BACKENDS_OPENCL_QUEUE_H
/* What the files of the OpenCL backend share: the layer's state, and the queues.
 *
 *   program ── libOpenCL ── our table (hooks) ── opencl.next: the loader's table ── driver
 *
 * OpenCL passes nothing of ours to the hooks, so there is one state a process. */
#include <stdbool.h>
#include "backends/opencl_abi.h"
#include "core/activity.h"

struct opencl {
	struct activity_sink *sink; /* NULL: off, every hook only passes on */
	bool connected;             /* a queue was made, or something allocated */
	bool sync;                  /* waits are recorded */
	bool memory;                /* … and what is allocated */
	bool idle;                  /* it is said what is delivered */
	void *next[OPENCL_N_PLACES];
};

extern struct opencl opencl;

/* The function below us. */
#define OPENCL_NEXT(function) ((opencl_##function *)opencl.next[OPENCL_##function])

static inline struct activity_sink *opencl_sink(void)
{
	return __atomic_load_n(&opencl.sink, __ATOMIC_ACQUIRE);
}

/* Longest list of properties that we rewrite, with its terminator. */
#define OPENCL_LIST_MAX 16

struct opencl_queue {
	uint32_t refs;    /* the program's references; 0: released, its events may live on */
	uint32_t stream;  /* 1, 2, … */
	uint32_t context; /* 1, 2, … */
	int32_t device;
	bool hidden;    /* profiling is on, but the program did not ask for it */
	uint8_t n_list; /* the program's list of properties; 0: it gave none, NULL included */
	bool with_list; /* clCreateCommandQueueWithProperties() */
	uint64_t list[OPENCL_LIST_MAX];
};

/* The queue of a command, learnt about now when it was made behind our back. NULL: not a queue. */
const struct opencl_queue *opencl_queue_get(cl_command_queue queue);
void opencl_queue_forked(void);

/* There is something to deliver from now on. */
void opencl_connect(struct activity_sink *sink);
#define OPENCL_MAX_DEVICES 64
/* Their numbers; those beyond a bound share the last one. */
int32_t opencl_device_index(cl_device_id device);
uint32_t opencl_context_id(cl_context context);

/* Hooks of functions that make queues or tell about them. */
opencl_clCreateCommandQueue opencl_hook_clCreateCommandQueue;
opencl_clCreateCommandQueueWithProperties opencl_hook_clCreateCommandQueueWithProperties;
opencl_clRetainCommandQueue opencl_hook_clRetainCommandQueue;
opencl_clReleaseCommandQueue opencl_hook_clReleaseCommandQueue;
opencl_clGetCommandQueueInfo opencl_hook_clGetCommandQueueInfo;
opencl_clGetEventProfilingInfo opencl_hook_clGetEventProfilingInfo;

#endif
