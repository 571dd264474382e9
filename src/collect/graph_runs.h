/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_GRAPH_RUNS_H
#define PROTON_COLLECT_GRAPH_RUNS_H
/* Where a node of a CUDA graph comes from, and what the program says of it (proton_launch_begin()) or of its
 * scopes meanwhile, is true of each time the graph runs (ADR 32):
 *
 *     begin, metric flops, launch, end        a node of the graph is made: its calling context is remembered,
 *                                             and what was said of the launch
 *     the graph is made executable            its nodes have others' places: those are remembered, too
 *     it runs                                 a record of each node, which is shown below where the graph was
 *                                             launched: "<captured_at>", the context that the node was made in,
 *                                             its name; with its flops once more
 *
 *   thread  any; the first three belong to the caller */
#include "collect/graph_nodes.h"

/* The launch in progress on this thread has become this node: what was counted with it has not run yet. */
void graph_captured(struct thread_state *t, const struct graph_member *m);
/* The program made it by itself, or by what is no launch. */
void graph_built(struct thread_state *t, const struct graph_member *m);
/* This thread begins to capture a stream, or ends that, which another one may have begun. */
void graph_capturing(struct thread_state *t, const void *stream, bool on);
/* The thread ends, or the program: what it captures is nobody's any more. */
void graph_captures_end(struct thread_state *t);
/* The node ran, launched at a context: what was said of it is said once more. Its values go to this slot's
 * calling context, and to others of the capture; WIRE_NONE: nothing is to be counted, and what it computed is
 * taken all the same. */
void graph_ran(struct thread_state *t, const struct graph_node *node, uint32_t launched_at,
	       uint32_t slot);

#endif
