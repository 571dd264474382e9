/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/ruler.h"
#include <string.h>

uint64_t ruler_step(uint64_t least)
{
	uint64_t ten = 1;

	while (ten < least / 10)
		ten *= 10;
	for (;; ten *= 10) {
		if (ten >= least)
			return ten;
		if (2 * ten >= least)
			return 2 * ten;
		if (5 * ten >= least)
			return 5 * ten;
	}
}

void ruler_mark(struct pen *pen, int x, int end, int cursor, const char *text)
{
	struct pen at = pen_at(pen->canvas, pen->y, x, end - x);
	int width = 1 + (int)strlen(text);

	if (pen_left(&at) < width)
		return;
	pen_put(&at, ROLE_HEAD, pen->canvas->look->glyphs->edge);
	if (cursor <= x || cursor >= x + width)
		pen_put(&at, ROLE_HEAD, text);
}

void ruler_cursor(struct pen *pen, int cursor)
{
	struct pen at = pen_at(pen->canvas, pen->y, cursor, 1);

	pen_put(&at, ROLE_HEAD_SORT, pen->canvas->look->glyphs->descending);
}
