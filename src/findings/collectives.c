/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "core/collective.h"
#include "core/ranks.h"
#include "findings/rules.h"

#define COLLECTIVES_SHARE 0.1 /* of all kernels */

static bool is_collective(const struct evidence *e, const struct own *own)
{
	return own->kind == FRAME_KERNEL && collective_is_name(session_node_name(e->s, own->node));
}

/* The mean time that ranks are longer in collectives than the one that is there shortest, which comes
 * last and waits for nobody. NaN: there are no ranks to compare. */
static int mean_wait(const struct evidence *e, double *ret, uint32_t *ret_last)
{
	double sum = 0, least = INFINITY;
	struct ranks ranks;
	int r = ranks_init(&ranks, e->s, METRIC_TIME, NULL);

	*ret = NAN;
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < ranks.n; i++) {
		sum += ranks.totals[i].collectives;
		if (ranks.totals[i].collectives < least)
			*ret_last = ranks.totals[i].process;
		least = fmin(least, ranks.totals[i].collectives);
	}
	if (ranks.n > 1)
		*ret = sum / ranks.n - least;
	ranks_done(&ranks);
	return 0;
}

static int tell(const struct evidence *e, const struct sums *sums, double wait, uint32_t last,
		struct findings *f)
{
	bool knows_wait = wait >= 0;
	char time[HUMAN_MAX], share[HUMAN_MAX], count[HUMAN_THINGS_MAX], name[64];
	struct finding *finding =
		finding_add(f, FINDING_COLLECTIVES, knows_wait ? FINDING_MEASURED : FINDING_MAYBE,
			    knows_wait ? wait : sums->time_ns);

	if (!finding)
		return -ENOMEM;
	finding->at_most = !knows_wait;
	human_time_ns(time, sums->time_ns);
	human_percent(share, sums->time_ns / evidence_computing(e));
	human_things(count, sums->count, "collective");
	finding_say(finding, "%s in %s, %s %% of all kernels", time, count, share);
	if (knows_wait) {
		human_time_ns(time, wait);
		rank_name(e->s, last, name, sizeof(name));
		finding_say(finding, "; %s of it a rank's wait for %s, which comes last", time,
			    name);
	}
	finding_name_nodes(finding, &e->picked[FINDING_COLLECTIVES]);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	const struct sums *sums = &e->picked[FINDING_COLLECTIVES].sums;
	uint32_t last = 0;
	double wait;
	int r;

	if (!(sums->time_ns > 0) || sums->time_ns < COLLECTIVES_SHARE * evidence_computing(e))
		return 0;
	r = mean_wait(e, &wait, &last);
	return r < 0 ? r : tell(e, sums, wait, last, f);
}

const struct rule rule_COLLECTIVES = {
	.title = "time goes into collectives",
	.advice =
		"The rank that is there shortest comes last, and the others wait for it: see what it "
		"does before. Overlap them with computing, send fewer and larger messages.",
	.picks = is_collective,
	.find = find,
	.is_of_times = true,
};
