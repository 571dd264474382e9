/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_EPOCHS_H
#define PROTON_COLLECT_EPOCHS_H
/* Sets of phases of sessions, one of which each launch belongs to (sessions.h).
 *
 *     LIVE ── its last phase is cleared ──> LEFT ── all that was launched has ended, and its values are
 *       ^                                                     those of the run alone (burst.c) ──> FREE
 *       └─────────────────────────────────── taken for another set ───────────────────────────────┘
 *
 * What was launched and what has ended is counted for each, so that a phase knows when all of it is there.
 * An epoch that is used anew has the ids that it had before: its launch contexts and slots are used anew with
 * it, and a program that clears its phases needs no more of them than it has phases at a time.
 *
 * What a thread does at the very moment of a switch is of either side.
 *   thread  any, under the sessions' lock where it says nothing else */
#include <stdbool.h>
#include <stdint.h>
#include "collect/internal.h"

/* EPOCH_SPENT: never taken again, for operations of it may be under way in a trace. */
enum epoch_state { EPOCH_FREE = 0, EPOCH_LIVE, EPOCH_LEFT, EPOCH_SPENT };

/* What is launched from now on is of the sessions that are active now, in their phases of now. False: there is
 * no epoch for them, and it is of none. */
bool epochs_update(void);
/* Was it, since this was asked last? What was counted before is due then. */
bool epochs_changed(void);
/* Whether any epoch is in this phase, and whether all that was launched in it has ended. */
bool epochs_have(uint32_t session, uint32_t phase);
bool epochs_are_complete(uint32_t session, uint32_t phase);
/* The lowest phase of a session that any is in, from this one on; WIRE_NONE: there is none. */
uint32_t epochs_next_phase(uint32_t session, uint32_t from);
/* No epoch is in the phases from..to of a session any more. */
void epochs_leave(uint32_t session, uint32_t from, uint32_t to);
/* What is launched from now on is of another epoch of the same sessions: what was before can be waited for by itself. False:
 * there are too many. */
bool epochs_turn(void);
/* Launches that have not ended, of all epochs of a session but the one that is launched in now. */
uint64_t epochs_n_unended(uint32_t session);
/* What was launched in phases below this one and has not ended is not waited for any longer. */
void epochs_give_up(uint32_t session, uint32_t phase);
/* Those that are left and not free yet. */
uint32_t epochs_n_left(void);

/* Of the last launch of this thread. */
static inline uint32_t thread_epoch(const struct thread_state *t)
{
	return atomic_load_explicit(&t->context_epoch, memory_order_relaxed);
}

/* Any thread, without the lock: a launch of this thread is the first one in another epoch. */
void epoch_enter(struct thread_state *t, uint32_t epoch);
/* … a launch of an epoch has ended, and its values are there. */
static inline void epoch_end(uint32_t epoch, uint64_t n)
{
	atomic_fetch_add_explicit(&collector->epochs[epoch].n_ended, n, memory_order_release);
}
/* Which set of phases it is, of all that have had its number. */
static inline uint32_t epoch_use(uint32_t epoch)
{
	return atomic_load_explicit(&collector->epochs[epoch].use, memory_order_acquire);
}
/* Where what comes after its launches have ended is told, of those in this use of it: there, or once nobody has its phases
 * any more, in that of the run alone. It stays so until late_values_end(). Any thread, without the lock. */
uint32_t epoch_told_late(uint32_t epoch, uint32_t use);
/* In a fork child: they are the parent's. */
void epochs_forked(void);
/* … the sender: its values are the run's. */
void epoch_give_back(uint32_t epoch);
/* … may it be used anew, as far as its launches are concerned? */
bool epoch_is_quiet(uint32_t epoch);

#endif
