/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_TOTALS_H
#define PROTON_COLLECT_TORCH_TOTALS_H
/* How much PyTorch's caching allocator has of each device, and what of it tensors use (torch_memory.h). */
#include <stdbool.h>
#include <stdint.h>
#include "collect/pool_growth.h"

enum { TORCH_DEVICES_MAX = 64 };

struct torch_totals {
	int32_t device;
	struct pool_level now; /* used: by tensors */
	struct pool_peaks peaks;
	uint64_t used_at_ns; /* when tensors used the most, CLOCK_REALTIME */
};

/* How it is after an allocation of so many bytes (0: it was none), and whether that made it grow. Of a device one at a
 * time: PyTorch holds its allocator's lock. */
struct pool_growth torch_totals_keep(unsigned device, uint64_t bytes, uint64_t used,
				     uint64_t reserved);
/* Has it ever told anything? */
bool torch_totals_any(void);
/* Those that have changed since the last time, one by one, from device *at on. False: no more of them.
 *   thread  one at a time */
bool torch_totals_changed(int32_t *at, struct torch_totals *ret);
void torch_totals_forked(void);

#endif
