/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/clock.h"
#include <stdatomic.h>
#include <time.h>
#include "base/util.h"

enum { PAIR_TRIES = 4 };

static _Atomic uint64_t fake_now_ns; /* threads of the program under test read it */

static uint64_t clock_read(clockid_t id)
{
	uint64_t fake_ns = atomic_load_explicit(&fake_now_ns, memory_order_relaxed);
	struct timespec ts;

	if (_unlikely_(fake_ns))
		return fake_ns;
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

uint64_t clock_with_realtime_ns(uint64_t (*steady_ns)(void), uint64_t *ret_realtime_ns)
{
	uint64_t best_ns = 0, gap = UINT64_MAX;

	for (unsigned i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = steady_ns(), now = clock_realtime_ns(), after = steady_ns();

		if (after - before >= gap)
			continue;
		gap = after - before;
		best_ns = before + gap / 2;
		*ret_realtime_ns = now;
	}
	return best_ns;
}

uint64_t clock_to_monotonic_ns(void)
{
	uint64_t realtime_ns = 0,
		 monotonic_ns = clock_with_realtime_ns(clock_monotonic_ns, &realtime_ns);

	return monotonic_ns - realtime_ns;
}

void clock_fake(uint64_t now_ns)
{
	atomic_store(&fake_now_ns, now_ns);
}
