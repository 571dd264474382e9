/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/axis_hits.h"
#include "base/util.h"

#define MANY_PARTS 1500 /* of all rows: there is room for other hits, too */

void axis_hits_add(const struct pen *pen, int x, unsigned n, int height, size_t row)
{
	unsigned each = 1 + (unsigned)height * n / MANY_PARTS;

	for (unsigned k = 0; k < n; k += each) {
		struct pen part = *pen;

		part.x = x + (int)MIN(k + each, n);
		pen_hit(&part, x + (int)k, HIT_PART,
			(int)(row * AXIS_COLUMNS + MIN(k + each / 2, n - 1)));
	}
}

bool axis_hit(int part, size_t n_rows, unsigned n, size_t *ret_row, unsigned *ret_column)
{
	*ret_row = (size_t)(part / AXIS_COLUMNS);
	*ret_column = (unsigned)(part % AXIS_COLUMNS);
	return *ret_row < n_rows && *ret_column < n;
}
