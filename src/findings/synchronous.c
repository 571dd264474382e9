/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_CALLS 100

/* That at least half of them made the host wait. */
static bool is_synchronous(const struct evidence *e, uint32_t node)
{
	return evidence_is(e, node, FRAME_COPY) && e->nodes[node].async <= e->nodes[node].count / 2;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct sums sums = evidence_sum(e, is_synchronous);
	char count[HUMAN_MAX], time[HUMAN_MAX];
	struct finding *finding;

	/* Who does not say which were asynchronous does not say which were not. */
	if (!e->has_async || sums.count < LEAST_CALLS || !evidence_matters(e, sums.time_ns))
		return 0;
	finding = finding_add(f, FINDING_SYNCHRONOUS, FINDING_LIKELY, sums.time_ns);
	if (!finding)
		return -ENOMEM;
	human_count(count, sums.count - sums.async);
	human_time_ns(time, sums.time_ns);
	finding_say(finding, "the host waited for %s copies; they took %s on the device", count,
		    time);
	finding_name_nodes(finding, e, is_synchronous);
	return 0;
}

const struct rule rule_SYNCHRONOUS = {
	.title = "copies that the host waits for",
	.advice =
		"Each drains the queue, and the GPU then waits for the host: copy asynchronously, and "
		"read results (.item(), .cpu()) seldom and late.",
	.find = find,
};
