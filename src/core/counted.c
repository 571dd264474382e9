/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/counted.h"
#include <math.h>
#include <stdio.h>
#include "base/util.h"

const struct counter_about counters_about[COUNTED_N] = {
#define _(id, number, key, unit, title, word) [COUNTED_##id] = {key, title, word, COUNTED_##unit},
	COUNTERS(_)
#undef _
};

/* No hardware counts more a second: a file that says so would make means that are no numbers. */
#define MOST 1e15

void counted_init(struct counted *c)
{
	*c = (struct counted){.start_ns = 0};
	for (unsigned i = 0; i < COUNTED_N; i++)
		c->v[i] = NAN;
}

static double mean(double a, double weight_a, double b, double weight_b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	return (a * weight_a + b * weight_b) / (weight_a + weight_b);
}

void counted_add(struct counted *sum, const struct counted *more)
{
	for (unsigned i = 0; i < COUNTED_N; i++)
		sum->v[i] = mean(sum->v[i], (double)sum->counted_ns, more->v[i],
				 (double)more->counted_ns);
	if (!sum->n || more->start_ns < sum->start_ns)
		sum->start_ns = more->start_ns;
	sum->end_ns = MAX(sum->end_ns, more->end_ns);
	sum->counted_ns += more->counted_ns;
	sum->n += more->n;
}

const char *counted_text(char out[HUMAN_MAX], enum counter_id id, double v)
{
	switch (counters_about[id].unit) {
	case COUNTED_PERCENT:
		human_percent(out, v / 100);
		return "%";
	case COUNTED_HZ:
		human_rate(out, v / 1e6);
		return "MHz";
	case COUNTED_BYTES:
		human_rate(out, v / 1e9);
		return "GB/s";
	case COUNTED_COUNT:
		human_count(out, v);
		return "/s";
	}
	return "";
}

bool counted_check(struct counted *c)
{
	for (unsigned i = 0; i < COUNTED_N; i++)
		if (!(c->v[i] >= 0 && c->v[i] <= MOST))
			c->v[i] = NAN;
	if (!c->n || !c->counted_ns || c->end_ns <= c->start_ns || c->end_ns >> 62)
		return false;
	c->counted_ns = MIN(c->counted_ns, c->end_ns - c->start_ns);
	return true;
}
