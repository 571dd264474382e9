/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_TURNS_H
#define PROTON_COLLECT_TORCH_TURNS_H
/* When PyTorch tells of its operators. It takes PyTorch a part of a microsecond to tell of one, whether or not
 * anything is launched in it, and a step of a training has thousands: within a budget (--budget) they are told of
 * by turns.
 *
 *     off ── enough is saved ──> begun ── what was open before has ended ──> seen ── nothing is left ──> off
 *
 * Each thread has its share of the time that passes, of which what it read at launches is taken as well. Where one
 * has nothing left there is a turn for none. One that has come to a place where it never was may take some of its share
 * in advance: else all that it launches there until the next turn would be without operators. */
#include <stdbool.h>
#include <stdint.h>
#include "base/util.h"

struct thread_state;

/* What a thread was told of. */
struct torch_turn {
	/* owner: the thread, which a signal handler may interrupt */
	_Atomic uint64_t n;     /* records */
	_Atomic uint64_t spent; /* ticks, beside those of each record */
	_Atomic uint64_t
		n_unknown; /* launches between turns whose operators nobody knows from before */
	/* owner: the sender thread, as it looked last */
	uint64_t n_seen, paid; /* what was spent, and paid for reading */
	uint64_t n_unknown_seen;
	uint64_t cpu_ns, launches;
	int64_t credit; /* ticks */
	bool is_known;
};

/* Observers of PyTorch by their handles, added and called until now, are called by turns from here on. of: what a
 * thread was told of, NULL: nothing. False: not in this PyTorch, for it cannot leave them out, or it cannot be
 * measured what a record takes. */
bool torch_turns_begin(void *library, const uint64_t *handles, unsigned n,
		       struct torch_turn *(*of)(const struct thread_state *t));
/* Has each open operator been told of? Any thread. */
bool torch_turns_seen(void);
/* … of each that began since a capture did, if nothing is captured for longer than a minute? Any thread. */
bool torch_turns_told(void);
/* A thread begins to capture a stream: from now on until no stream is captured threads are told, whatever is left of
 * their shares. By that thread, before it launches anything. */
void torch_turns_capture_begins(void);
/* Is this thread being told of operators of our own, to see how long that takes? */
bool torch_turns_measured(void);
/* Are they ever left out? */
bool torch_turns_used(void);
/* Before a fork, by the thread that forks: PyTorch's lock of its observers is not held by us. */
void torch_turns_fork_begins(void);
/* In a fork child. */
void torch_turns_forked(void);
/* By the sender thread; how many ms until it should look again. */
uint32_t torch_turns_look(void);

#endif
