/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_CONTEXT_SOURCES_H
#define PROTON_COLLECT_CONTEXT_SOURCES_H
/* All sources of calling contexts (contexts.h), as the rest of the collector has them. */
#include <stdbool.h>
#include <stdint.h>

struct thread_state;

/* At the start of the collector, when contexts_due says so, and at the end of the process. */
void contexts_look(void);
void contexts_look_again(void);
void contexts_end(void);
void contexts_fork_begins(void); /* by the thread that forks */
void contexts_forked(void);
/* The node of a launch of this thread, which has this one by its scopes. *ret_guessed where it was not read,
 * but taken over from a launch before (context_budget.h). */
uint32_t contexts_node(struct thread_state *t, uint32_t node, bool *ret_guessed);
/* The same of the launch for which contexts_node() was asked: it is read whatever the budget. */
uint32_t contexts_exact_node(struct thread_state *t, uint32_t node, bool *ret_guessed);
/* The thread begins to capture a stream: what it launches is to be read. */
void contexts_capture_begins(struct thread_state *t);

#endif
