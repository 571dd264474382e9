/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SCOPES_WANTED_H
#define PROTON_CORE_SCOPES_WANTED_H
/* Which warps record their scopes, of kernels that have some (include/proton/kernel.cuh), and what is made of their times. All 0: all do. */
#include <stdint.h>

/* Those whose number leaves this remainder; modulus 0: all. */
struct every_nth {
	uint32_t modulus, remainder;
};

struct scopes_wanted {
	uint32_t off;
	uint32_t warps; /* of a block, 1 << number; 0: all */
	struct every_nth blocks, multiprocessors;
	uint32_t time_shift; /* what records cost is taken out of times */
	uint32_t
		asked; /* somebody says that there are such kernels, which the program may not say by itself */
};

#endif
