/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "findings/rules.h"

struct moved {
	double n, unasked_ns, to_device, to_host, evicted, faults;
	struct most most; /* unasked_ns */
};

/* What the program asked for is not among it. */
static double unasked_ns(const struct evidence *e, uint32_t node)
{
	double bytes = evidence_sum(e, node, METRIC_TO_DEVICE) +
		       evidence_sum(e, node, METRIC_TO_HOST) +
		       evidence_sum(e, node, METRIC_TO_PEER);
	double asked = evidence_sum(e, node, METRIC_ASKED_FOR);

	if (!(bytes > 0))
		return 0;
	return evidence_sum(e, node, METRIC_MIGRATING) * (1 - fmin(asked / bytes, 1));
}

/* What goes to and fro has a rule of its own. */
static void add(const struct evidence *e, uint32_t node, struct moved *m)
{
	double ns = unasked_ns(e, node);

	if (!(ns > 0) || evidence_thrashes(e, node))
		return;
	m->n += evidence_sum(e, node, METRIC_MIGRATIONS);
	m->unasked_ns += ns;
	m->to_device += evidence_sum(e, node, METRIC_TO_DEVICE);
	m->to_host += evidence_sum(e, node, METRIC_TO_HOST);
	m->evicted += evidence_sum(e, node, METRIC_EVICTED);
	m->faults +=
		evidence_sum(e, node, METRIC_GPU_FAULTS) + evidence_sum(e, node, METRIC_CPU_FAULTS);
	most_insert(&m->most, node, ns);
}

static int say(struct findings *f, const struct moved *m)
{
	struct finding *finding =
		finding_add(f, FINDING_UNIFIED_MEMORY, FINDING_MAYBE, m->unasked_ns);
	char n[HUMAN_MAX], to_device[HUMAN_MAX], to_host[HUMAN_MAX], faults[HUMAN_MAX],
		evicted[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_count(n, m->n);
	human_bytes(to_device, m->to_device);
	human_bytes(to_host, m->to_host);
	human_count(faults, m->faults);
	finding_say(finding, "%s moves: %sB to devices, %sB to the host; %s faults", n, to_device,
		    to_host, faults);
	human_bytes(evicted, m->evicted);
	if (m->evicted > 0)
		finding_say(finding, "; %sB left a device for lack of room", evicted);
	finding_name_most(finding, &m->most);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct moved m = {0};

	for (uint32_t i = 0; i < e->s->n_nodes; i++)
		if (session_node_kind(e->s, i) == FRAME_ALLOC)
			add(e, i, &m);
	return evidence_matters(e, m.unasked_ns) ? say(f, &m) : 0;
}

const struct rule rule_UNIFIED_MEMORY = {
	.title = "pages of unified memory move when they are missed",
	.advice =
		"Have them move before they are needed (cudaMemPrefetchAsync), say where they belong "
		"(cudaMemAdvise), or copy them by hand; kernels wait for pages that they miss.",
	.find = find,
};
