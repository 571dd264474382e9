/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/session_wait.h"
#include <time.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/internal.h"

enum {
	LOOK_NS = 1000000,
	CHECK_MS = 50, /* between two questions to the interpreter, which takes its lock for that */
};

static bool (*_Atomic interrupt)(void);

void session_wait_set_interrupt(bool (*is_interrupted)(void))
{
	atomic_store(&interrupt, is_interrupted);
}

void session_wait_begin(void)
{
	struct thread_state *t = thread_state();

	t->wait_is_over = false;
	t->wait_checked_ns = clock_monotonic_ns();
}

void session_wait_give_up(void)
{
	thread_state()->wait_is_over = true;
}

bool session_wait_is_over(void)
{
	struct thread_state *t = thread_state();
	bool (*is_interrupted)(void) = atomic_load(&interrupt);
	uint64_t now;

	if (t->wait_is_over || !is_interrupted)
		return t->wait_is_over;
	now = clock_monotonic_ns();
	if (now - t->wait_checked_ns < CHECK_MS * NSEC_PER_MSEC)
		return false;
	t->wait_is_over = is_interrupted();
	t->wait_checked_ns = clock_monotonic_ns();
	return t->wait_is_over;
}

bool session_wait_interrupted(void)
{
	bool (*is_interrupted)(void) = atomic_load(&interrupt);

	return is_interrupted && is_interrupted();
}

bool session_wait_look(struct patience *p)
{
	const struct timespec look = {0, LOOK_NS};

	if (!patience_ms(p) || session_wait_is_over())
		return false;
	nanosleep(&look, NULL);
	return true;
}
