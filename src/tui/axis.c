/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/axis.h"
#include "base/util.h"

uint64_t axis_start(const struct axis *a, unsigned column)
{
	return a->from + (uint64_t)((unsigned __int128)axis_span(a) * column / a->n);
}

unsigned axis_column(const struct axis *a, uint64_t at)
{
	unsigned k = (unsigned)((unsigned __int128)(at - a->from) * a->n / axis_span(a));

	k = MIN(k, a->n - 1);
	while (k > 0 && axis_start(a, k) > at)
		k--;
	while (k + 1 < a->n && axis_start(a, k + 1) <= at)
		k++;
	return k;
}

void axis_show(struct axis *a, uint64_t from, uint64_t span)
{
	span = CLAMP(span, a->n, a->end);
	a->from = MIN(from, a->end - span);
	a->to = a->from + span;
	a->at = CLAMP(a->at, a->from, a->to - 1);
}

void axis_fit(struct axis *a, uint64_t end, unsigned n)
{
	bool saw_all = !a->end || axis_is_all(a);

	a->n = n;
	a->end = MAX(end, n);
	axis_show(a, saw_all ? 0 : a->from, saw_all ? a->end : axis_span(a));
}

void axis_go(struct axis *a, uint64_t at)
{
	at = MIN(at, a->end - 1);
	a->at = at;
	if (at < a->from || at >= a->to)
		axis_show(a, at - MIN(axis_span(a) / 4, at), axis_span(a));
}

/* Where there is no further column, an eighth of the screen comes, to see what follows. */
void axis_step(struct axis *a, int columns)
{
	int64_t k = (int64_t)axis_column(a, a->at) + columns;
	uint64_t by = axis_span(a) / 8 + 1;

	if (k < 0 || k >= (int64_t)a->n) {
		axis_show(a, k < 0 ? a->from - MIN(by, a->from) : a->from + by, axis_span(a));
		k = (int64_t)axis_column(a, a->at) + columns;
	}
	a->at = axis_start(a, (unsigned)CLAMP(k, 0, (int64_t)a->n - 1));
}

void axis_pan(struct axis *a, bool forward)
{
	uint64_t by = axis_span(a) / 2 + 1;
	unsigned k = axis_column(a, a->at);

	axis_show(a, forward ? a->from + by : a->from - MIN(by, a->from), axis_span(a));
	a->at = axis_start(a, k);
}

void axis_zoom(struct axis *a, uint64_t span)
{
	uint64_t before;

	span = CLAMP(span, a->n, a->end);
	before = (uint64_t)((unsigned __int128)(a->at - a->from) * span / axis_span(a));
	axis_show(a, a->at - MIN(before, a->at), span);
}
