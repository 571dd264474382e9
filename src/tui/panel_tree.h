/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PANEL_TREE_H
#define PROTON_TUI_PANEL_TREE_H
/* The tree panel's own state, shared by its rows (panel_tree.c) and columns (tree_columns.c). */
#include <stdbool.h>
#include <stdint.h>
#include "core/derive.h"
#include "tui/metric_columns.h"
#include "tui/panel.h"
#include "tui/tree.h"
#include "tui/tui_impl.h"

#define MAX_EXTRA 6 /* columns for metrics that are not built in */

/* Columns of the snapshot, fetched when first used after an update. */
enum tree_source {
	SRC_TOTAL,
	SRC_SELF,
	SRC_RATE,
	SRC_COUNT,
	SRC_MIN,
	SRC_MAX,
	SRC_BYTES,
	SRC_FLOPS,
	SRC_CPU,
	SRC_N
};

#define N_QUANTILES 3 /* P50, P90, P99 */

/* Percentiles of nodes that somebody has looked at. */
struct tree_quantiles {
	struct hists *hists;
	uint64_t generation; /* of the snapshot */
	double (*v)[N_QUANTILES];
	uint8_t *known;
	size_t cap_v, cap_known;
};

struct panel_tree {
	struct panel base;
	struct tree tree;
	const double *sources[SRC_N];
	bool fetched[SRC_N];
	struct tree_quantiles quantiles;
	struct column_fit layout;
	/* What the rows were made with. */
	char filter[TUI_NEEDLE];
	uint64_t generation; /* of the snapshot; 0: they were not made */
	enum name_mode names;
	struct least least;
	struct tree_order {
		unsigned sort;
		uint32_t root;
		bool ascending, of_parent;
	} order;
	char search[TUI_NEEDLE]; /* the one that marks were made for, when searched */
	bool searched;
	double cpu_total;                   /* time on the host of all nodes; NaN: to be summed */
	uint32_t cpu_seen;                  /* a node known to have CPU time, or SNAP_NONE */
	struct column columns[MAX_COLUMNS]; /* the fixed ones, then the extra ones */
	struct {
		uint32_t metric;
		char title[12];
	} extra[MAX_EXTRA];
	unsigned n_extra;
	struct metric_columns metric;
	uint8_t *limit; /* which nodes reach what the view is limited to; NULL: no limit */
	int columns_error; /* of metric_columns_init() */
	uint32_t n_metrics; /* of the session, looked at so far */
};

static inline struct panel_tree *as_tree(struct panel *p)
{
	return (struct panel_tree *)p;
}

/* The columns that every profile may have. */
extern const struct columns tree_columns;

void tree_columns_init(struct panel_tree *pt);
void tree_columns_done(struct panel_tree *pt);
/* A new picture: numbers are fetched again, new metrics get columns. */
void tree_columns_update(struct panel_tree *pt);
/* Leave out of the tree what does not reach the view's limit, on either side of a comparison. */
void tree_columns_limit(struct panel_tree *pt);
bool tree_has_no_time(struct panel *p);
/* Title and form of a column for a metric that is not built in. */
void tree_extra_title(char *out, size_t size, const char *name);
void (*tree_extra_format(const struct metric *m))(char[HUMAN_MAX], double);

#endif
