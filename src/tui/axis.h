/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_AXIS_H
#define PROTON_TUI_AXIS_H
/* A part of an axis that is seen in the columns of a screen, and a cursor on it.
 *
 *     0 ──────────[from ─────── at ────── to)────────── end       a column is one of its units at least
 *
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>

struct axis {
	uint64_t end; /* of all there is, which begins at 0 */
	uint64_t from, to;
	unsigned n; /* columns */
	uint64_t at;
};

/* So much there is, in so many columns. Who saw all of it goes on doing so, who saw nothing yet does, too. */
void axis_fit(struct axis *a, uint64_t end, unsigned n);
static inline uint64_t axis_span(const struct axis *a)
{
	return a->to - a->from;
}
static inline bool axis_is_all(const struct axis *a)
{
	return a->from == 0 && a->to == a->end;
}
/* Where a column begins; that of column n is `to`. The column of what is in sight. */
uint64_t axis_start(const struct axis *a, unsigned column);
unsigned axis_column(const struct axis *a, uint64_t at);
/* From `from` on, as far as that is within all there is. The cursor stays in sight. */
void axis_show(struct axis *a, uint64_t from, uint64_t span);
/* The cursor goes there; what is seen follows. */
void axis_go(struct axis *a, uint64_t at);
void axis_step(struct axis *a, int columns);
void axis_pan(struct axis *a, bool forward);   /* half a screen; the cursor keeps its column */
void axis_zoom(struct axis *a, uint64_t span); /* the cursor keeps its column, where it can */

#endif
