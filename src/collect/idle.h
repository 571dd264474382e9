/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_IDLE_H
#define PROTON_COLLECT_IDLE_H
/* What devices waited for: gaps between their work (core/gaps.h) become values of what came after them.
 *
 *   taker of intervals ──> pieces of work, and waits of threads ── settled(), by a backend ──> slots
 *
 * Work waits until its backend says that all is there which began before some time. They are values of no session:
 * its file has the rows that Triton's Proton has, and no others.
 *   thread  who takes intervals; idle_settled() and idle_missed(): any */
#include "core/coverage.h"
#include "core/gaps.h"

struct idle_work {
	struct gaps_work of; /* who: node << 32 | lane */
	bool is_wait;        /* of the thread, for any device */
};

bool idle_is_wanted(void);
/* Does a backend say what is all there? */
bool idle_is_told(unsigned source);
/* n of one device, in the order of their start. */
void idle_add(uint32_t device, const struct idle_work *v, uint32_t n);
void idle_waited(const struct idle_work *wait);
/* What backends have said by now counts as soon as the ring is empty of what came before: idle_settle(). */
void idle_look(void);
uint64_t idle_until_ns(unsigned source);
/* Up to when a backend has told all by now; 0: it does not say. Any thread. */
uint64_t idle_told_ns(unsigned source);
/* Gaps between nodes of one launch of a graph, n of one device, in the order of time. */
typedef void idle_in_graphs_fn(const struct span *run, uint32_t n);
/* False: some of what came before is not known. in_graphs: who is told of gaps that are charged to nobody. */
bool idle_settle(idle_in_graphs_fn *in_graphs);
/* Something is not known until now: no gap before it is. */
void idle_break(void);
void idle_forked(void);

/* All that began before this time is in the ring, or was. */
void idle_settled(unsigned source, uint64_t until_ns);
/* An operation is not known, or not when it ran. */
void idle_missed(void);

#endif
