/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_WHOLE_GRAPHS_H
#define PROTON_COLLECT_WHOLE_GRAPHS_H
/* CUDA graphs that are recorded whole (--graphs whole): what each holds, learned while it is made, for the record of
 * a launch says nothing of it.
 *
 *     nodes are made                   where; what is said of them is said of their graph
 *     it is made executable            that is a copy, which holds one more for each node that is copied
 *     it is launched, and has run      <captured_at>, the context that all were made in, "<graph: 300 kernels>"
 *
 * Graphs are told apart by the vendor's ids, which count up and come once in a process. Of more graphs than there is
 * room for those that are gone are forgotten, else the oldest.
 *   thread  any */
#include <stdbool.h>
#include <stdint.h>
#include "collect/internal.h"

struct whole_graph;

/* A node is in it now, made at a calling context; WIRE_NONE: not known. is_new: it was not told of before. */
void whole_graph_add(const struct graph_member *m, uint32_t made_at, bool is_new);
/* … a copy of one of another graph, from which it has what was said there. */
void whole_graph_copy(const struct graph_member *m, uint32_t made_at, uint32_t from, bool is_new);
/* The same of one whose nodes are recorded: of these only where they were made is kept. Is this the first of those that
 * have records? Then there is one of it for each launch. */
bool whole_graph_is_first(const struct graph_member *m, uint32_t made_at);
/* It goes away; its place is another's when one is wanted. */
void whole_graph_gone(uint32_t graph);

/* NULL: not known, as one that was made before anybody looked. */
struct whole_graph *whole_graph_find(uint32_t graph);
/* The calling context that all its nodes were made in; WIRE_NONE: not known, as of NULL. */
uint32_t whole_graph_made_at(const struct whole_graph *g);
/* What records call it: a string that is the same for all that hold as much. NULL: one that is not known. */
uint32_t whole_graph_name(struct whole_graph *g);
uint32_t whole_graph_n_kernels(const struct whole_graph *g);
uint32_t whole_graph_n_nodes(
	const struct whole_graph *g); /* that would have records: with copies and sets */
/* Where the number stands of what is said of it (graph_nodes.c). */
_Atomic uint32_t *whole_graph_said(struct whole_graph *g);

#endif
