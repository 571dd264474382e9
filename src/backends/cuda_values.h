/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUDA_VALUES_H
#define PROTON_BACKENDS_CUDA_VALUES_H
/* Numbers that a CUDA graph computes, brought to the host each time it runs.
 *
 * A stream that is being captured cannot be waited for, and what a tensor holds then is nothing yet. So a small
 * kernel becomes a node of the graph, behind what computes the number:
 *
 *     … kernel ── proton_metric ── kernel …       in the device: its runs++, its sum += number
 *                      └── ring of the context, in memory of the host: { value, run, number, sum }
 *
 * The record of that node says that it ran, and where; the number of that run is in the ring by then, and waits in a
 * queue of the value's. Where records are so late that the ring went round, one of them is given the numbers of
 * all that were missed, so that sums are whole.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cuda_value_kind {
	CUDA_VALUE_F64,
	CUDA_VALUE_F32,
	CUDA_VALUE_F16,
	CUDA_VALUE_BF16,
	CUDA_VALUE_I64, /* this one and those below are whole */
	CUDA_VALUE_I32,
	CUDA_VALUE_I16,
	CUDA_VALUE_I8,
	CUDA_VALUE_U8,
	CUDA_VALUE_N_KINDS
};

/* n numbers at `device_memory`, one behind the other, at the point that `stream` is captured to: as many as a vector
 * has at most (METRIC_VECTOR_MAX).
 *   errors  0, with a sentence in *ret_why: the driver, or there are too many
 * Returns a number that stands for the first of them; the others follow. */
uint32_t cuda_values_capture(void *stream, uint64_t device_memory, enum cuda_value_kind kind,
			     size_t n, const char **ret_why);

union cuda_number {
	int64_t whole;
	double real;
};

struct cuda_run {
	union cuda_number number;
	union cuda_number all; /* … and those of before that were missed */
};

/* What the next run brought, as its kind is. False: it came with one before, or it is lost. */
bool cuda_value_next(uint32_t value, struct cuda_run *ret);

/* Is this where we keep numbers, which the driver was told of? It is no memory of the program. */
bool cuda_values_owns(uint64_t address);

/* A context goes away, and with it what was loaded there. */
void cuda_values_forget(void);
/* In a fork child: graphs are the parent's. */
void cuda_values_forked(void);

#endif
