/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DIFF_IMPL_H
#define PROTON_CORE_DIFF_IMPL_H
/* What the files of a comparison share, and nobody else.
 *
 *   diff.c        runs are added, sides compared
 *   diff_tree.c   the tree of both sides
 *   diff_run.c    the values of a run on it
 *   diff_flat.c   its kernels, instead of its paths
 *   diff_per.c    how often something was called in it */
#include "base/idindex.h"
#include "base/strtab.h"
#include "core/diff.h"
#include "core/numbers.h"

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

/* A run as it is compared. */
struct diff_picture {
	struct diff *d;
	struct snapshot *snap;
	struct numbers *numbers;
	struct diff_flat *flat; /* kernels; NULL: paths are compared */
	/* By node of the snapshot, or by kernel: our node; DIFF_NONE: it has none. */
	uint32_t *map;
	uint32_t n_map;
};

/* The node of this name below parent, made when absent; DIFF_NONE: out of memory. */
uint32_t diff_node_intern(struct diff *d, uint32_t parent, const char *name, uint8_t kind);

/* Kernels by name, of what expressions leave, with their nodes. NULL: out of memory. */
struct diff_flat *diff_flat_new(const struct diff_picture *p);
void diff_flat_free(struct diff_flat *f);
uint32_t diff_flat_n(const struct diff_flat *f);
uint32_t diff_flat_node(const struct diff_flat *f, uint32_t i);
/* slot: another one for each metric. */
double diff_flat_value(struct diff_flat *f, uint32_t i, const struct derived *m, size_t slot);

/* How often what `per` matches was entered or launched, the outermost of it; NaN: that is not known. */
double diff_per_calls(const struct diff_picture *p);

/* Fill in the values of a run. What diff_add() returns. */
int diff_run_take(struct diff *d, const struct session *s, struct diff_taken *run);
void diff_run_done(struct diff_taken *run);

#endif
