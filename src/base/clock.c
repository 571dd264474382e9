/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/clock.h"
#include <time.h>
#include "base/util.h"

static uint64_t fake_now_ns;

static uint64_t clock_read(clockid_t id)
{
	struct timespec ts;

	if (_unlikely_(fake_now_ns))
		return fake_now_ns;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_ns(void)
{
	return clock_read(CLOCK_REALTIME);
}

uint64_t clock_thread_cpu_ns(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

void clock_fake(uint64_t now_ns)
{
	fake_now_ns = now_ns;
}
