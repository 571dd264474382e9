/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_CALLS 1000

static bool is_often(const struct evidence *e, uint32_t node)
{
	return evidence_is(e, node, FRAME_SET) && e->nodes[node].count >= LEAST_CALLS;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct sums sums = evidence_sum(e, is_often);
	char count[HUMAN_MAX], time[HUMAN_MAX];
	struct finding *finding;

	if (!evidence_matters(e, sums.time_ns))
		return 0;
	finding = finding_add(f, FINDING_MEMSETS, FINDING_LIKELY, sums.time_ns);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_count(count, sums.count);
	human_time_ns(time, sums.time_ns);
	finding_say(finding, "%s memsets in %s", count, time);
	finding_name_nodes(finding, e, is_often);
	return 0;
}

const struct rule rule_MEMSETS = {
	.title = "memory is set again and again",
	.advice =
		"Set it once, let the kernel that writes it first do it (zero_grad(set_to_none=True), "
		"empty() instead of zeros()), or set one large block.",
	.find = find,
};
