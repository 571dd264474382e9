/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_TOTALS_H
#define PROTON_COLLECT_TORCH_TOTALS_H
/* How much PyTorch's caching allocator has of each device, and what of it tensors use (torch_memory.h). */
#include <stdbool.h>
#include <stdint.h>

enum { TORCH_DEVICES_MAX = 64 };

struct torch_totals {
	int32_t device;
	uint64_t allocated, allocated_peak, peak_at_ns; /* by tensors; CLOCK_REALTIME */
	uint64_t reserved, reserved_peak;               /* of the device */
};

/* Of a device one at a time: PyTorch holds its allocator's lock. */
void torch_totals_keep(unsigned device, uint64_t allocated, uint64_t reserved);
/* Has it ever told anything? */
bool torch_totals_any(void);
/* Those that have changed since the last time, one by one, from device *at on. False: no more of them.
 *   thread  one at a time */
bool torch_totals_changed(int32_t *at, struct torch_totals *ret);
void torch_totals_forked(void);

#endif
