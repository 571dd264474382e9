/* SPDX-License-Identifier: MIT */
/* What a filter leaves, and why it may leave nothing. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/human.h"
#include "base/util.h"
#include "core/filter.h"
#include "core/metric.h"
#include "core/name_pattern.h"

enum filter_hint filter_hint(const struct selector *include, struct snapshot *snap)
{
	const struct name_pattern *names = include ? selector_names(include) : NULL;

	if (!names)
		return FILTER_NO_HINT;
	if (selector_lacks_blanks(include))
		return FILTER_NO_BLANKS;
	if (name_pattern_is_inside(names, snap))
		return FILTER_ANCHORED;
	return selector_lacks_stars(include) ? FILTER_NO_STARS : FILTER_NO_HINT;
}

/* Of what is shown. */
static double shown_time(struct snapshot *snap, uint32_t metric)
{
	const uint8_t *hidden = snapshot_hidden(snap);
	uint32_t n = snapshot_n(snap);
	_cleanup_(freep) double *own = NULL;
	const struct snap_column *c;
	double sum = NAN;

	if (metric != METRIC_CPU_TIME) {
		c = snapshot_column(snap, metric, true);
		return c ? c->v[0] : NAN;
	}
	own = malloc(MAX(n, 1u) * sizeof(*own));
	if (!own || snapshot_own(snap, metric, own) < 0)
		return NAN;
	for (uint32_t i = 0; i < n; i++)
		if (!hidden[i])
			add_present(&sum, own[i]);
	return sum;
}

void filter_left(struct snapshot *snap, struct filter_left *ret)
{
	uint32_t metric = METRIC_TIME;

	*ret = (struct filter_left){.rows = snapshot_n_shown(snap),
				    .all_rows = snapshot_n_contexts(snap)};
	ret->all_time = snapshot_total(snap, metric);
	if (!(ret->all_time > 0)) { /* as derive_time() chooses */
		double host = snapshot_total(snap, METRIC_CPU_TIME);

		metric = host > 0 ? METRIC_CPU_TIME : metric;
		ret->all_time = host > 0 ? host : ret->all_time;
	}
	ret->time = shown_time(snap, metric);
}

void filter_left_text(const struct filter_left *left, char out[FILTER_LEFT_MAX])
{
	char part[HUMAN_MAX], whole[HUMAN_MAX], share[HUMAN_MAX];
	double time = isnan(left->time) ? 0 : left->time;
	int n = snprintf(out, FILTER_LEFT_MAX, "%u of %u rows", left->rows, left->all_rows);

	if (isnan(left->all_time))
		return;
	human_time_ns(part, time);
	human_time_ns(whole, left->all_time);
	human_percent(share, time / left->all_time);
	snprintf(out + n, FILTER_LEFT_MAX - (size_t)n, ", %s of %s (%s %%)", part, whole, share);
}
