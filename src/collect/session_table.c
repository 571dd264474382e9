/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/session_table.h"
#include <stdarg.h>
#include <stdio.h>
#include "collect/futex.h"
#include "collect/patience.h"
#include "collect/sessions.h"

enum { LOCK_MS = 2000 }; /* a signal handler that came in between never gets it */

int session_fail(int status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(thread_state()->error, sizeof(thread_state()->error), format, ap);
	va_end(ap);
	return status;
}

const char *collect_session_error(void)
{
	return thread_state()->error;
}

void collect_session_refuse(const char *sentence)
{
	session_fail(0, "%s", sentence);
}

bool sessions_try_lock(void)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong(&collector->sessions_lock, &free, 1);
}

bool sessions_lock(void)
{
	struct patience p = patience(LOCK_MS);
	uint32_t ms;

	while (!sessions_try_lock()) {
		ms = patience_ms(&p);
		if (!ms)
			return false;
		futex_wait(&collector->sessions_lock, 1, MIN(ms, 10u));
	}
	return true;
}

void sessions_unlock(void)
{
	atomic_store(&collector->sessions_lock, 0);
	futex_wake(&collector->sessions_lock);
}

int session_fail_locked(void)
{
	return session_fail(PROTON_BUSY,
			    "another call of a session function does not come to its end");
}

int session_fail_unknown(int session)
{
	return session_fail(PROTON_UNKNOWN, "there is no session %d", session);
}

bool session_is_live(uint32_t place)
{
	return place < n_sessions() && session_state(place) <= WIRE_SESSION_ACTIVE &&
	       !collector->session[place].finalizing;
}

int session_place(int number)
{
	for (uint32_t i = 0; number >= 0 && i < n_sessions(); i++)
		if (collector->session[i].number == (uint32_t)number && session_is_live(i))
			return (int)i;
	return -1;
}
