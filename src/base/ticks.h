/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_TICKS_H
#define PROTON_BASE_TICKS_H
/* The processor's own counter of time. It is read in a few nanoseconds, orders nothing, and says nothing of
 * how long a tick is. */
#include <stdint.h>
#include "base/clock.h"

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return clock_monotonic_ns();
#endif
}

#endif
