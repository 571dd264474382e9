/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "core/collective.h"
#include "core/launch_rows.h"
#include "findings/launch_costs.h"

#define LEAST_BYTES 64 /* a thread: less is a frame of a function, or two */

/* How often it is used is not known: it may be all that the kernel waits for. Ranks that talk to each other wait for the others, and
 * who wrote the program did not write what they do meanwhile. */
static double share(const struct session *s, const struct session_config *c,
		    const struct occupancy *is)
{
	(void)is;
	return launch_local(&c->of) >= LEAST_BYTES &&
	       !collective_is_name(session_node_name(s, c->node));
}

static double figure(const struct session_config *c, const struct occupancy *is)
{
	(void)is;
	return c->of.local;
}

static void say(struct finding *finding, const struct launch_costs *costs)
{
	char count[HUMAN_THINGS_MAX], time[HUMAN_MAX], most[HUMAN_MAX];

	human_things(count, costs->n, "kernel");
	human_time_ns(time, costs->time_ns);
	human_bytes(most, costs->most);
	finding_say(finding, "%s in %s, with up to %sB of local memory a thread", count, time,
		    most);
}

static int find(const struct evidence *e, struct findings *f)
{
	static const struct launch_rule rule = {share, figure, say};

	return find_launches(e, FINDING_LOCAL_MEMORY, &rule, f);
}

const struct rule rule_LOCAL_MEMORY = {
	.title = "kernels use local memory",
	.advice =
		"Registers that were spilled, arrays with indices that are not constants, and the "
		"stack lie in device memory behind the caches. ptxas -v says which it is; more "
		"registers (a larger __launch_bounds__, no -maxrregcount) end spilling.",
	.find = find,
};
