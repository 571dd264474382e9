/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_INTRA_MODE_H
#define PROTON_INTRA_INTRA_MODE_H
/* How scopes within kernels are recorded, in the words of Triton's Proton:
 *
 *     default:buffer_type=shared:buffer_size=4096:sampling_strategy=selective:sampling_options=0,1:optimizations=clock32,time_shift
 *     name    key         value   …
 *
 * A value may be written as Triton's compiler has it, "BUFFER_TYPE.SHARED", too.
 *   thread  any */
#include <stdbool.h>
#include <stdint.h>
#include "intra/warp_set.h"

enum intra_buffer { INTRA_SHARED, INTRA_GLOBAL };

/* Bits. */
enum intra_optimization {
	INTRA_TIME_SHIFT = 1,     /* what records cost is taken out of times, when they are read */
	INTRA_SCHED_STORES = 2,   /* a scope begins to be written where it ends */
	INTRA_SCHED_BARRIERS = 4, /* means something to compilers for AMD alone */
	INTRA_CLOCK32 = 8,
};

#define INTRA_ALL_WARPS UINT32_MAX

struct intra_mode {
	enum intra_buffer buffer;
	uint32_t buffer_bytes;  /* of a block; 0: as many as are good */
	uint32_t warps;         /* 1 << warp: those that record */
	uint32_t optimizations; /* enum intra_optimization */
};

enum { INTRA_WHY_MAX = 256 };

/* NULL and "" are "default". -EINVAL: why says what is wrong with it. */
int intra_mode_parse(const char *text, struct intra_mode *ret, char why[INTRA_WHY_MAX]);
/* What it asks for and code that is put into PTX for a GPU of NVIDIA's has not, or has in any case: sentences. False: nothing. */
bool intra_mode_ignored(const struct intra_mode *mode, char ret[INTRA_WHY_MAX]);

#endif
