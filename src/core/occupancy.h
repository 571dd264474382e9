/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_OCCUPANCY_H
#define PROTON_CORE_OCCUPANCY_H
/* What a multiprocessor has room for of a kernel, by how it is launched alone: no counter is asked.
 *
 *     blocks ─┬─ on a multiprocessor at once: the least of what registers, shared memory, warps and blocks allow
 *             └─ all of them at once are a wave; the last wave may leave room that nothing fills
 *
 * The arithmetic is that of NVIDIA's cuda_occupancy.h, with as much shared memory as there can be. The price of an
 * empty part of a wave is an upper estimate: as if all blocks took equally long.
 *   thread  any */
#include <math.h>
#include <stdint.h>
#include "core/launch_config.h"

/* What there is on a multiprocessor. */
struct sm_limits {
	unsigned capability; /* 10 * major + minor */
	unsigned warps, blocks;
	unsigned shared_bytes;    /* at most, of what it has in common with the cache */
	unsigned shared_unit;     /* shared memory is given to blocks in pieces of so many bytes */
	unsigned shared_reserved; /* … of which the driver keeps so many for each block */
};

/* NULL: not known. */
const struct sm_limits *sm_limits_find(unsigned capability);

/* What keeps more blocks away from a multiprocessor; several, where all of them do. */
enum launch_limit {
	LIMIT_REGISTERS = 1,
	LIMIT_SHARED = 2, /* memory */
	LIMIT_WARPS = 4,
	LIMIT_BLOCKS = 8,
};

struct occupancy {
	unsigned blocks;   /* that run on a multiprocessor at once; 0: not known, as is all below */
	unsigned limits;   /* enum launch_limit */
	double ratio;      /* of the warps that it has room for; NaN: not known, likewise below */
	double waves;      /* grids of clusters, or of unknown size: NaN */
	double tail_ratio; /* of the last wave's room nothing has; 0 where there is one wave only */
	double tail_cost;  /* … so large a share of the kernel's time at most */
	double unused_ratio; /* of multiprocessors that get no block, for the grid has fewer */
};

/* n_sms: of the device; 0: not known. */
struct occupancy occupancy_of(const struct launch_config *config, const struct sm_limits *limits,
			      unsigned n_sms);

#define LAUNCH_LIMITS_TEXT 48
/* "regs", "regs+shared", "full" (all warps are there); "-": not known. Returns out. */
const char *occupancy_limits_text(const struct occupancy *o, char out[LAUNCH_LIMITS_TEXT]);

#endif
