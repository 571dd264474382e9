/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_HOST_CLOCK_H
#define PROTON_COLLECT_HOST_CLOCK_H
/* The clock that scopes are timed by. It stands while collecting is paused.
 *
 *     the kernel's clock ── held against it for a while ──> the processor's counter ─┬─> less all pauses
 *                        └───────────── until then, or where it is not fit ──────────┘
 *
 * A scope reads it twice. Asking the kernel's (even without a call into it) takes half of what a scope costs. */
#include "base/ticks.h"
#include "collect/internal.h"

enum { TICK_SHIFT = 32 }; /* of the rate: nanoseconds a tick */

static inline uint64_t ticks_to_ns(uint64_t n, uint64_t rate)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)((__extension__(unsigned __int128) n * rate) >> TICK_SHIFT);
#else
	(void)rate; /* never one */
	return n;
#endif
}

static inline uint64_t steady_ns(void)
{
	uint64_t rate = atomic_load_explicit(&collector->tick_rate, memory_order_acquire);

	if (_unlikely_(!rate))
		return clock_monotonic_ns();
	return ticks_to_ns(ticks(), rate) +
	       atomic_load_explicit(&collector->tick_base, memory_order_relaxed);
}

/* One word is all there is of a pause, for scopes that begin before it and end after it, on any thread: how
 * far the host clock is behind the steady one, or while collecting is paused, what it shows. */
#define PAUSED (UINT64_C(1) << 63)

static inline bool is_paused(void)
{
	return atomic_load_explicit(&collector->pause, memory_order_relaxed) & PAUSED;
}

/* Nanoseconds, never 0. */
static inline uint64_t host_clock_ns(void)
{
	uint64_t pause = atomic_load_explicit(&collector->pause, memory_order_relaxed);

	return pause & PAUSED ? pause & ~PAUSED : steady_ns() - pause;
}

/* The sender's thread alone pauses and goes on. */
void pause_set(bool paused);
/* … and looks now and then, at least once a period, whether the processor's counter can be used, and still can. */
void host_clock_look(void);
/* How long until the next look, at most. */
uint32_t host_clock_nap_ms(void);

#endif
