/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_UNRECORDED_H
#define PROTON_COLLECT_UNRECORDED_H
/* When not all that ran on devices was recorded, by reason (core/session.h).
 *
 *   pauses, windows, steps aside, limits ── begin, end ──> spans ─┬─> UNRECORDED
 *   operations that are not kept ────────────────────────> ┘      └─> idle.c: a gap across one is none
 *
 * Operations are told of when they are over, and kept or not by what holds then: a span goes back to where the first
 * that was not kept began, and on to where the last of them ended. What is known in a span holds. Times are of
 * CLOCK_MONOTONIC.
 *   thread  those of one reason one at a time: the sender's for a pause, who steps aside, the taker's for the others
 *   errors  LOSS_UNRECORDED: there is no room for one more, and the last one of its reason goes on instead */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"
#include "wire/encode.h"

/* start_ns 0: since the process began; it is no earlier than the last of its reason ended. Nothing where that goes on. */
void unrecorded_begin(enum unrecorded_reason reason, uint64_t start_ns);
/* Nothing where none goes on. */
void unrecorded_end(enum unrecorded_reason reason, uint64_t end_ns);
bool unrecorded_goes_on(enum unrecorded_reason reason);
/* An operation that ran then is not kept, for it came in the last span of the reason: that has all of it. */
void unrecorded_widen(enum unrecorded_reason reason, uint64_t start_ns, uint64_t end_ns);
/* … for where it belongs to: the spans that it touches have all of it; if it touches none, the last one before it goes on
 * to its end. */
void unrecorded_dropped(enum unrecorded_reason reason, uint64_t start_ns, uint64_t end_ns);
/* The first of these for the pause, by CLOCK_REALTIME, of any thread. */
void unrecorded_paused(uint64_t start_ns, uint64_t end_ns);

/* Is there a moment between these (CLOCK_REALTIME) of which the sums know nothing either? Any thread. */
bool unrecorded_hides(uint64_t start_ns, uint64_t end_ns);

/* Sender thread: are we paused? As it is from now on. */
void unrecorded_pause(bool paused);
/* … what changed. 0 or the encoder's error. */
int unrecorded_send(struct wire_encoder *e);
void unrecorded_resend(void); /* all of it, next time */
void unrecorded_forked(void); /* in a fork child there are none */

#endif
