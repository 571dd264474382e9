/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_ROW_PAST_H
#define PROTON_TUI_ROW_PAST_H
/* The column TREND: what rows were in the last windows, by the panel's own keys (ops->past_key). */
#include "tui/row_columns.h"

/* The rows are made: what those were worth that were drawn before, of rows 0 to n. */
void row_past_note(struct row_columns *rc, struct panel *p, uint32_t n);
/* The last windows of row i, which is drawn now. False: out of memory. */
bool row_past_read(struct row_columns *rc, struct panel *p, uint32_t i, float out[PAST_WINDOWS]);

#endif
