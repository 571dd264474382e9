/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "findings/launch_costs.h"

static double share(const struct session *s, const struct session_config *c,
		    const struct occupancy *is)
{
	(void)s;
	(void)c;
	return is->unused_ratio;
}

static double figure(const struct session_config *c, const struct occupancy *is)
{
	(void)c;
	return is->unused_ratio;
}

static void say(struct finding *finding, const struct launch_costs *costs)
{
	char count[HUMAN_THINGS_MAX], time[HUMAN_MAX], unused[HUMAN_MAX];

	human_things(count, costs->n, "kernel");
	human_time_ns(time, costs->time_ns);
	human_percent(unused, costs->mean);
	finding_say(finding, "%s in %s, %s%% of the multiprocessors without a block", count, time,
		    unused);
}

static int find(const struct evidence *e, struct findings *f)
{
	static const struct launch_rule rule = {share, figure, say, .same_bytes = true};

	return find_launches(e, FINDING_FEW_BLOCKS, &rule, f);
}

const struct rule rule_FEW_BLOCKS = {
	.title = "kernels have fewer blocks than the GPU has multiprocessors",
	.advice =
		"More and smaller blocks, a split of the sum (split-K), larger batches, or other "
		"work beside them in other streams; what runs beside them already is not counted.",
	.find = find,
};
