/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_SESSION_WAIT_H
#define PROTON_COLLECT_SESSION_WAIT_H
/* How functions of sessions wait for proton: by looking again and again, until they have waited long enough, or the
 * interpreter that called them has something else to do (python_waits.c). What they have asked for is done all
 * the same, once proton gets to it. Handlers of signals run meanwhile, and the wait goes on.
 *   thread  any; what a wait has come to is its thread's own */
#include <stdbool.h>
#include <stdint.h>
#include "collect/patience.h"

enum { ANSWER_MS = 60000 }; /* how long proton may take to answer, a call over all */

/* A call begins: nothing has been waited for. */
void session_wait_begin(void);
/* A millisecond. False: no longer; asks the interpreter now and then. */
bool session_wait_look(struct patience *p);
/* Proton does not answer: the rest of the call waits for nothing. */
void session_wait_give_up(void);
bool session_wait_is_over(void);
/* The same before anything is there to wait for: asks at once. */
bool session_wait_interrupted(void);
/* What a thread asks that was called by an interpreter: is it to come back? */
void session_wait_set_interrupt(bool (*is_interrupted)(void));

#endif
