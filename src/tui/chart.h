/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_CHART_H
#define PROTON_TUI_CHART_H
/* The past of a number on one line: one character a column, the newest at the right. It
 * grows from the left, and moves there when all columns are full.
 *
 *     ▁▁▂▅█▇▇▆▁▁▁▃      0 is the lowest, dim; what was not known is blank */
#include <stddef.h>
#include <stdint.h>
#include "tui/draw.h"

#define CHART_PAST_NS (120 * NSEC_PER_SEC) /* of a run that goes on they show this at most */

struct chart {
	const float *v; /* a ring of `size` values */
	size_t size;
	uint64_t n;  /* values so far: the newest is v[(n - 1) % size] */
	size_t most; /* values that are worth a look, at most `size` */
	double full; /* what a full column stands for; 0: the highest column */
};

/* How many values one column is the mean of: a power of two, so few that all values fit, or the
 * newest `most` of them. */
size_t chart_step(const struct chart *c, int width);
/* How many values that shows. */
uint64_t chart_span(const struct chart *c, int width);
/* Draw it in `width` columns. */
void chart_draw(const struct chart *c, struct pen *pen, int width);

/* n values, the oldest first and two a column (of characters with dots; else the mean of two), as parts
 * of the highest one. NaN: not known, which is blank; what is 0 is the lowest, dim. */
void chart_pairs(struct pen *pen, const float *v, size_t n);

#endif
