/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/idle.h"
#include <stdlib.h>
#include "base/util.h"

static void add(const struct session *s, const struct session_row *row, uint32_t metric,
		double *sum)
{
	double v = session_row_number(s, row, metric);

	if (!isnan(v))
		*sum = isnan(*sum) ? v : *sum + v;
}

static void add_row(const struct session *s, const struct session_row *row, struct idle *d)
{
	static const uint32_t parts[] = {
		[GAP_LATE] = METRIC_IDLE_LATE,     [GAP_SYNC] = METRIC_IDLE_SYNC,
		[GAP_COPY] = METRIC_IDLE_COPY,     [GAP_LAUNCH] = METRIC_IDLE_LAUNCH,
		[GAP_QUEUED] = METRIC_IDLE_QUEUED, [GAP_GRAPH] = METRIC_IDLE_GRAPH,
	};

	add(s, row, METRIC_TIME, &d->work_ns);
	add(s, row, METRIC_IDLE, &d->ns);
	add(s, row, METRIC_IDLE_GAPS, &d->gaps);
	for (size_t i = 0; i < GAP_N_PARTS; i++)
		add(s, row, parts[i], &d->parts[i]);
	add(s, row, METRIC_LATENCY, &d->latency_ns);
	add(s, row, METRIC_LATENCY_N, &d->launches);
	d->latency_max_ns = fmax(d->latency_max_ns, session_row_number(s, row, METRIC_LATENCY_MAX));
}

struct idle *idle_new(const struct session *s)
{
	struct idle *of = s->n_devices ? malloc(s->n_devices * sizeof(*of)) : NULL;

	for (size_t i = 0; of && i < s->n_devices; i++) {
		of[i] = (struct idle){.ns = NAN,
				      .gaps = NAN,
				      .launches = NAN,
				      .latency_ns = NAN,
				      .latency_max_ns = NAN,
				      .busy_ns = session_busy_ns(s, (uint32_t)i),
				      .work_ns = NAN};
		for (size_t k = 0; k < GAP_N_PARTS; k++)
			of[i].parts[k] = NAN;
	}
	for (size_t i = 0; of && i < s->n_rows; i++) {
		uint32_t lane = s->rows[i].lane,
			 device = lane < s->n_lanes ? s->lanes[lane].device : SESSION_NONE;

		if (device < s->n_devices)
			add_row(s, &s->rows[i], &of[device]);
	}
	return of;
}
