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

struct diff_taken {
	struct diff_run run;
	double *values; /* by node and metric, of n nodes; NaN: absent. Those of later runs are not in it */
	double *totals; /* by metric */
	size_t n;
};

struct diff_runs {
	struct diff_taken *runs;
	size_t n, cap;
	struct diff_range facts[DIFF_N_FACTS];
};

struct diff {
	struct diff_options options;
	struct diff_metric *metrics;
	size_t n_metrics, cap_metrics;
	struct strtab *strings;
	struct diff_node *nodes;
	size_t n, cap;
	struct idindex index;
	struct diff_runs sides[DIFF_N_SIDES];
	struct diff_value *values; /* by node and metric; NULL: not compared yet */
};

/* The node of this name below parent, made when absent; DIFF_NONE: out of memory. */
uint32_t diff_node_intern(struct diff *d, uint32_t parent, const char *name, uint8_t kind);

/* Fill in the values of a run. What diff_add() returns. */
int diff_run_take(struct diff *d, const struct session *s, struct diff_taken *run);
void diff_run_done(struct diff_taken *run);

#endif
