/* SPDX-License-Identifier: MIT */
/* What a filter leaves, and why it may leave nothing. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/human.h"
#include "base/util.h"
#include "core/filter.h"
#include "core/metric.h"
#include "core/name_pattern.h"
#include "core/parted.h"

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

static bool row_says(const struct session *s, const struct session_row *row)
{
	const struct session_set *set = &s->sets[row->set];

	for (uint32_t i = 0; i < set->n; i++)
		if (parted_metric(s, set->metrics[i]) && s->present[row->values + i])
			return true;
	return false;
}

/* Has a scope numbers that cannot be told of what is left of it? */
static bool has_cut(struct snapshot *snap)
{
	const struct session *s = snapshot_session(snap);
	const uint8_t *parted = snapshot_parted(snap), *hidden = snapshot_hidden(snap);

	for (size_t i = 0; parted && i < s->n_rows; i++) {
		uint32_t node = snapshot_row_node(snap, i);

		if (node != SNAP_NONE && parted[node] && !hidden[node] && row_says(s, &s->rows[i]))
			return true;
	}
	return false;
}

void filter_left(struct snapshot *snap, const struct selector *include, struct filter_left *ret)
{
	uint32_t metric = METRIC_TIME;

	*ret = (struct filter_left){.rows = snapshot_n_shown(snap),
				    .all_rows = snapshot_n_contexts(snap),
				    .has_below = include && selector_is_condition(include),
				    .has_cut = has_cut(snap)};
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
	struct buf text;

	buf_init(&text, FILTER_LEFT_MAX);
	buf_printf(&text, "%u of %u rows", left->rows, left->all_rows);
	if (!isnan(left->all_time)) {
		human_time_ns(part, time);
		human_time_ns(whole, left->all_time);
		human_percent(share, time / left->all_time);
		buf_printf(&text, ", %s of %s (%s %%)", part, whole, share);
	}
	if (left->has_below && left->rows)
		buf_puts(&text, "; with all below a last match");
	if (left->has_cut)
		buf_puts(&text, "; no BYTES, FLOPS of cut scopes");
	snprintf(out, FILTER_LEFT_MAX, "%s", buf_str(&text));
	buf_done(&text);
}
