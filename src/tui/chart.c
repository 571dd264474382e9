/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/chart.h"
#include <math.h>

size_t chart_step(const struct chart *c, int width)
{
	uint64_t n = MIN(c->n, (uint64_t)MIN(c->most, c->size));
	size_t step = 1;

	/* One column may be only begun. */
	while (width > 1 && n > (uint64_t)(width - 1) * step)
		step *= 2;
	return step;
}

uint64_t chart_span(const struct chart *c, int width)
{
	return MIN(c->n, (uint64_t)width * chart_step(c, width));
}

/* The mean of the values in column i of those that steps make, counted from the first value on, so
 * that a column keeps its values when newer ones come. NaN: none is known. */
static double column_value(const struct chart *c, uint64_t i, size_t step)
{
	uint64_t first = i * step, end = MIN(first + step, c->n), n = 0;
	double sum = 0;

	for (; first < end; first++) {
		double v = (double)c->v[first % c->size];

		if (c->n - first > c->size || isnan(v))
			continue;
		sum += v;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static void draw_column(struct pen *pen, double share)
{
	const struct glyphs *glyphs = pen->canvas->look->glyphs;
	long level;

	if (isnan(share)) {
		pen_skip(pen, ROLE_NORMAL, 1);
		return;
	}
	/* What is little is more than nothing. */
	level = share > 0 ? 1 + lround(CLAMP(share, 0, 1) * 6) : 0;
	pen_put(pen, share > 0 ? ROLE_BAR : ROLE_BAR_REST, glyphs->levels[level]);
}

void chart_draw(const struct chart *c, struct pen *pen, int width)
{
	size_t step = chart_step(c, width);
	uint64_t end = (c->n + step - 1) / step;
	uint64_t first = end > (uint64_t)width ? end - (uint64_t)width : 0;
	double full = c->full;

	for (uint64_t i = first; i < end && c->full == 0; i++)
		full = fmax(full, column_value(c, i, step));
	for (uint64_t i = first; i < end; i++)
		draw_column(pen,
			    full > 0 ? column_value(c, i, step) / full : column_value(c, i, step));
	pen_skip(pen, ROLE_NORMAL, width - (int)(end - first));
}

/* Dots of a column of braille, from the bottom up to a level; left, right. */
static const unsigned char dots[2][5] = {{0, 0x40, 0x44, 0x46, 0x47}, {0, 0x80, 0xa0, 0xb0, 0xb8}};

/* 0: nothing, or not known; 1 … 4. */
static int dot_level(double share)
{
	return share > 0 ? 1 + (int)lround(CLAMP(share, 0, 1) * 3) : 0;
}

static void put_dots(struct pen *pen, double left, double right)
{
	unsigned code = 0x2800 + dots[0][dot_level(left)] + dots[1][dot_level(right)];
	const char text[] = {(char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)),
			     (char)(0x80 | (code & 0x3f)), '\0'};

	pen_put(pen, ROLE_BAR, text);
}

static void put_pair(struct pen *pen, double left, double right)
{
	double mean = isnan(left) ? right : isnan(right) ? left : (left + right) / 2;

	if (!(mean > 0) || !pen->canvas->look->glyphs->has_braille)
		draw_column(pen, mean);
	else
		put_dots(pen, left, right);
}

void chart_pairs(struct pen *pen, const float *v, size_t n)
{
	double full = 0;

	for (size_t i = 0; i < n; i++)
		full = fmax(full, (double)v[i]);
	for (size_t i = 0; i + 1 < n; i += 2)
		put_pair(pen, full > 0 ? (double)v[i] / full : (double)v[i],
			 full > 0 ? (double)v[i + 1] / full : (double)v[i + 1]);
}
