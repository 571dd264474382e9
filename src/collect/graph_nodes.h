/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_GRAPH_NODES_H
#define PROTON_COLLECT_GRAPH_NODES_H
/* What is known of the nodes of CUDA graphs: the calling context that each was made in, and what the program has said
 * of it. They are told apart by the vendor's ids, which no other has in the process. Of more nodes than there is
 * room for those that are gone are forgotten, else the oldest.
 *   thread  any; what is said of a node is said by the thread that made it */
#include <stdbool.h>
#include <stdint.h>
#include "collect/internal.h"

struct said;

/* What is known of a node. */
struct graph_node {
	uint32_t made_at; /* calling context; WIRE_NONE: not known */
	const struct said *said;
	uint32_t
		first_of; /* the number of a graph by nodes that it is the first node of; 0: of none */
};

void graph_node_put(const struct graph_member *m, uint32_t made_at);
/* One has been made after another: all of it. */
void graph_node_copy(uint64_t from, const struct graph_member *m);
/* It runs what another one is from now on, and has all that is known of that. is_first: of the nodes of its graph that this
 * is so of. */
void graph_node_updated(uint64_t from, const struct graph_member *m, bool is_first);
/* It goes away: it is known until its place is another's. */
void graph_node_removed(const struct graph_member *m);
/* What it runs is another kernel from now on: which is not known, in what is copied from it. */
void graph_node_changed(uint64_t id);
/* Each time that it runs: a value of a calling context, as the thread is in it that says so; WIRE_NONE: of its own. */
void graph_node_say(uint64_t id, uint32_t node, const struct launch_value *v);
/* Its kernels are called by this string. */
void graph_node_call(uint64_t id, uint32_t name);
/* As graph_node_say(), of the newest node that this thread makes, or the next. */
void graph_value(struct thread_state *t, uint32_t node, const struct launch_value *v);

struct graph_node graph_node_find(uint64_t id);
/* The same of a graph that is recorded whole, as if it were one node. */
struct graph_node graph_node_of_whole(uint32_t graph);
/* The string that the node's kernels are called by; 0: they keep their names. */
uint32_t graph_node_name(const struct graph_node *node);
/* A part of the values that are said, and the next part: NULL after the last. Borrowed, for ever. */
const struct node_value *graph_node_values(const struct said **part, uint32_t *ret_n);
/* The calling context of a node that was made at one and runs by a launch at another. */
uint32_t graph_node_context(struct thread_state *t, uint32_t launched_at, uint32_t made_at);

#endif
