/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TTGIR_POSITIONS_H
#define PROTON_TTGIR_POSITIONS_H
/* What locations of operations say of the source: files and lines. A location is one of
 *
 *   "k.py":10:16 │ "x"(LOCATION) │ callsite(LOCATION at LOCATION) │ fused[LOCATION, …] │ #loc3 │ unknown
 */
#include "ttgir/module.h"

struct ttgir_position {
	struct ttgir_text file; /* as it is written: with \ before some signs */
	uint32_t line;
};

/* A line; true: that is enough. */
typedef bool position_fn(void *ctx, const struct ttgir_position *position);

/* The lines of an operation, that of the kernel itself before those of what it calls there. Was there one that was enough? */
bool ttgir_positions(const struct ttgir *m, const struct ttgir_op *op, position_fn *fn, void *ctx);
/* The first of these. False: there is none. */
bool ttgir_position(const struct ttgir *m, const struct ttgir_op *op, struct ttgir_position *ret);
/* The last part of the path of a file. */
struct ttgir_text ttgir_base_name(struct ttgir_text file);

#endif
