/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_STEPS_H
#define PROTON_COLLECT_STEPS_H
/* The steps of the program's loops, as its scopes and ranges tell of them (--steps): names that count up, or the one
 * that the user gave.
 *
 *     a new name ──> steps_consider() ─── the loop is kept with the node: a known scope pays one look
 *     enter, leave ──> the loop's numbers (core/steps.h) ──> steps_look(), sender ──> values of its first scope
 *                 └──> steps that are over ── steps_settle(), taker ──> what devices did meanwhile ──┘
 *
 * A loop is known by kind and "step #", whatever scopes it is in. One step of it is open at a time in a process:
 * where threads overlap, or one stands in another, it is the one that came first.
 *   thread  any, also in signal handlers, but for steps_look() and steps_reset() (the sender) */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "collect/step_ran.h"
#include "core/frame.h"
#include "core/step_values.h"
#include "core/steps.h"

/* A scope got a node of its own, or "step #": is it a step of a loop? n_alike: names that differ in numbers
 * alone, so far, with this one; 0: it has no number. */
void steps_consider(uint32_t node, enum frame_kind kind, const char *name, size_t len,
		    uint32_t n_alike);
/* A step of a loop (node_entry.loop) begins: what to leave it with; 0: it does not count. */
uint8_t steps_enter(uint8_t loop, const char *name, size_t len);
/* … when, by the host clock. */
void steps_begun(uint8_t loop, uint64_t start_ns);
/* The window of the trace that it opens (trace_windows.h), where that is of steps and of the likeliest loop by now;
 * 0: none. */
uint32_t steps_window(uint8_t loop);
/* When it began and ended, by a clock that stands while nothing is recorded. lane: of the host. loop 0: nothing. */
void steps_leave(uint8_t loop, uint32_t lane, uint64_t start_ns, uint64_t end_ns);
void steps_drop(uint8_t loop); /* it was cut short, and does not count */
/* One that is over, and nobody told when it began. */
void steps_range(uint8_t loop, uint32_t lane, const char *name, size_t len, uint64_t start_ns,
		 uint64_t end_ns);

/* What steps_tell() and step_ran_tell() say, as values. */
void steps_values(const struct steps_told *told, const struct step_work_told *work,
		  struct step_values *values);
/* These are the values of a loop, at a node and lane. slots: of their sets, + 1; 0: none yet. By the sender, or who has
 * the taker's place. */
void steps_put(uint32_t slots[STEP_N_SETS], uint32_t node, uint32_t lane,
	       const struct step_values *values);

/* What devices did meanwhile, of steps that are over by now: whoever holds the taker's place (intervals.c). */
void steps_settle(void);
void steps_settled(void); /* … what is known of it is the sender's from now on */

void steps_look(void);   /* values of what is known by now */
void steps_reset(void);  /* as of now there were none */
void steps_forked(void); /* in a fork child */

#endif
