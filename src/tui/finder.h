/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_FINDER_H
#define PROTON_TUI_FINDER_H
/* The next match of a search in a tree of which most is folded, in the order of its rows as if all
 * were open: a parent, then its children from the first to the last.
 *
 * Only branches that are told to hold a match are looked into, so that a tree that is made as it is
 * opened stays small. That may be a promise that is not kept: then the search goes on behind it. */
#include <stdbool.h>
#include <stdint.h>

#define FINDER_NONE UINT32_MAX

struct finder {
	void *ctx;
	uint32_t root; /* is never a match itself */
	uint32_t (*parent)(void *ctx, uint32_t node);
	/* The child behind `child` (FINDER_NONE: the first), in any order; FINDER_NONE: no more. */
	uint32_t (*next_child)(void *ctx, uint32_t node, uint32_t child);
	/* Of two children of a node: does `a` stand first? */
	bool (*precedes)(void *ctx, uint32_t a, uint32_t b);
	bool (*matches)(void *ctx, uint32_t node);
	bool (*matches_below)(void *ctx, uint32_t node);
};

/* The next match behind (or before) `from`; FINDER_NONE: there is none. *ret_wrapped: it was found
 * from the other end on. */
uint32_t finder_next(const struct finder *f, uint32_t from, bool forward, bool *ret_wrapped);

#endif
