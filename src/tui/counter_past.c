/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/counter_past.h"
#include "base/util.h"
#include "core/session.h"
#include "tui/chart.h"
#include "tui/tui_impl.h"
#include "tui/usage_chart.h"

#define STEP_LEAST_NS (NSEC_PER_SEC / 20)

/* As many as there are up to now, in steps of which n have room for all that is shown. They begin with the first time
 * that was counted, so that a column keeps its values when newer ones come. */
static struct counters_steps steps_of(const struct session *s, const struct counted *all, size_t n)
{
	uint64_t whole_ns = all->end_ns - all->start_ns, step_ns = STEP_LEAST_NS, last;
	uint64_t shown_ns = s->counting ? MIN(whole_ns, CHART_PAST_NS) : whole_ns;

	while (shown_ns > n * step_ns)
		step_ns += step_ns / 4;
	last = (whole_ns + step_ns - 1) / step_ns;
	n = MIN(n, last);
	return (struct counters_steps){all->start_ns + (last - n) * step_ns, step_ns, n};
}

/* What is not known of one of them is not known of all. */
static void add_past(const struct session *s, uint32_t device, enum counter_id id,
		     const struct counters_steps *steps, float sum[])
{
	float past[COUNTERS_STEPS_MOST];

	session_counters_past(s, device, id, steps, past);
	for (size_t i = 0; i < steps->n; i++)
		sum[i] += past[i];
}

void counter_past_draw(const struct tui *t, struct pen *pen, uint32_t device,
		       const enum counter_id *ids, unsigned n, int width)
{
	const struct session *s = snapshot_session(t->snap);
	size_t most = (size_t)CLAMP(width - 1, 1, COUNTERS_STEPS_MOST);
	struct counters_range range;
	struct counters_steps steps;
	float past[COUNTERS_STEPS_MOST] = {0};

	if (width < 2 || !session_counters_range(s, device, &range)) {
		pen_skip(pen, ROLE_NORMAL, width);
		return;
	}
	steps = steps_of(s, &range.mean, most);
	for (unsigned i = 0; i < n; i++)
		add_past(s, device, ids[i], &steps, past);
	chart_draw(
		&(struct chart){.v = past,
				.size = COUNTERS_STEPS_MOST,
				.n = steps.n,
				.most = COUNTERS_STEPS_MOST,
				.full = counters_about[ids[0]].unit == COUNTED_PERCENT ? 100 : 0},
		pen, width);
}

void sensor_past_draw(const struct tui *t, struct pen *pen, uint32_t device, enum sensor sensor,
		      enum sensor limit, int width)
{
	const struct sensors *said = session_sensors_find(snapshot_session(t->snap), device);
	const float *past = usage_sensor_past(&t->usage, device, sensor);
	struct chart chart;

	if (!said || !past || width < 2 || !t->options.live) {
		pen_skip(pen, ROLE_NORMAL, width);
		return;
	}
	chart = usage_chart(t, past, limit < SENSOR_N ? said->v[limit] : 0);
	chart_draw(&chart, pen, width);
}
