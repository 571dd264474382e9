/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_CONTEXTS_H
#define PROTON_COLLECT_CONTEXTS_H
/* Where a thread is, beside the scopes that the program opened itself:
 *
 *     scopes ── python ── … ──> node of the launch
 *
 * Each source of core/contexts.h that the run asked for, and that is there in this process, adds
 * what the thread executes below the node that it is given. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/contexts.h"

struct thread_state;

enum context_telling {
	CONTEXT_SEES,     /* nobody has to */
	CONTEXT_IS_TOLD,  /* for a while, and that is paid for: each launch is to be read */
	CONTEXT_IS_ALONE, /* what it says may be guessed by what it was told before */
};

struct context_source {
	/* Is there something to read, and can it be read? Once, at the start of the collector; by
	 * contexts_set() it says so, then or later, from any thread. */
	void (*look)(void);
	/* The same at the first launch and at one each period of the sender, which it may start for that
	 * (sender_prepare()): for what may be loaded later. By the main thread, so that no interpreter ends
	 * meanwhile; may be NULL. */
	void (*look_again)(void);
	/* At the end of the process: what was left out is said. May be NULL. */
	void (*end)(void);
	/* In a fork child: what was counted is the parent's to say. May be NULL. */
	void (*forked)(void);
	/* The node of what this thread executes now, below `node`; that itself where there is nothing.
	 * On the launch path of the thread itself: no allocation, no lock, no call into the kernel. Where a
	 * part of it is taken over from a launch before, it says so (t->context_taken_over). */
	uint32_t (*node)(struct thread_state *t, uint32_t node);
	/* What stands for the innermost part of that, in some ten nanoseconds, by the same rules: where it is
	 * the same, the rest may be guessed to be. 0: nothing is there. */
	uint64_t (*innermost)(struct thread_state *t);
	/* The same of less, in less, before it and at each launch that may not be read: with what was launched before
	 * it says where a program that does the same again is. NULL: this source always has to be asked. */
	uint64_t (*glance)(struct thread_state *t);
	/* Does somebody tell it where threads are? NULL: it sees that by itself. */
	enum context_telling (*telling)(void);
	/* The launch for which glance() was asked was not read, and has this node. May be NULL. */
	void (*taken)(struct thread_state *t, uint32_t node);
	/* A stream is captured from now on: what is launched in it will run again and again, and is asked for, and with
	 * t->reads_exactly is not to be taken over. By the thread that begins it. May be NULL. */
	void (*capture_begins)(void);
	/* A fork begins: nothing that a child needs may be held by a thread of ours. May be NULL. */
	void (*fork_begins)(void);
};

/* It is time to look again. */
extern _Atomic bool contexts_due __attribute__((visibility("hidden")));
/* Those that are read now, a bit each. */
extern _Atomic uint32_t contexts_on __attribute__((visibility("hidden")));

/* Does the run read what fits the program? */
bool contexts_are_automatic(void);
/* Did the run ask for it? */
bool context_is_wanted(enum context id);
/* More than the run asked for so far: a program that profiles itself asks with each session. */
void contexts_want(uint32_t contexts);
/* What a source has the sender thread do while it rests, and says how many ms until the next time. One source has
 * something. */
void contexts_poll_by(uint32_t (*poll)(void));
uint32_t contexts_poll(void);
/* It is read from now on, or not any more. */
void contexts_set(enum context id, bool on);

#endif
