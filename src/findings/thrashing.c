/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

struct fought {
	double n, bytes, ns;
	struct most most; /* ns */
};

/* All that moved there, and what sides were made to wait. */
static void add(const struct evidence *e, uint32_t node, struct fought *of)
{
	double ns =
		evidence_sum(e, node, METRIC_MIGRATING) + evidence_sum(e, node, METRIC_THROTTLED);

	if (!evidence_thrashes(e, node))
		return;
	of->n += evidence_sum(e, node, METRIC_THRASHES);
	of->bytes += evidence_sum(e, node, METRIC_TO_DEVICE) +
		     evidence_sum(e, node, METRIC_TO_HOST) + evidence_sum(e, node, METRIC_TO_PEER);
	of->ns += ns;
	most_insert(&of->most, node, ns);
}

static int find(const struct evidence *e, struct findings *f)
{
	struct fought of = {0};
	char n[HUMAN_MAX], bytes[HUMAN_MAX];
	struct finding *finding;

	for (uint32_t i = 0; i < e->s->n_nodes; i++)
		if (session_node_kind(e->s, i) == FRAME_ALLOC)
			add(e, i, &of);
	if (!evidence_matters(e, of.ns))
		return 0;
	finding = finding_add(f, FINDING_THRASHING, FINDING_LIKELY, of.ns);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_count(n, of.n);
	human_bytes(bytes, of.bytes);
	finding_say(finding, "seen %s times; %sB moved", n, bytes);
	finding_name_most(finding, &of.most);
	return 0;
}

const struct rule rule_THRASHING = {
	.title = "pages of unified memory go to and fro",
	.advice =
		"Host and devices, or several devices, work on the same pages in turn: split the data, "
		"let one side finish first, or have a side reach them where they are (cudaMemAdvise).",
	.find = find,
};
