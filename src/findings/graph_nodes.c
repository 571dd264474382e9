/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "core/runs.h"
#include "findings/rules.h"

/* What recording a node of a CUDA graph adds to its time, whatever the tool: an H200, empty kernels (bench/RESULTS.md). */
#define NODE_NS 360
/* Of the time in which the device is used: as much as reading contexts may take by itself. */
#define BUDGET_SHARE 0.05

/* What the run was given, for all that recording costs. */
static double budget_of(const struct session *s)
{
	uint32_t metric = metric_table_find(s->metrics, BUDGET_METRIC);
	union metric_value v;

	if (metric == METRIC_NONE || metric_table_get(s->metrics, metric)->type != METRIC_U64 ||
	    !session_value(s, SESSION_ROOT, metric, &v))
		return BUDGET_SHARE;
	return v.u64 ? (double)v.u64 / 1e6 : INFINITY;
}

/* Those of a graph that is recorded whole cost nothing: that is no kernel. */
static double nodes_on(const struct evidence *e, uint32_t device)
{
	return e->devices[device].graph_nodes;
}

static int tell(const struct evidence *e, uint32_t device, struct findings *f)
{
	double n = nodes_on(e, device), price = fmin(n * NODE_NS, e->used_ns);
	char count[HUMAN_THINGS_MAX], cost[HUMAN_MAX], share[HUMAN_MAX];
	struct finding *finding;

	finding = finding_add(f, FINDING_GRAPH_NODES, FINDING_MAYBE, price);
	if (!finding)
		return -ENOMEM;
	finding->device = device;
	human_things(count, n, "node");
	human_time_ns(cost, price);
	human_percent(share, price / e->used_ns);
	finding_say(
		finding,
		"about %s, %s %% of the time in use: %s of CUDA graphs recorded, by estimate at "
		"0.36us each (an H200)",
		cost, share, count);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < e->s->n_devices; i++)
		if (e->used_ns > 0 && nodes_on(e, i) * NODE_NS > budget_of(e->s) * e->used_ns)
			r = tell(e, i, f);
	return r;
}

const struct rule rule_GRAPH_NODES = {
	.title = "recording each node of CUDA graphs slows them down",
	.advice =
		"proton record --graphs whole records each launch of a graph as one, at a small part of "
		"that: times are then those of the program, and kernels of a graph are not told apart.",
	.find = find,
	.is_of_times = true,
};
