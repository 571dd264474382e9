/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_CONTEXT_BUDGET_H
#define PROTON_COLLECT_CONTEXT_BUDGET_H
/* How many calling contexts are read, so that it takes no more than a share of the time of the threads
 * that launch (--budget):
 *
 *     time passes ──> credit ──> a context is read: its cost is paid
 *                        ├─ too little: that of a launch before, from the same place, marked as guessed
 *                        └─ none: … that came after the same one the last time
 *
 * Each thread has its own credit, and keeps by place what it read last. What is counted and timed does not
 * depend on it. */
#include <stdbool.h>
#include <stdint.h>

struct thread_state;

/* Is there a limit at all? */
bool budget_is_limited(void);
/* A launch since `began` (ticks). May this thread look where it is? Else *node is what came last time after the same
 * launch as this one, with the same at a glance (a hash). What is not known is looked at, and all if it must. */
bool budget_look(struct thread_state *t, uint64_t began, uint64_t glance, bool must,
		 uint32_t *node);
/* After that: may it read the context of the launch from this place? worth: what it would read is not a guess. Then
 * budget_end() follows, with what was read. Else *node is what it read there last; untouched where that is not
 * known. */
bool budget_begin(struct thread_state *t, uint64_t place, bool worth, uint32_t *node);
void budget_end(struct thread_state *t, uint64_t place, uint32_t node, bool guessed);
/* The same for what is read in any case, and paid elsewhere (budget_paid()). */
void budget_read(struct thread_state *t, uint64_t place, uint32_t node);
/* After each of these: what was done for the launch until now is paid. */
void budget_pay(struct thread_state *t);
/* The launch whose calling context was asked for last is none of those that this bounds: it is not counted, and what
 * was paid for it is not held against the others. */
void budget_give_back(struct thread_state *t);
/* … then, where it is a launch after all: it is read now, and that is paid. */
void budget_charge(struct thread_state *t);
/* The share of so many ticks, and of so much time in ticks; ticks that a thread has spent on
 * reading, and on finding out that it may not. */
int64_t budget_share(uint64_t ticks);
int64_t budget_share_ms(int64_t ms);
uint64_t budget_paid(const struct thread_state *t);
/* Reading has half of it from now on: the other half is for what tells us of where a thread is. */
void budget_halve(void);
/* At the end of the process: how many were read. */
void budget_note(void);
void budget_forked(void); /* in a fork child: none was yet */

#endif
