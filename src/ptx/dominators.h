/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_DOMINATORS_H
#define PROTON_PTX_DOMINATORS_H
/* Which node of a graph all ways to another come by at last, after Lengauer and Tarjan (1979), with paths that get shorter as they
 * are gone: n log n, whatever the graph is. Nodes are numbered in the order in which a search in depth came to them, the first of
 * all is 0.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct search {
	uint32_t n;           /* nodes that it came to */
	const uint32_t *from; /* by number: of the node that it came from */
	const uint32_t
		*in_at; /* by number: where its edges begin in `in`, and where they end, of n + 1 */
	const uint32_t *in; /* numbers that edges to it come from */
};

/* What each node is below, and how many nodes are below it, itself among them. Those follow it right away in an order of places. */
struct dominators {
	uint32_t *above, *place, *n_below; /* by number; the first one's above: itself */
};

/* 0 or -ENOMEM. dominators_done() frees what is there whatever is returned. */
int dominators_find(const struct search *search, struct dominators *ret);
void dominators_done(struct dominators *d);
/* Do all ways to b come by a? */
bool dominates(const struct dominators *d, uint32_t a, uint32_t b);

#endif
