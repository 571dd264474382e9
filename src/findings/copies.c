/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/human.h"
#include "findings/rules.h"

#define COPIES_SHARE 0.05

/* A copy over a link: what stays on a device keeps none busy. */
static bool is_over_link(const struct evidence *e, const struct own *own)
{
	return own->kind == FRAME_COPY && !strcasestr(session_node_name(e->s, own->node), "DtoD");
}

/* More time goes into moving data than into computing with it. */
static int find(const struct evidence *e, struct findings *f)
{
	const struct picked *picked = &e->picked[FINDING_COPIES];
	const struct sums sums = picked->sums;
	char copies[HUMAN_MAX], kernels[HUMAN_MAX], bytes[HUMAN_MAX];
	struct finding *finding;

	if (sums.time_ns <= e->kernels.time_ns || sums.time_ns < COPIES_SHARE * e->whole_ns ||
	    !(sums.time_ns > 0))
		return 0;
	finding = finding_add(f, FINDING_COPIES, FINDING_MAYBE, sums.time_ns - e->kernels.time_ns);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_time_ns(copies, sums.time_ns);
	human_time_ns(kernels, e->kernels.time_ns);
	human_bytes(bytes, sums.bytes);
	finding_say(finding, "%s for copies (%sB), %s for kernels", copies, bytes, kernels);
	finding_name_nodes(finding, picked);
	return 0;
}

const struct rule rule_COPIES = {
	.title = "copies take longer than kernels",
	.advice =
		"Keep data on the device between steps, copy less of it (smaller types), or copy the "
		"next part while this one is computed (streams).",
	.picks = is_over_link,
	.find = find,
};
