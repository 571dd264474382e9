/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_METRIC_COLUMNS_H
#define PROTON_TUI_METRIC_COLUMNS_H
/* Columns that are asked for by name (view -m), and those of a comparison.
 *
 *   "total,time/ms,util"  ──>  TOTAL  time/ms  util          any name of core/derive.h
 *   compared              ──>  A  B  Δ  Δ%  STATUS            of the first of them */
#include "core/derive.h"
#include "tui/panel.h"

struct metric_column {
	struct derived derived;
	char title[32];
	const char *word; /* of the options: what a running program has not yet; NULL: it is there */
	const double *now, *before; /* by node; NULL: out of memory, or no other side */
	bool fetched;
};

struct metric_columns {
	struct derive *now, *before; /* NULL: rows are no nodes, no other side */
	struct metric_column v[MAX_COLUMNS];
	unsigned n;
	struct column columns[MAX_COLUMNS];
	const struct session *s; /* NULL: nothing was asked for */
	uint32_t n_metrics;      /* of the session, looked at so far */
};

/* Replace a panel's columns by the ones that the options ask for, if any. 0, -ENOENT (no such
 * metric; while a program runs, its column stays empty until there is one), -EINVAL (no such unit), -E2BIG (too many) or -ENOMEM. */
int metric_columns_init(struct metric_columns *mc, struct panel *p);
/* A new picture: values are computed again when next looked at. */
void metric_columns_update(struct metric_columns *mc);
/* The first word whose metric there is not yet, or NULL. */
const char *metric_columns_missing(const struct metric_columns *mc);
void metric_columns_done(struct metric_columns *mc);

#endif
