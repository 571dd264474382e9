/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_WARPS_WANTED_H
#define PROTON_CORE_WARPS_WANTED_H
/* Of which launches single scopes of single warps are kept, not their sums alone: the first, the slowest and the last ones
 * of each kernel, in each process (intra/launch_choice.h). */
#include <stdint.h>

struct warps_wanted {
	uint32_t launches; /* of a kernel; 0: of none */
	uint32_t reserved;
	uint64_t bytes; /* of all together, in a file */
};

#define WARPS_LAUNCHES_USUAL 6
#define WARPS_LAUNCHES_MOST  100000
#define WARPS_BYTES_USUAL    (UINT64_C(64) << 20)
#define WARPS_BYTES_LEAST    (UINT64_C(1) << 20)
#define WARPS_BYTES_MOST     (UINT64_C(64) << 30)

#endif
