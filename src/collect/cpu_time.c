/* SPDX-License-Identifier: MIT */
/* How long threads run on a processor within their scopes (--cpu-time).
 *
 *   enter a      enter b       exit b      exit a
 *     │─── to a ───│─── to b ───│─── to a ───│
 *
 * Whenever a thread's calling context changes, what its clock has run since the change before goes to
 * the context that was there: each nanosecond to one, in whatever order scopes are left. It costs a
 * system call a change, which is why it is asked for. */
#include "config.h" // IWYU pragma: keep
#include <time.h>
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/slots.h"
#include "wire/wire.h"

static uint64_t thread_ran_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void slot_add_cpu(struct thread_state *t, uint64_t ns)
{
	uint32_t set = set_intern_one(METRIC_ON_CPU), slot;

	if (set == WIRE_NONE) {
		lose(LOSS_SLOTS_FULL, 1);
		return;
	}
	slot = slot_intern(t->node, thread_lane(t), set, epoch_now());
	if (slot == WIRE_NONE)
		return;
	slot_add_u64(slot, 0, ns);
	slot_touch(slot);
}

/* A pause that was meanwhile is left out: no more than the host clock, which stood in it, went on. */
static uint64_t without_pause(uint64_t ran_ns, const struct cpu_mark *before,
			      const struct cpu_mark *now)
{
	if (now->pause == before->pause && !(now->pause & PAUSED))
		return ran_ns;
	return now->host_ns > before->host_ns ? MIN(ran_ns, now->host_ns - before->host_ns) : 0;
}

/* What the thread ran since it was charged last, up to now, which is the last time from now on. A signal
 * handler that comes in between charges its own, and ours: then it is read again. */
static uint64_t take_ran(struct cpu_mark *mark)
{
	struct cpu_mark before, now;
	uint64_t from_ns, ran_ns;

	do {
		from_ns = atomic_load(&mark->ran_ns);
		before = (struct cpu_mark){.host_ns = mark->host_ns, .pause = mark->pause};
		ran_ns = thread_ran_ns();
		now = (struct cpu_mark){.host_ns = host_clock_ns(),
					.pause = atomic_load(&collector->pause)};
	} while (!atomic_compare_exchange_strong(&mark->ran_ns, &from_ns, ran_ns));
	mark->host_ns = now.host_ns;
	mark->pause = now.pause;
	if (ran_ns <= from_ns)
		return 0;
	return without_pause(ran_ns - from_ns, &before, &now);
}

void cpu_time_forked(struct thread_state *t)
{
	t->cpu = (struct cpu_mark){.host_ns = host_clock_ns(),
				   .pause = atomic_load(&collector->pause)};
}

void cpu_time_charge(struct thread_state *t)
{
	uint64_t ran_ns;

	if (_likely_(!collector->control->wanted.cpu_time) || t != thread_self)
		return;
	ran_ns = take_ran(&t->cpu);
	if (ran_ns && t->depth)
		slot_add_cpu(t, ran_ns);
}
