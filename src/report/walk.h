/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_WALK_H
#define PROTON_REPORT_WALK_H
/* Print a tree of any depth row by row, without recursion. The children of a node come before its
 * next sibling. While a row is put, the open levels tell which lines to draw in front of it.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/snapshot.h"
#include "format/out.h"
#include "report/report.h"

struct walk_entry {
	uint32_t node;
	double key;
	const char *name;
};

/* The children of one node that are shown, and which of them comes next. */
struct walk_level {
	struct walk_entry *entries;
	size_t n, at, cap;
};

static inline bool walk_level_is_last(const struct walk_level *level)
{
	return level->at == level->n;
}

struct walk {
	uint32_t root; /* where it begins */
	/* The child behind another one (SNAP_NONE: the first); SNAP_NONE: no more. NULL: as in the
	 * snapshot. */
	uint32_t (*next_child)(void *ctx, uint32_t node, uint32_t child);
	struct snapshot *snap; /* only where next_child is NULL */
	size_t depth;          /* levels that are put, the root's counted; 0: all */
	/* Is the node shown? If so, fill in what it is sorted by. */
	bool (*take)(void *ctx, uint32_t node, struct walk_entry *ret);
	int (*compare)(const void *a, const void *b); /* two entries; NULL: as they came */
	void (*put)(void *ctx, uint32_t node);
	void *ctx;
	const int *error;          /* the walk stops when this is not 0 */
	struct walk_level *levels; /* those that are open; made by the walk */
	size_t n_levels, cap_levels;
};

/* Put the root and what is below it. 0 or -ENOMEM. */
int walk_tree(struct walk *w);
/* Put the lines in front of a name behind numbers of so many columns; returns the columns that these
 * take. Branches that would leave no room for names are counted instead. out: NULL: they are not put. */
size_t walk_put_lines(const struct walk *w, const struct report_options *o, size_t used,
		      struct out *out);
/* By name, equal ones in the order of the tree. */
int walk_compare_names(const void *a, const void *b);
/* The largest key first, absent ones (NaN) last, equal ones in the order of the tree. */
int walk_compare_keys(const void *a, const void *b);

#endif
