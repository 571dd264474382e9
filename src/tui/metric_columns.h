/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_METRIC_COLUMNS_H
#define PROTON_TUI_METRIC_COLUMNS_H
/* Columns of the tree that are asked for by name (view -m), and those of a comparison.
 *
 *   "total,time/ms,util"  ──>  TOTAL  time/ms  util          any name of core/derive.h
 *   compared              ──>  A  B  Δ  Δ%  STATUS            of the first of them */
#include "tui/panel_tree.h"

/* Replace the tree's columns by the ones that the options ask for. 0, -ENOENT (no such metric),
 * -EINVAL (no such unit), -E2BIG (too many) or -ENOMEM. */
int metric_columns_init(struct panel_tree *pt);
/* Leave out of the tree what does not reach the view's limit, on either side of a comparison. */
void metric_columns_limit(struct panel_tree *pt);
/* A new picture: values are computed again when next looked at. */
void metric_columns_update(struct panel_tree *pt);
void metric_columns_done(struct panel_tree *pt);

#endif
