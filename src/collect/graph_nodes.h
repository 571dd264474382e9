/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_GRAPH_NODES_H
#define PROTON_COLLECT_GRAPH_NODES_H
/* What the program says of launches into a graph (proton_launch_begin()) is said of each time the graph runs:
 *
 *     begin, metric flops, launch, end        a node of the graph is made: it is remembered for that
 *     the graph is made executable            its nodes have others' places: those are remembered, too
 *     it runs                                 a record of each node: its name, and its flops once more
 *
 * Nodes are told apart by the vendor's ids, which no other has in the process.
 *   thread  any */
#include <stdint.h>
#include "collect/internal.h"

/* The launch in progress on this thread has become this node: what was counted with it has not run yet. */
void graph_node_captured(struct thread_state *t, uint64_t id);
void graph_node_cloned(uint64_t from, uint64_t to);
/* The string that the node's kernels are called by; 0: they keep their names. */
uint32_t graph_node_name(uint64_t id);
/* The node ran: its values go to this slot's calling context. */
void graph_node_ran(uint64_t id, uint32_t slot);

#endif
