/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_FLOW_H
#define PROTON_PTX_FLOW_H
/* How a function of PTX is run through: blocks of statements that follow one another, edges between them, and loops: what an edge
 * leads back into that cannot be come by but through its first block.
 *   threads  one */
#include "ptx/text.h"

struct ptx_block {
	uint32_t first, n;   /* statements, indices of the text's; at least one */
	uint32_t out, n_out; /* edges, one after another */
	uint32_t
		above; /* the last block that all ways to it come by; the first one's: itself; PTX_NONE: none leads here */
	uint32_t rank; /* in an order in which only edges back lead to lower ones */
};

enum ptx_way {
	PTX_FALLS,    /* to what stands behind */
	PTX_BRANCHES, /* by the branch at its end, which may not be taken */
	PTX_JUMPS,    /* … which always is */
	PTX_BY_TABLE, /* … to one of several */
};

struct ptx_edge {
	uint32_t from, to;
	enum ptx_way way;
};

struct ptx_loop {
	uint32_t header;
	uint32_t n_blocks;
	uint8_t *within; /* by block: 1 where it is of the loop */
};

struct ptx_flow {
	const struct ptx_text *text;
	struct ptx_block *block;
	size_t n_blocks, cap_blocks;
	struct ptx_edge *edge; /* by block of origin */
	size_t n_edges, cap_edges;
	struct ptx_loop *loop; /* those around others before them */
	size_t n_loops, cap_loops;
	uint32_t
		n_unclear; /* edges back into the middle of something, or labels that are nowhere */
};

/* 0, -ENOMEM or -E2BIG: it is too much to look for loops. Fills *ret, which ptx_flow_done() frees whatever is returned. */
int ptx_flow_read(const struct ptx_text *text, const struct ptx_function *f, struct ptx_flow *ret);
void ptx_flow_done(struct ptx_flow *flow);

/* What ends a block, though nothing follows: bra, brx, ret, exit, trap. */
bool ptx_ends_block(const struct ptx_statement *s);
/* ret or exit. */
bool ptx_ends_thread(const struct ptx_statement *s);
/* The last statement of a block. */
const struct ptx_statement *ptx_block_end(const struct ptx_flow *flow, uint32_t block);

#endif
