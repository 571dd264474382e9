/* SPDX-License-Identifier: MIT */
/* Can scopes be timed by the processor's counter? Where the kernel itself takes the time from it, which it does
 * as long as the counters of all processors go at one rate and agree. How long a tick is says the kernel's clock:
 * two stretches of time in a row must say the same. From then on the counter is held against that clock: it may not
 * jump (the machine was suspended, or is another one now). */
#include "config.h" // IWYU pragma: keep
#include "collect/host_clock.h"
#include <string.h>
#include <sys/prctl.h>
#include "collect/own_fd.h"

enum {
	STRETCH_MS = 10,      /* at least, of which a rate is made */
	FOLLOW_MS = 50,       /* … between two looks then */
	AGREE = 10000,        /* two rates differ by one part of so many at most */
	TRIES = 5,            /* to read both clocks at once: */
	AT_ONCE_TICKS = 1000, /* within less than a microsecond */
	JUMP_MS = 1,
	JUMPS_MAX = 3,     /* in a row: its rate is another one */
	SOURCE_EVERY = 64, /* looks */
};

/* Both clocks at one moment. */
struct reading {
	uint64_t ticks, ns;
};

/* owner: the sender thread */
static struct {
	bool is_unfit;
	struct reading from; /* the stretch that is under way began; ns 0: none has */
	uint64_t rate;       /* of the one before; 0: none */
	uint64_t next_ns;    /* the next look is due */
	int64_t ahead_ns;    /* the kernel's clock, at the last look */
	unsigned n, n_jumps;
} look;

void pause_set(bool paused)
{
	uint64_t clock = host_clock_ns();

	if (paused && !is_paused())
		atomic_store(&collector->pause, clock | PAUSED);
	else if (!paused && is_paused())
		atomic_store(&collector->pause, steady_ns() - clock);
}

#if defined(__x86_64__) && defined(__SIZEOF_INT128__)
/* A program may forbid itself the instruction: then the kernel's clock, which uses it too, is as deadly. */
static bool is_fit(void)
{
	char source[16];
	int allowed = 0;

	return own_fd_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
				source, sizeof(source)) > 0 &&
	       !strcmp(source, "tsc\n") && prctl(PR_GET_TSC, &allowed) == 0 &&
	       allowed == PR_TSC_ENABLE;
}

static uint64_t rate_of(const struct reading *from, const struct reading *to)
{
	return (uint64_t)((__extension__(unsigned __int128)(to->ns - from->ns) << TICK_SHIFT) /
			  (to->ticks - from->ticks));
}
#else
static bool is_fit(void)
{
	return false;
}

static uint64_t rate_of(const struct reading *from, const struct reading *to)
{
	(void)from;
	(void)to;
	return 0;
}
#endif

/* False: something came in between each time. */
static bool read_both(struct reading *ret)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = ticks(), ns = clock_monotonic_ns(), took = ticks() - before;

		if (took > AT_ONCE_TICKS)
			continue;
		*ret = (struct reading){before + took / 2, ns};
		return true;
	}
	return false;
}

static bool agree(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= a / AGREE;
}

/* The end of a stretch is the beginning of the next. */
static void measure(const struct reading *now)
{
	uint64_t rate, before = look.rate;

	if (look.from.ns && now->ticks > look.from.ticks) {
		rate = rate_of(&look.from, now);
		look.rate = rate;
		if (rate && before && agree(rate, before)) {
			atomic_store(&collector->tick_base,
				     now->ns - ticks_to_ns(now->ticks, rate));
			atomic_store_explicit(&collector->tick_rate, rate, memory_order_release);
		}
	}
	look.from = *now;
}

static void give_up(void)
{
	look.is_unfit = true;
	atomic_store(&collector->tick_rate, 0);
}

/* The kernel's clock is led by those of others, a little faster or slower: that is not followed, and makes no
 * difference to how long something took. */
static void follow(const struct reading *now)
{
	uint64_t base = atomic_load(&collector->tick_base),
		 ours = ticks_to_ns(now->ticks, atomic_load(&collector->tick_rate)) + base;
	int64_t ahead = (int64_t)(now->ns - ours), jump = ahead - look.ahead_ns;

	if (jump <= (int64_t)(JUMP_MS * NSEC_PER_MSEC) &&
	    -jump <= (int64_t)(JUMP_MS * NSEC_PER_MSEC)) {
		look.ahead_ns = ahead;
		look.n_jumps = 0;
	} else if (++look.n_jumps > JUMPS_MAX) {
		give_up();
	} else {
		atomic_store(&collector->tick_base, base + (uint64_t)jump);
	}
}

/* One that had no rate until now has none. */
static bool is_still_fit(void)
{
	return is_fit() && (look.n == 1 || atomic_load(&collector->tick_rate));
}

static uint32_t nap_ms(void)
{
	return atomic_load(&collector->tick_rate) ? FOLLOW_MS : STRETCH_MS;
}

void host_clock_look(void)
{
	struct reading now;

	if (look.is_unfit || clock_monotonic_ns() < look.next_ns)
		return;
	if (look.n++ % SOURCE_EVERY == 0 && !is_still_fit()) {
		give_up();
		return;
	}
	if (!read_both(&now))
		return;
	if (atomic_load(&collector->tick_rate))
		follow(&now);
	else
		measure(&now);
	look.next_ns = now.ns + nap_ms() * NSEC_PER_MSEC;
}

uint32_t host_clock_nap_ms(void)
{
	return look.is_unfit || atomic_load(&collector->tick_rate) ? UINT32_MAX : nap_ms();
}
