/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "findings/launch_costs.h"

static double share(const struct session *s, const struct session_config *c,
		    const struct occupancy *is)
{
	(void)s;
	(void)c;
	return is->tail_cost;
}

static double figure(const struct session_config *c, const struct occupancy *is)
{
	(void)c;
	return is->tail_ratio;
}

static void say(struct finding *finding, const struct launch_costs *costs)
{
	char count[HUMAN_THINGS_MAX], time[HUMAN_MAX], empty[HUMAN_MAX];

	human_things(count, costs->n, "kernel");
	human_time_ns(time, costs->time_ns);
	human_percent(empty, costs->mean);
	finding_say(finding, "%s in %s; of the last wave %s%% is empty on average", count, time,
		    empty);
}

static int find(const struct evidence *e, struct findings *f)
{
	static const struct launch_rule rule = {share, figure, say, .same_bytes = true};

	return find_launches(e, FINDING_TAIL, &rule, f);
}

const struct rule rule_TAIL = {
	.title = "grids end in a wave that is not full",
	.advice =
		"Grids of a little less than whole waves (other tiles), blocks that take more than "
		"one piece of the work each (persistent kernels), or other work in another stream "
		"fill it. Blocks that take unlike times lose less than the price says.",
	.find = find,
};
