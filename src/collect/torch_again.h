/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_AGAIN_H
#define PROTON_COLLECT_TORCH_AGAIN_H
/* Where a launch of PyTorch comes from, while nobody is told of operators (torch_turns.h): from where the launch
 * did that was told of and has with it in common
 *
 *     the modules ── the program's scopes ── the lines of Python ── what is launched
 *
 * Backward operators, which have no Python, are known by the node of autograd's graph that the thread is at: it
 * has the numbers of the forward operator, and its class. */
#include <stdbool.h>
#include <stdint.h>
#include "collect/torch_join.h"

struct thread_state;

enum {
	TORCH_AGAIN_MAX = 1 << 13,
	TORCH_AGAIN_LAUNCHES = 15, /* of one line of Python that are told apart by their order */
};

/* What a thread remembers. */
struct torch_again {
	_Atomic uint64_t nodes[TORCH_AGAIN_MAX]; /* upper half of the hash, node */
	uint64_t next; /* number of the next forward operator, at the last launch */
	bool made; /* … it is another one than at the launch before: the last has the number before it */
	/* The node of autograd's graph that it is at or was at last. */
	struct torch_link link;
	const void *class;
	bool at_node;         /* it is, at this launch */
	uint64_t place, line; /* of the last launch; line: lines and node */
	uint32_t n_of_line;   /* launches of it before that one, in a row */
	uint64_t lines;       /* … the lines of Python, at a glance */
	bool looked;          /* at this launch it is known whether it is at a node */
};

/* Find what is needed in PyTorch's library. False: this version has it not. */
bool torch_again_find(void *library);
/* It is at a node whose record has these numbers: are they where they were thought to be? */
void torch_again_check(struct torch_again *a, const struct torch_link *link);
/* The link of the node, if it is known where nodes keep theirs. */
bool torch_again_link(const struct torch_again *a, struct torch_link *ret);
/* At each launch: has the thread made a node of autograd's graph since the last one (a->made): is this one of a forward
 * operator that backward ones come of? And how many launches of the same lines, by what they are at a glance, were
 * before it in a row (a->n_of_line)? */
void torch_again_glance(struct torch_again *a, uint64_t lines);
/* Where is this thread in autograd's graph, at a node (a->at_node)? */
void torch_again_look(struct torch_again *a);
/* What was read at a place: 0, nothing. */
uint32_t torch_again_get(const struct torch_again *a, uint64_t place);
void torch_again_put(struct torch_again *a, uint64_t place, uint32_t node);

#endif
