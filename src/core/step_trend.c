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
	for (unsigned i = 0; i < STEP_TREND_PARTS / 2; i++) {
		t->least[i] = MIN(t->least[2 * i], t->least[2 * i + 1]);
		t->begins[i] = t->begins[2 * i];
	}
	t->n_parts = STEP_TREND_PARTS / 2;
	t->stride *= 2;
	t->n_within = t->stride;
}

void step_trend_add(struct step_trend *t, uint64_t nth, uint64_t value)
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
	t->begins[t->n_parts] = nth;
	t->least[t->n_parts++] = value;
	t->n_within = 1;
}

/* The least of some parts, and with which step they begin. */
struct quarter {
	uint64_t least, begins;
};

static struct quarter quarter_of(const struct step_trend *t, unsigned from, unsigned n)
{
	struct quarter q = {t->least[from], t->begins[from]};

	for (unsigned i = from + 1; i < from + n; i++)
		q.least = MIN(q.least, t->least[i]);
	return q;
}

/* For each step, known or not; 0: it is not more. */
static double growth(const struct quarter *from, const struct quarter *to)
{
	return to->least > from->least
		       ? (double)(to->least - from->least) / (double)(to->begins - from->begins)
		       : 0;
}

uint64_t step_trend_growth(const struct step_trend *t)
{
	unsigned whole = t->n_parts - (t->n_parts && t->n_within < t->stride), quarter = whole / 4,
		 first = whole - 4 * quarter;
	struct quarter second, third, fourth;
	double once, again;

	if (t->n < STEP_TREND_LEAST || !quarter)
		return 0;
	second = quarter_of(t, first + quarter, quarter);
	third = quarter_of(t, first + 2 * quarter, quarter);
	fourth = quarter_of(t, first + 3 * quarter, quarter);
	once = growth(&second, &third);
	again = growth(&third, &fourth);
	if (!(once > 0 && again > 0) || MAX(once, again) > ALIKE * MIN(once, again))
		return 0;
	return (fourth.least - second.least) / (fourth.begins - second.begins);
}
