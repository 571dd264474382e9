/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_SLOWED 0.1 /* of its work */

/* What the clock would be: the highest that was seen, if it was not slowed all the time; an operator may
 * have set less than the device can do. */
static double full_clock(const struct sensors *s)
{
	enum sensor full =
		s->v[SENSOR_CUT] < s->v[SENSOR_WORKING] ? SENSOR_CLOCK_MAX : SENSOR_CLOCK_LIMIT;

	return s->v[full];
}

static int tell(const struct sensors *s, uint32_t device, double price, struct findings *f)
{
	struct finding *finding = finding_add(f, FINDING_CLOCKS, FINDING_MAYBE, price);
	_cleanup_(buf_done) struct buf why = {0};
	char share[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	finding->at_most = true; /* what waits for memory does not run with the clock */
	finding->device = device;
	human_percent(share, sensors_cut_share(s));
	sensors_put_cuts(s, &why);
	finding_say(finding, "%s%% of its work at %.0f MHz instead of %.0f: %s", share,
		    s->v[SENSOR_CUT_CLOCK], full_clock(s), buf_str(&why));
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < e->s->n_sensors; i++) {
		const struct session_sensors *on = &e->s->sensors[i];
		double full = full_clock(&on->of), slow = on->of.v[SENSOR_CUT_CLOCK];
		double price = session_busy_ns(e->s, on->device) * sensors_cut_share(&on->of) *
			       (1 - slow / full);

		if (on->of.v[SENSOR_CUT] >= LEAST_LOOKS && slow > 0 && full > slow &&
		    sensors_cut_share(&on->of) >= LEAST_SLOWED && evidence_matters(e, price))
			r = tell(&on->of, on->device, price, f);
	}
	return r;
}

const struct rule rule_CLOCKS = {
	.title = "the GPU is slowed by heat or power",
	.advice =
		"Its clock was lower than its work asked for. Heat and the power brake are for who "
		"runs the machine (air flow, supply); a power limit is a choice (nvidia-smi -q -d "
		"POWER), below which small changes of the work change nothing. Runs with and "
		"without it do not compare.",
	.find = find,
};
