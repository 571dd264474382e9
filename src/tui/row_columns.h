/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_ROW_COLUMNS_H
#define PROTON_TUI_ROW_COLUMNS_H
/* The columns of panels whose rows have metrics: calling contexts, sets of them, kernels. Which
 * metric, its title and its form are core/column.h's; a panel only answers ops->value().
 *
 *   the usual ones, in the panel's order, then the profile's own metrics: those of the hardware and of scopes within
 *   kernels, which were asked for when the program ran, before what of the usual ones says less
 *   "total,time/ms,util"  ──>  TOTAL  time/ms  util       asked for by name, and no others
 *   compared              ──>  A  B  Δ  Δ%  STATUS         of the first of them, then the others
 *
 * A column that a configuration or an order names is made when it is none of these. */
#include "core/least.h"
#include "tui/panel.h"
#include "tui/past.h"
#include "tui/row_values.h"

struct row_columns {
	struct row_column **v;
	unsigned n;
	size_t cap, cap_columns;
	struct column *columns; /* the panel's */
	const struct session *s;
	bool is_chosen;      /* those asked for, and no others */
	bool has_warps;      /* scopes within kernels have their columns */
	int heads_for;       /* the screen's width that heads of hardware metrics are for */
	bool only_sums;      /* one of them decides how wide something is: it adds up */
	uint32_t n_metrics;  /* of the session, looked at so far */
	unsigned wish;       /* the column to be sorted by, when it has values */
	bool wish_ascending; /* its direction, while the panel is sorted by another */
	int error;           /* why they are not those asked for: what column_parse() says */
	uint64_t measured;   /* what widths were measured of */
	unsigned n_slots;
	bool is_limited; /* rows are left out below a limit: */
	struct derived limit;
	struct derived_terms limit_terms[2];
	struct past past;     /* of the column TREND */
	uint64_t past_window; /* up to which it was noted */
};

/* The usual columns of rows that stand for what is below them, and of rows that stand for themselves. */
#define USUAL_OF_TREE(first, other)                                                                \
	first, USUAL_SHARE, USUAL_NOW, other, USUAL_OF_WORK, USUAL_CPU, USUAL_CPU_SHARE,           \
		USUAL_ON_CPU
#define USUAL_OF_WORK                                                                              \
	USUAL_CALLS, USUAL_AVG, USUAL_MIN, USUAL_MAX, USUAL_P50, USUAL_P90, USUAL_P99,             \
		USUAL_STDDEV, USUAL_BYTES, USUAL_GBPS, USUAL_FLOPS, USUAL_TFPS

/* Give a new panel its columns; the first of `usual` is what its rows are about. 0 or -ENOMEM; other
 * errors are kept. */
int row_columns_init(struct row_columns *rc, struct panel *p, const enum usual_column *usual,
		     unsigned n);
/* A view to which one of them matters more or less than to others. */
void row_columns_rank(struct row_columns *rc, struct panel *p, enum usual_column usual,
		      uint8_t rank);
void row_columns_done(struct row_columns *rc);
/* A column of the panel's own among them. */
int row_columns_insert(struct row_columns *rc, struct panel *p, unsigned at,
		       const struct column *c);
/* A new picture: columns for metrics that are new, and the panel is sorted by one that it has. */
void row_columns_update(struct row_columns *rc, struct panel *p);
/* The rows were made: columns whose numbers have any length get room for them, of rows 0 to n. */
void row_columns_measure(struct row_columns *rc, struct panel *p, uint32_t n);
/* Make a column that has none of these titles, if it is the name of one; its index, or -1. */
int row_columns_find(struct row_columns *rc, struct panel *p, const char *word);
/* The same, also for a metric that the running program does not have yet. */
int row_columns_await(struct row_columns *rc, struct panel *p, const char *word);
/* Is row i large enough for the view's limit, on either side of a comparison? */
bool row_columns_reach(struct row_columns *rc, struct panel *p, uint32_t i);
/* Are the rows in the order of time on devices, the largest first? */
bool row_columns_by_time(const struct panel *p);
/* Append the names of what hardware counted that has a value, and no room; how many these are. None where somebody has
 * chosen the columns. */
unsigned row_columns_put_hidden(const struct row_columns *rc, struct panel *p, struct buf *out);
/* The first word whose metric there is not yet, or NULL. */
const char *row_columns_missing(const struct row_columns *rc);

#endif
