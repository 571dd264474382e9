/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DIFF_IMPL_H
#define PROTON_CORE_DIFF_IMPL_H
/* What the files of a comparison share, and nobody else.
 *
 *   diff.c        runs are added, sides compared
 *   diff_tree.c   the tree of both sides
 *   diff_run.c    the values of a run on it */
#include "base/idindex.h"
#include "base/strtab.h"
#include "core/diff.h"

struct diff_run {
	double *values; /* by node, n of them; NaN: absent. Nodes of later runs are not in it */
	size_t n;
	double total;
};

struct diff_runs {
	struct diff_run *runs;
	size_t n, cap;
};

struct diff {
	struct diff_options options;
	struct column_spec column; /* of the first run that has the metric */
	char *metric, *unit;
	struct strtab *strings;
	struct diff_node *nodes;
	size_t n, cap;
	struct idindex index;
	struct diff_runs sides[DIFF_N_SIDES];
	struct diff_value total;
	bool has_values, exclusive, differs;
};

/* The node of this name below parent, made when absent; DIFF_NONE: out of memory. */
uint32_t diff_node_intern(struct diff *d, uint32_t parent, const char *name, uint8_t kind);

/* Fill in the values of a run. What diff_add() returns; on failure free run->values. */
int diff_run_take(struct diff *d, const struct session *s, struct diff_run *run);

#endif
