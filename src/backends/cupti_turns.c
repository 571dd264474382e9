/* SPDX-License-Identifier: MIT */
/* CUPTI has one subscriber. When another one comes, from inside the program, it gets it, and we come back when it has
 * left (docs/adr/0038-cupti-changes-hands.md).
 *
 *   RUNNING ──> LEAVING ──> ASIDE ──> RUNNING
 *          launches wait    theirs
 *
 * While we leave, nothing may be launched: a thread that is in the midst of it when its kinds of records are switched
 * off, and its buffer is taken, has no records any more for the rest of the process (CUPTI 13.0; in 15 of 32 runs with
 * three threads, in none of 40 where launches waited). Coming back can happen at any time. cuptiFinalize() is not
 * needed for it, and worse: with graphs under way it leaves a CUPTI that can be used by nobody any more. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "backends/cupti.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"

enum {
	TURN_MS = 5000,  /* for another thread that is inside CUPTI */
	SETTLE_US = 300, /* for launches that have begun */
	DRAIN_MS = 500,  /* for records of what runs */
};

static void nap_us(long us)
{
	const struct timespec nap = {0, us * 1000};

	nanosleep(&nap, NULL);
}

/* The process whose thread has the turn; 0: none has. Another process: a thread had it that a fork left behind. */
static _Atomic pid_t taken_by;
static __thread bool is_this_thread_s __attribute__((tls_model("initial-exec")));

static bool turn_try(void)
{
	pid_t us = getpid(), was = 0;

	while (!atomic_compare_exchange_strong(&taken_by, &was, us))
		if (was == us)
			return false;
	return true;
}

bool cupti_turn_take(bool wait)
{
	uint64_t until_ns = clock_monotonic_ns() + TURN_MS * NSEC_PER_MSEC;

	if (is_this_thread_s)
		return false;
	while (!turn_try()) {
		if (!wait || clock_monotonic_ns() > until_ns)
			return false;
		nap_us(50);
	}
	is_this_thread_s = true;
	return true;
}

void cupti_turn_give(void)
{
	is_this_thread_s = false;
	atomic_store(&taken_by, 0);
}

/* ---- we leave ---- */

static uint32_t buffers_out(const struct cupti *c)
{
	return atomic_load_explicit(&c->pool.n_out, memory_order_acquire);
}

/* All buffers must be ours again: what CUPTI hands over later goes to whoever registered last. */
static bool drain(struct cupti *c)
{
	uint64_t until_ns = clock_monotonic_ns() + DRAIN_MS * NSEC_PER_MSEC;

	cupti_activity_flush(c, false);
	while (buffers_out(c) && clock_monotonic_ns() < until_ns) {
		nap_us(1000);
		cupti_activity_flush(c, false);
	}
	if (buffers_out(c))
		cupti_activity_flush(c, true);
	return !buffers_out(c);
}

/* Whoever switches callbacks on is done, and nobody begins to. */
static bool settling_take(struct cupti *c)
{
	uint64_t until_ns = clock_monotonic_ns() + TURN_MS * NSEC_PER_MSEC;

	while (atomic_exchange(&c->settling, true)) {
		if (clock_monotonic_ns() > until_ns)
			return false;
		nap_us(50);
	}
	return true;
}

static bool leave(struct cupti *c)
{
	nap_us(SETTLE_US);
	cupti_activity_flush(c, false);
	cupti_activity_stop(c);
	if (!drain(c))
		return false;
	cupti_activity_restore(c);
	c->api.cuptiUnsubscribe(c->subscriber);
	c->subscriber = NULL;
	/* Of graphs that were launched all is known that there will be. */
	cupti_launches_quiet(c, true);
	return true;
}

static void tell_aside(struct cupti *c, bool on, uint64_t since_ns)
{
	if (c->sink->ops->aside)
		c->sink->ops->aside(c->sink, on, since_ns);
}

bool cupti_step_aside(struct cupti *c)
{
	int running = CUPTI_RUNNING;
	uint64_t begin_ns = clock_monotonic_ns();
	bool is_aside;

	if (!settling_take(c))
		return false;
	if (!atomic_compare_exchange_strong(&c->phase, &running, CUPTI_LEAVING)) {
		atomic_store(&c->settling, false);
		return running == CUPTI_ASIDE;
	}
	is_aside = leave(c);
	if (!is_aside)
		cupti_activity_start(c);
	c->aside_ns = clock_monotonic_ns();
	if (is_aside)
		tell_aside(c, true, begin_ns);
	atomic_store(&c->phase, is_aside ? CUPTI_ASIDE : CUPTI_RUNNING);
	atomic_store(&c->settling, false);
	log_debug(1, "cupti", "%s another user after %llu us",
		  is_aside ? "aside for" : "held against",
		  (unsigned long long)(c->aside_ns - begin_ns) / 1000);
	return is_aside;
}

/* ---- and come back ---- */

void cupti_session_begin(struct cupti *c)
{
	c->session++;
	c->n_threads = 0;
	cupti_launches_reset(&c->launches);
}

void cupti_count_aside(struct cupti *c)
{
	uint64_t ms = (clock_monotonic_ns() - c->aside_ns) / NSEC_PER_MSEC;

	if (atomic_load(&c->phase) != CUPTI_ASIDE || !ms)
		return;
	c->sink->ops->lose(c->sink, LOSS_ASIDE, ms);
	c->aside_ns += ms * NSEC_PER_MSEC;
}

void cupti_begin_aside(struct cupti *c)
{
	c->aside_ns = clock_monotonic_ns();
	tell_aside(c, true, 0);
	atomic_store(&c->phase, CUPTI_ASIDE);
	cupti_connect(c, CUPTI_DRIVER_READY);
}

/* What pools did meanwhile is not known. */
static void tell_unseen(struct cupti *c)
{
	if (c->sink->ops->memory)
		c->sink->ops->memory(c->sink, &(struct memory_event){.operation = MEMORY_UNSEEN,
								     .at_ns = clock_realtime_ns()});
}

bool cupti_come_back(struct cupti *c)
{
	if (!cupti_subscribe(c, cupti_callback_for(c)))
		return false;
	tell_unseen(c);
	cupti_count_aside(c);
	cupti_session_begin(c);
	if (c->is_renumbered)
		cupti_launches_forget(&c->launches);
	c->has_wrong_graphs |= c->is_renumbered && c->version < ABI_VERSION_13_1_1;
	c->is_renumbered = false;
	atomic_store(&c->phase, CUPTI_RUNNING);
	if (cupti_activity_start(c) < 0) {
		atomic_store(&c->phase, CUPTI_OFF);
		c->api.cuptiUnsubscribe(c->subscriber);
		return false;
	}
	tell_aside(c, false, 0);
	cupti_calls_start(c);
	cupti_calls_settle(c);
	log_debug(1, "cupti", "back");
	return true;
}
