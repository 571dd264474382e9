/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/step_trend.h"
#include "base/util.h"

#define ALIKE 3 /* growth of one time, to that of the other: not more than so many times */

void step_trend_clear(struct step_trend *t)
{
	*t = (struct step_trend){.stride = 1};
}

/* Two parts become one. */
static void fold(struct step_trend *t)
{
	for (unsigned i = 0; i < STEP_TREND_PARTS / 2; i++)
		t->least[i] = MIN(t->least[2 * i], t->least[2 * i + 1]);
	t->n_parts = STEP_TREND_PARTS / 2;
	t->stride *= 2;
	t->n_within = t->stride;
}

void step_trend_add(struct step_trend *t, uint64_t value)
{
	t->n++;
	t->sum += value;
	t->max = MAX(t->max, value);
	if (t->n_parts && t->n_within < t->stride) {
		t->n_within++;
		t->least[t->n_parts - 1] = MIN(t->least[t->n_parts - 1], value);
		return;
	}
	if (t->n_parts == STEP_TREND_PARTS)
		fold(t);
	t->least[t->n_parts++] = value;
	t->n_within = 1;
}

static uint64_t least_of(const struct step_trend *t, unsigned from, unsigned n)
{
	uint64_t least = t->least[from];

	for (unsigned i = from + 1; i < from + n; i++)
		least = MIN(least, t->least[i]);
	return least;
}

uint64_t step_trend_growth(const struct step_trend *t)
{
	unsigned whole = t->n_parts - (t->n_parts && t->n_within < t->stride), quarter = whole / 4,
		 first = whole - 4 * quarter;
	uint64_t second, third, fourth, once, again;

	if (t->n < STEP_TREND_LEAST || !quarter)
		return 0;
	second = least_of(t, first + quarter, quarter);
	third = least_of(t, first + 2 * quarter, quarter);
	fourth = least_of(t, first + 3 * quarter, quarter);
	if (third <= second || fourth <= third)
		return 0;
	once = third - second;
	again = fourth - third;
	if (MAX(once, again) > ALIKE * MIN(once, again))
		return 0;
	return (fourth - second) / (2 * quarter * t->stride);
}
