/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_BURST_H
#define PROTON_COLLECT_BURST_H
/* What the collector has to say, as frames in the pipe: what is new and what has changed since the
 * last time.
 *
 * Order of a burst: limits of all tables are read from the dependent to the depended-on (slots,
 * lanes, nodes, frames, strings), then definitions go out the other way round, then values of slots
 * below the limit: a reader never sees an id before its definition.
 *   thread  one at a time: the sender */
#include <stdbool.h>
#include <stdint.h>

void burst_init(void);
/* Do what the control page asks for. */
void burst_control(void);
/* One burst; final: also what is sent less often. 0, -EAGAIN (pipe full), -EINPROGRESS (an entry is
 * being filled), -ENXIO (no pipe) or what write said. */
int burst_send(bool final);
/* The last one was cut short by what may be over in a moment. */
bool burst_is_due_again(void);
/* Until the pipe has room again, at most. */
void burst_wait(int ms);
/* The last word (WIRE_BYE_*). 0, -EAGAIN, or what is wrong. */
int burst_bye(uint32_t reason);
/* … because the pipe was full. */
bool burst_was_blocked(void);
/* The process goes on after what it took for its end (exec failed). */
void burst_resume(void);
/* Launches that were counted so far, and how many have ended: recorded, or lost on the way. Any thread. */
uint64_t burst_launches(uint64_t *ret_n_ended);
/* In a fork child: nothing was sent. */
void burst_forked(void);

#endif
