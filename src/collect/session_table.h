/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_SESSION_TABLE_H
#define PROTON_COLLECT_SESSION_TABLE_H
/* What the files of sessions share: their lock, their states, and why a call failed.
 *   thread  any */
#include "base/util.h"
#include "collect/internal.h"
#include "proton/proton.h"

/* Remember the sentence for collect_session_error(); returns status. */
int session_fail(int status, const char *format, ...) _printf_(2, 3);

/* False: a signal handler that came in the middle of another call, or another thread stands still. */
bool sessions_lock(void);
bool sessions_try_lock(void); /* waits for nobody */
void sessions_unlock(void);
int session_fail_locked(void);
int session_fail_unknown(int session);

/* Sessions are in places, which are used anew; the program knows them by numbers, which are not. Where a live one is;
 * -1: there is none of this number. */
int session_place(int number);
/* Is one here that can be switched and finalized? */
bool session_is_live(uint32_t place);

static inline uint32_t session_state(uint32_t id)
{
	return atomic_load_explicit(&collector->session[id].state, memory_order_acquire);
}

/* Is it a trace, of whatever? Then it has a format of these. */
static inline bool session_is_trace(uint32_t id)
{
	return collector->session[id].traced || collector->session[id].warps;
}

static inline uint32_t n_sessions(void)
{
	return atomic_load_explicit(&collector->n_sessions, memory_order_acquire);
}

#endif
