/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_WHOLE_GRAPHS_H
#define PROTON_COLLECT_WHOLE_GRAPHS_H
/* CUDA graphs: what each holds, learned while it is made. Of those that are recorded whole (--graphs whole) the record
 * of a launch says nothing of it, and nodes that have records do not say what else is in their graph.
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
/* … a copy of one of another graph, from which it has what was said there. Is this the first of those from there that
 * would have records? By nodes there is one of it for each launch, or each run of the body that it stands in. */
bool whole_graph_copy(const struct graph_member *m, uint32_t made_at, uint32_t from,
		      uint32_t from_number, bool is_new);
/* A node of an executable graph runs what one of another graph is from now on. */
struct whole_update {
	uint32_t made_at; /* its calling context is this one; WIRE_NONE: not known */
	uint32_t from;    /* the graph, if what is said of it is kept of a graph as a whole */
	uint64_t was, is; /* as they were captured; 0: not known, or no kernel */
	bool is_first;    /* of its graph in this call: what the others ran is past */
	bool was_forgotten; /* nobody knows what it ran: which form the graph has is not known any more */
};
void whole_graph_updated(uint32_t graph, const struct whole_update *u);
/* Do both run the same, and was it captured in one place, as far as that is known? */
bool whole_graph_is_like(uint32_t graph, uint32_t like);
/* It goes away; its place is another's when one is wanted. */
void whole_graph_gone(uint32_t graph);
/* An executable graph runs other kernels from now on, or another number of nodes; like: as this graph does, 0: not
 * known. What it runs then is known no more, unless that is what it ran. */
void whole_graph_changed(uint32_t graph, enum graph_change what, uint32_t like);

/* NULL: not known, as one that was made before anybody looked. */
struct whole_graph *whole_graph_find(uint32_t graph);
/* The calling context that all its nodes were made in; WIRE_NONE: not known, as of NULL. */
uint32_t whole_graph_made_at(const struct whole_graph *g);
/* What records call it: a string that is the same for all that hold as much. NULL: one that is not known ("<graph>"), below
 * which its nodes stand where they have records. */
uint32_t whole_graph_name(struct whole_graph *g);
uint32_t whole_graph_n_kernels(const struct whole_graph *g);
uint32_t whole_graph_n_nodes(
	const struct whole_graph *g); /* that would have records: with copies and sets */
/* The same for graphs of the same kernels (names, grids, blocks), copies, sets and other nodes, whatever their order, in
 * each run of the program: 52 bits, which files have as METRIC_GRAPH_FORM (ADR 47). 0: not known, as where nobody said
 * which kernel was added, or it was changed since, or where graphs of more forms than are told apart share a row. */
uint64_t whole_graph_form(const struct whole_graph *g);
/* To be told at this slot? It is once for each that it comes from. */
bool whole_graph_form_is_due(struct whole_graph *g, uint32_t slot);
/* By nodes: a string of the frame that stands above what runs in it, where another form was captured in the same place
 * before ("<form 2>"); 0: the first one. What it was stays right until whole_graph_changes() is another number. */
uint32_t whole_graph_form_frame(uint32_t graph);
uint32_t whole_graph_changes(void);
/* By nodes: does this one, the first of those from somewhere, which ran by a launch, stand for the launches? */
bool whole_graph_counts_by(struct whole_graph *g, uint64_t node);
/* Is it known how many nodes of it run? Not of NULL, nor where some were switched off, or on again. */
bool whole_graph_is_counted(const struct whole_graph *g);
/* Where the number stands of what is said of it (graph_nodes.c). */
_Atomic uint32_t *whole_graph_said(struct whole_graph *g);

#endif
