/* SPDX-License-Identifier: MIT */
/* Stands in for PyTorch's libc10.so: the function by which its allocators tell profilers what there is. */
#include "config.h" // IWYU pragma: keep
#include <stddef.h>
#include <stdint.h>

struct device {
	int8_t type, index;
};

#define PUBLIC __attribute__((visibility("default")))

void report(void *p, int64_t more, size_t allocated, size_t reserved,
	    struct device device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
uint64_t c10_reported(void);

static uint64_t n_reported, sum;

/* What comes here is what was said. */
PUBLIC void report(void *p, int64_t more, size_t allocated, size_t reserved, struct device device)
{
	n_reported++;
	sum += (uintptr_t)p + (uint64_t)more + allocated + reserved + (uint8_t)device.type +
	       (uint8_t)device.index;
}

/* How often, and a sum of all that was said. */
PUBLIC uint64_t c10_reported(void)
{
	return n_reported << 48 ^ sum;
}
