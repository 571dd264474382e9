/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_WAITS 100 /* fewer are at the ends of something */

/* How long devices had nothing to do because the host had waited for them. */
static double idle_after(const struct session *s)
{
	double sum = 0, v;

	for (size_t i = 0; i < s->n_rows; i++) {
		v = session_row_number(s, &s->rows[i], METRIC_IDLE_SYNC);
		sum += isnan(v) ? 0 : v;
	}
	return sum;
}

static int say(struct findings *f, double idle_ns, double waits, double waited_ns,
	       const struct most *most)
{
	struct finding *finding = finding_add(f, FINDING_WAITS, FINDING_MEASURED, idle_ns);
	char count[HUMAN_MAX], time[HUMAN_MAX], idle[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	human_count(count, waits);
	human_time_ns(time, waited_ns);
	human_time_ns(idle, idle_ns);
	finding_say(finding,
		    "the host waited %s times, %s in all; then the GPU had nothing to do for %s",
		    count, time, idle);
	finding_name_most(finding, most);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	double waits = 0, waited_ns = 0, idle_ns;
	struct most most = {.n = 0};

	for (uint32_t i = 0; i < e->s->n_nodes; i++) {
		double n = session_node_kind(e->s, i) == FRAME_SYNC
				   ? evidence_sum(e, i, METRIC_API_CALLS)
				   : 0;

		if (n < LEAST_WAITS)
			continue;
		waits += n;
		waited_ns += evidence_sum(e, i, METRIC_API_TIME);
		most_insert(&most, i, n);
	}
	idle_ns = waits > 0 ? idle_after(e->s) : 0;
	return evidence_matters(e, idle_ns) ? say(f, idle_ns, waits, waited_ns, &most) : 0;
}

const struct rule rule_WAITS = {
	.title = "the host waits for the GPU in a loop",
	.advice =
		"After each wait the GPU has nothing to do until the next launch: wait only where a "
		"result is needed (.item(), .cpu() and print() of a tensor wait, too), and launch the "
		"next work first.",
	.find = find,
	.is_of_times = true,
};
