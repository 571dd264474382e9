/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OMPT_ABI_H
#define PROTON_BACKENDS_OMPT_ABI_H
/* OMPT, the tools interface of OpenMP 5.1 and later, in our own words: what we use of <omp-tools.h>.
 * tests/unit/test_ompt_abi.c compares it with that header. */
#include <stddef.h>
#include <stdint.h>

/* A word that the runtime keeps for the tool: of a task, a region, a construct. */
union ompt_word {
	uint64_t value;
	void *pointer;
};

typedef void (*ompt_function)(void);
/* Functions of the runtime, by name. */
typedef ompt_function ompt_lookup_fn(const char *name);

/* What ompt_start_tool() returns. initialize() returns 0 to be left alone for good. */
struct ompt_tool {
	int (*initialize)(ompt_lookup_fn *lookup, int initial_device, union ompt_word *word);
	void (*finalize)(union ompt_word *word);
	union ompt_word word;
};

/* "ompt_set_callback": how often it will be called, ABI_SET_*. */
typedef int ompt_set_callback_fn(int event, ompt_function callback);

enum {
	ABI_SET_SOMETIMES = 3, /* less: never */

	ABI_PARALLEL_BEGIN = 3, /* events */
	ABI_PARALLEL_END = 4,
	ABI_DEVICE_INITIALIZE = 12,
	ABI_TARGET = 33,
	ABI_TARGET_DATA_OP = 34,
	ABI_TARGET_SUBMIT = 35,

	ABI_BEGIN = 1, /* endpoints */
	ABI_END = 2,

	ABI_TARGET_REGION = 1, /* kinds of target constructs; with "nowait", 8 more */
	ABI_TARGET_ENTER_DATA = 2,
	ABI_TARGET_EXIT_DATA = 3,
	ABI_TARGET_UPDATE = 4,
	ABI_TARGET_NOWAIT = 8,

	ABI_TO_DEVICE = 2, /* operations on data; asynchronous ones have 16 more */
	ABI_FROM_DEVICE = 3,
	ABI_ASYNC = 16,
};
#define ABI_LEAGUE UINT32_C(0x40000000) /* of a parallel region: "teams" made it */

/* The callbacks. `code` is where the construct returns to in the program. */
typedef void ompt_parallel_begin_fn(union ompt_word *task, const void *frame,
				    union ompt_word *region, unsigned n_threads, int flags,
				    const void *code);
typedef void ompt_parallel_end_fn(union ompt_word *region, union ompt_word *task, int flags,
				  const void *code);
typedef void ompt_device_initialize_fn(int device, const char *type, void *handle,
				       ompt_lookup_fn *lookup, const char *documentation);
typedef void ompt_target_fn(int kind, int endpoint, int device, union ompt_word *task,
			    union ompt_word *target_task, union ompt_word *target,
			    const void *code);
typedef void ompt_target_data_op_fn(int endpoint, union ompt_word *target_task,
				    union ompt_word *target, uint64_t *operation, int kind,
				    void *src, int src_device, void *dst, int dst_device,
				    size_t bytes, const void *code);
typedef void ompt_target_submit_fn(int endpoint, union ompt_word *target, uint64_t *operation,
				   unsigned n_teams);

#endif
