/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "findings/launch_costs.h"
#include "findings/products.h"

#define LOW_RATIO 0.5

/* Warps hide what others wait for: with all of them it would take as much less at the most. A grid that is no whole wave
 * has no more of them, whatever there is room for. */
static double share(const struct session *s, const struct session_config *c,
		    const struct occupancy *is)
{
	bool by_memory = is->limits && !(is->limits & ~(unsigned)(LIMIT_REGISTERS | LIMIT_SHARED));

	if (!by_memory || !(is->ratio < LOW_RATIO) || is->waves < 1 ||
	    is_tuned(session_node_name(s, c->node)))
		return 0;
	return 1 - is->ratio;
}

static double figure(const struct session_config *c, const struct occupancy *is)
{
	(void)c;
	return is->ratio;
}

static void say(struct finding *finding, const struct launch_costs *costs)
{
	char count[HUMAN_THINGS_MAX], time[HUMAN_MAX], ratio[HUMAN_MAX];

	human_things(count, costs->n, "kernel");
	human_time_ns(time, costs->time_ns);
	human_percent(ratio, costs->mean);
	finding_say(finding, "%s in %s, room for %s%% of the warps on average", count, time, ratio);
}

static int find(const struct evidence *e, struct findings *f)
{
	static const struct launch_rule rule = {share, figure, say, .same_bytes = true};

	return find_launches(e, FINDING_LOW_OCCUPANCY, &rule, f);
}

const struct rule rule_LOW_OCCUPANCY = {
	.title = "registers or shared memory limit occupancy",
	.advice =
		"report --view launches says which. Fewer registers (__launch_bounds__, smaller "
		"tiles, less unrolling) or less shared memory a block make room for warps that hide "
		"what others wait for; where a kernel waits for nothing, it gains nothing.",
	.find = find,
};
