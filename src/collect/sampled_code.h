/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_SAMPLED_CODE_H
#define PROTON_COLLECT_SAMPLED_CODE_H
/* Samples of the code of kernels, to the calling contexts of these (core/pc_samples.h, ADR 63).
 *
 * A sample says in which function a device was, but neither when nor for whom. What was sampled between two times that
 * it is read is therefore divided among the contexts of that kernel by how long it ran for each of them in between:
 *
 *     ran      k of a: 3 ms   k of b: 1 ms        sums are exact: what does not divide is carried
 *     sampled  k+0x10: 41  ─> a 31, b 10
 *
 * Samples of a kernel that goes on wait for its end, at most for PC_WAIT_READS reads where it never ended before. In
 * exact mode a sample names the launch, and goes to its context alone.
 *   thread  sampled_code_ran() those that deliver records; the others whoever reads, one at a time */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/activity.h"

/* A kernel ran, with this slot for its values. */
void sampled_code_ran(uint32_t slot, const struct activity *a);
void sampled_code_add(uint8_t source, const struct pc_sampled *s);
void sampled_code_divide(bool last);
/* Keep the code for who names its lines: a file of the session's directory. */
void sampled_code_cubin(uint64_t cubin, const void *data, size_t size);
void sampled_code_forked(void);

#endif
