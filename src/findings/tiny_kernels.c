/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define TINY_NS     5000
#define LEAST_CALLS 10000
#define TINY_SHARE  0.05

static bool is_tiny(const struct evidence *e, uint32_t node)
{
	return evidence_is(e, node, FRAME_KERNEL) &&
	       e->nodes[node].time_ns / e->nodes[node].count < TINY_NS;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct sums sums = evidence_sum(e, is_tiny);
	char count[HUMAN_MAX], mean[HUMAN_MAX], time[HUMAN_MAX];
	struct finding *finding;

	if (sums.count < LEAST_CALLS || sums.count < e->kernels.count / 2 ||
	    sums.time_ns < TINY_SHARE * e->whole_ns)
		return 0;
	finding = finding_add(f, FINDING_TINY_KERNELS, FINDING_LIKELY, sums.time_ns);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_count(count, sums.count);
	human_time_ns(mean, sums.time_ns / sums.count);
	human_time_ns(time, sums.time_ns);
	finding_say(finding, "%s kernels of %s on average in %s", count, mean, time);
	finding_name_nodes(finding, e, is_tiny);
	return 0;
}

const struct rule rule_TINY_KERNELS = {
	.title = "most kernels are shorter than 5 us",
	.advice = "Beginning and ending is a large part of each: fuse them (torch.compile, foreach "
		  "optimizers), or give each more work (larger batches).",
	.find = find,
};
