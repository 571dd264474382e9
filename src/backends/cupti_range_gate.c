/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_range_gate.h"
#include <stdatomic.h>
#include <time.h>
#include "base/clock.h"
#include "base/util.h"

enum {
	CLOSE_MS = 1000, /* for what is under way: a kernel that runs once a pass */
	ENTER_MS = 3000, /* for that, the device and a flush */
};

static atomic_bool is_closed;
static _Atomic unsigned n_inside;

static bool await(bool (*is_so)(void), unsigned ms)
{
	const struct timespec nap = {0, NSEC_PER_MSEC / 20};
	uint64_t until_ns = clock_monotonic_ns() + ms * NSEC_PER_MSEC;

	while (!is_so()) {
		if (clock_monotonic_ns() > until_ns)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

static bool is_open(void)
{
	return !atomic_load(&is_closed);
}

static bool is_empty(void)
{
	return !atomic_load(&n_inside);
}

/* Who enters counts itself before it looks, and who closes looks after that: one of them sees the other. */
void range_gate_enter(void)
{
	atomic_fetch_add(&n_inside, 1);
	while (!is_open()) {
		atomic_fetch_sub(&n_inside, 1);
		if (!await(is_open, ENTER_MS))
			range_gate_break();
		atomic_fetch_add(&n_inside, 1);
	}
}

void range_gate_leave(void)
{
	atomic_fetch_sub(&n_inside, 1);
}

void range_gate_break(void)
{
	atomic_store(&is_closed, false);
}

bool range_gate_close(void)
{
	atomic_store(&is_closed, true);
	if (!await(is_empty, CLOSE_MS))
		range_gate_open();
	return range_gate_is_closed();
}

bool range_gate_is_closed(void)
{
	return !is_open();
}

void range_gate_open(void)
{
	atomic_store(&is_closed, false);
}
