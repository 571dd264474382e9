/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_CALLS 1000
#define SMALL_BYTES 65536

static bool is_small(const struct evidence *e, uint32_t node)
{
	return evidence_is(e, node, FRAME_COPY) && e->nodes[node].bytes > 0 &&
	       e->nodes[node].bytes / e->nodes[node].count < SMALL_BYTES;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct sums sums = evidence_sum(e, is_small);
	char count[HUMAN_MAX], mean[HUMAN_MAX], time[HUMAN_MAX];
	struct finding *finding;

	if (sums.count < LEAST_CALLS || !evidence_matters(e, sums.time_ns))
		return 0;
	finding = finding_add(f, FINDING_SMALL_COPIES, FINDING_LIKELY, sums.time_ns);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_count(count, sums.count);
	human_bytes(mean, sums.bytes / sums.count);
	human_time_ns(time, sums.time_ns);
	finding_say(finding, "%s copies of %sB on average in %s", count, mean, time);
	finding_name_nodes(finding, e, is_small);
	return 0;
}

const struct rule rule_SMALL_COPIES = {
	.title = "many small copies",
	.advice =
		"A copy costs about the same up to some ten thousand bytes: gather what is copied into "
		"one buffer, or keep it on the device.",
	.find = find,
};
