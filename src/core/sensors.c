/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/sensors.h"
#include <math.h>
#include "base/util.h"

static const struct {
	enum sensor_rule rule;
	enum sensor weight; /* of a mean; SENSOR_N: none */
} rules[SENSOR_N] = {
#define _(id, number, key, rule, weight) [SENSOR_##id] = {SENSOR_##rule, SENSOR_##weight},
	SENSORS(_)
#undef _
};

/* No sensor tells more: a file that does would make sums and means that are no numbers. */
#define MOST 1e15

static bool is_told(double v)
{
	return v > 0 && v <= MOST;
}

/* What was not told so far, though there were looks, has no part in it. */
static double mean(double a, double weight_a, double b, double weight_b)
{
	weight_a = is_told(a) && is_told(weight_a) ? weight_a : 0;
	weight_b = is_told(weight_b) ? weight_b : 0;
	return weight_a + weight_b > 0 ? (a * weight_a + b * weight_b) / (weight_a + weight_b) : a;
}

static void add(const struct sensors *before, const struct sensors *more, unsigned i, double *v)
{
	double b = more->v[i];

	switch (rules[i].rule) {
	case SENSOR_SUM:
		*v = fmin(*v + b, MOST);
		break;
	case SENSOR_LEAST:
		*v = *v > 0 ? fmin(*v, b) : b;
		break;
	case SENSOR_MOST:
		*v = fmax(*v, b);
		break;
	case SENSOR_LATEST:
		*v = b;
		break;
	case SENSOR_MEAN:
		*v = mean(*v, before->v[rules[i].weight], b, more->v[rules[i].weight]);
		break;
	}
}

void sensors_add(struct sensors *sum, const struct sensors *more)
{
	const struct sensors before = *sum; /* weights must not have grown yet */

	for (unsigned i = 0; i < SENSOR_N; i++)
		if (is_told(more->v[i]))
			add(&before, more, i, &sum->v[i]);
}

void sensors_forget_now(struct sensors *s)
{
	for (unsigned i = 0; i < SENSOR_N; i++)
		if (rules[i].rule == SENSOR_LATEST)
			s->v[i] = 0;
}

void sensors_put_cuts(const struct sensors *s, struct buf *out)
{
	static const struct {
		enum sensor looks;
		const char *word;
	} cuts[] = {
		{SENSOR_CUT_HEAT, "heat"},
		{SENSOR_CUT_POWER, "power limit"},
		{SENSOR_CUT_BRAKE, "power brake"},
		{SENSOR_CUT_HARDWARE, "hardware"},
	};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
		if (s->v[cuts[i].looks] <= 0)
			continue;
		buf_printf(out, "%s%s", any ? ", " : "", cuts[i].word);
		any = true;
	}
}

double sensors_cut_share(const struct sensors *s)
{
	return s->v[SENSOR_WORKING] > 0 ? fmin(s->v[SENSOR_CUT] / s->v[SENSOR_WORKING], 1) : NAN;
}
