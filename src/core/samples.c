/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/samples.h"
#include <math.h>
#include <stdio.h>
#include "base/human.h"

struct row_times row_times(const struct session *s, const struct session_row *row)
{
	return (struct row_times){.time = session_row_number(s, row, METRIC_TIME),
				  .count = session_row_number(s, row, METRIC_COUNT),
				  .min = session_row_number(s, row, METRIC_TIME_MIN),
				  .max = session_row_number(s, row, METRIC_TIME_MAX)};
}

bool row_is_single(const struct row_times *t)
{
	return t->count == 1 && t->time >= 0;
}

double samples_covered(const struct session *s)
{
	double n = 0, all = 0;

	if (!s->n_hists)
		return NAN;
	for (size_t i = 0; i < s->n_hists; i++)
		n += (double)hist_total(&s->hists[i].hist);
	for (size_t i = 0; i < s->n_rows; i++) {
		struct row_times t = row_times(s, &s->rows[i]);

		n += row_is_single(&t);
		all += t.count > 0 && t.time >= 0 ? t.count : 0;
	}
	return all > 0 ? fmin(n / all, 1) : NAN;
}

bool samples_text(const struct session *s, char out[SAMPLES_TEXT_MAX])
{
	double covered = samples_covered(s);
	char share[HUMAN_MAX];

	human_percent(share, covered);
	snprintf(out, SAMPLES_TEXT_MAX,
		 "percentiles are of %s %% of the executions, none where less than half is known",
		 share);
	return covered < 1;
}

static bool is_of_hist(const struct session *s, const struct session_row *row,
		       const struct session_hist *hist)
{
	const struct session_lane *lane = row->lane < s->n_lanes ? &s->lanes[row->lane] : NULL;

	return lane && (hist->device == SESSION_NONE || lane->device == hist->device) &&
	       (hist->process == SESSION_NONE || lane->process == hist->process);
}

/* Without grouping a node is its own view. *iter: 0 to begin, then a row + 1, SESSION_NONE to end.
 */
uint32_t hist_next_node(const struct snapshot *snap, const struct session_hist *hist,
			uint32_t *iter)
{
	const struct session *s = snapshot_session(snap);
	uint32_t row;

	if (*iter == SESSION_NONE)
		return SNAP_NONE;
	if (snapshot_is_plain(snap)) {
		*iter = SESSION_NONE;
		return hist->node < snapshot_n(snap) ? hist->node : SNAP_NONE;
	}
	row = *iter ? session_next_row(s, *iter - 1) : session_first_row(s, hist->node);
	for (; row != SESSION_NONE; row = session_next_row(s, row)) {
		uint32_t node = snapshot_row_node(snap, row);

		if (node == SNAP_NONE || !is_of_hist(s, &s->rows[row], hist))
			continue;
		*iter = row + 1;
		return node;
	}
	*iter = SESSION_NONE;
	return SNAP_NONE;
}
