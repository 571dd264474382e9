/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/diff_impl.h"

enum { CALLED = 1, BELOW = 2 };

/* Recursion counts once: mark what lies below another one of the same names. */
static void mark_below(uint8_t *mask, const uint32_t *parents, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (mask[parents[i]])
			mask[i] |= BELOW;
}

static double value_of(const double *column, uint32_t node)
{
	return column ? column[node] : NAN;
}

double diff_per_calls(const struct diff_picture *p)
{
	struct derive *derive = numbers_derive(p->numbers);
	const double *entered = derive_used(derive, METRIC_CPU_COUNT, false);
	const double *launched = derive_used(derive, METRIC_COUNT, false);
	_cleanup_(freep) uint8_t *mask = filter_matching(p->snap, p->d->options.per);
	uint32_t n = snapshot_n(p->snap);
	double calls = NAN;

	if (!mask)
		return NAN;
	mark_below(mask, snapshot_parents(p->snap), n);
	for (uint32_t i = 0; i < n; i++) {
		double times = value_of(entered, i);

		if (mask[i] == CALLED)
			add_present(&calls, isnan(times) ? value_of(launched, i) : times);
	}
	return calls;
}
