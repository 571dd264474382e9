/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "findings/launch_costs.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "core/launch_rows.h"
#include "findings/units.h"

static double share_of(const struct evidence *e, const struct session_config *c,
		       const struct launch_rule *rule, const struct occupancy *is)
{
	double share = rule->share(e->s, c, is);
	struct units units;

	if (!(share > 0) || !rule->same_bytes || !units_of(e, c->node, &units))
		return share;
	return fmin(share, 1 - units.memory); /* of these, the one that is known */
}

/* by_node: what each may lose. */
static void add(const struct evidence *e, const struct session_config *c,
		const struct launch_rule *rule, struct launch_costs *costs, double *by_node)
{
	struct occupancy is = session_config_occupancy(e->s, c);
	double time = (double)c->time_ns, share = share_of(e, c, rule, &is), figure;

	if (!(share > 0) || !c->count)
		return;
	figure = rule->figure(c, &is);
	costs->cost_ns += share * time;
	costs->time_ns += time;
	costs->n += (double)c->count;
	costs->mean += figure * time;
	costs->most = fmax(costs->most, figure);
	by_node[c->node] += share * time;
}

static void name_most(struct finding *finding, const struct session *s, const double *by_node)
{
	struct most most = {.n = 0};

	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (by_node[i] > 0)
			most_insert(&most, i, by_node[i]);
	finding_name_most(finding, &most);
}

int find_launches(const struct evidence *e, enum finding_rule id, const struct launch_rule *rule,
		  struct findings *f)
{
	const struct session *s = e->s;
	_cleanup_(freep) double *by_node = calloc(s->n_nodes, sizeof(*by_node));
	struct launch_costs costs = {.n = 0};
	struct finding *finding;

	if (!by_node)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_configs; i++)
		add(e, &s->configs[i], rule, &costs, by_node);
	if (!evidence_matters(e, costs.cost_ns))
		return 0;
	finding = finding_add(f, id, FINDING_MAYBE, costs.cost_ns);
	if (!finding)
		return -ENOMEM;
	costs.mean /= costs.time_ns;
	finding->at_most = true;
	rule->say(finding, &costs);
	name_most(finding, s, by_node);
	return 0;
}
