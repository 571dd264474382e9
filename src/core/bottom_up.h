/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_BOTTOM_UP_H
#define PROTON_CORE_BOTTOM_UP_H
/* The tree upside down: its roots are the frames that hold numbers themselves (kernels, copies …),
 * and below each stand its callers with their share of it.
 *
 *     main ── a ── kernel        kernel ── a ── main        a set of (holder, caller) pairs a node;
 *         └── b ── kernel               └── b ── main       children part the set of their parent
 *
 * Each holder is in one child, so exclusive numbers over a set are right under recursion, and
 * children make up their parent: what is called from functions and from the top has the root among
 * its callers. Children are made when they are asked for: what nobody opens costs nothing. Node 0
 * stands for all holders and has the roots as children. Nodes are numbered anew by
 * bottom_up_update(); a node's key names the same path for ever. thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/number_sets.h"

#define BOTTOM_UP_NONE UINT32_MAX

struct bottom_up_node {
	uint64_t key;
	uint32_t parent;      /* BOTTOM_UP_NONE for node 0 */
	uint32_t depth;       /* 0 for node 0, 1 for the roots */
	uint32_t first_child; /* children follow one another */
	uint32_t n_children;  /* once they are made */
	uint32_t frame;       /* of numbers_functions(): of the holder, or of a caller */
	uint32_t first, n;    /* of its pairs */
	uint32_t n_outer;     /* of n, the first, whose holders lie below no other; 0: not known */
	bool is_made;         /* its children exist */
	bool has_callers;     /* it can have children */
};

struct bottom_up;

/* numbers is borrowed. NULL: out of memory. */
struct bottom_up *bottom_up_new(struct snapshot *snap, struct numbers *numbers);
struct bottom_up *bottom_up_free(struct bottom_up *b);
/* The numbers were updated: node 0 and the roots are made anew. 0 or -ENOMEM. */
int bottom_up_update(struct bottom_up *b);

uint32_t bottom_up_n(const struct bottom_up *b);
const struct bottom_up_node *bottom_up_node(const struct bottom_up *b, uint32_t i);
/* Make a node's children, once. 0 or -ENOMEM (it has none then). */
int bottom_up_open(struct bottom_up *b, uint32_t i);
/* The child behind another one (BOTTOM_UP_NONE: the first), which makes them; BOTTOM_UP_NONE: there is
 * none, or no memory. */
uint32_t bottom_up_next_child(struct bottom_up *b, uint32_t i, uint32_t child);
/* The calling context that a node stands for: one of them names it. */
uint32_t bottom_up_example(const struct bottom_up *b, uint32_t i);
/* Is one of these flags set for any context of a node? by_node: flags by node of the snapshot. */
bool bottom_up_any(const struct bottom_up *b, uint32_t i, const uint8_t *by_node, uint8_t flags);
/* The value of a metric over the holders of a node: exclusive, unless "(inc)" was given. A share of
 * the parent is one of the parent in this tree. NaN: absent. */
double bottom_up_value(struct bottom_up *b, uint32_t i, const struct number_ask *ask);
/* The one of its calling contexts that holds the most time. */
uint32_t bottom_up_heaviest(struct bottom_up *b, uint32_t i);

#endif
