/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_NUMBER_COLUMNS_H
#define PROTON_TUI_NUMBER_COLUMNS_H
/* The tree's columns for panels whose rows are sets of calling contexts: made of the numbers that
 * ops->number() gives for a row, the profile's own metrics behind them. */
#include "core/number_sets.h"
#include "tui/metric_columns.h"
#include "tui/panel.h"

struct number_columns {
	struct column v[MAX_COLUMNS];
	char titles[NUMBER_N - NUMBER_EXTRA][12];
	unsigned n_made; /* numbers that have a column */
	struct metric_columns metric;
	bool is_limited;
	struct derived limit; /* what by */
};

/* Give a new panel these columns, or those that the options ask for; about_self: its numbers are of
 * rows without what is below. 0 or -ENOMEM. */
int number_columns_init(struct number_columns *c, struct panel *p, bool about_self);
void number_columns_done(struct number_columns *c);
/* After each picture: columns for metrics that are new. */
void number_columns_update(struct number_columns *c, struct panel *p, struct numbers *numbers);
/* Is row i large enough for the view's limit, on either side of a comparison? */
bool number_columns_reach(const struct number_columns *c, struct panel *p, uint32_t i);
/* A panel without device time begins with the first column that it has. */
void number_columns_choose(struct panel *p);

#endif
