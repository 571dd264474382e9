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

/* What kernels that a rule is about may lose, one after another. */
struct sum {
	struct launch_costs costs;
	double *by_node; /* what each may lose */
};

static void add(struct sum *sum, uint32_t node, const struct launch_costs *more, double share)
{
	double cost = share * more->time_ns;

	sum->costs.cost_ns += cost;
	sum->costs.time_ns += more->time_ns;
	sum->costs.n += more->n;
	sum->costs.mean += more->mean * more->time_ns;
	sum->costs.most = fmax(sum->costs.most, more->mean);
	sum->by_node[node] += cost;
}

static void add_config(struct sum *sum, const struct evidence *e, const struct session_config *c,
		       const struct launch_rule *rule)
{
	struct occupancy is = session_config_occupancy(e->s, c);
	struct launch_costs costs = {.time_ns = (double)c->time_ns, .n = (double)c->count};
	double share = share_of(e, c, rule, &is);

	if (!(share > 0) || !c->count)
		return;
	costs.mean = rule->figure(c, &is);
	add(sum, c->node, &costs, share);
}

static void name_most(struct finding *finding, const struct session *s, const double *by_node)
{
	struct most most = {.n = 0};

	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (by_node[i] > 0)
			most_insert(&most, i, by_node[i]);
	finding_name_most(finding, &most);
}

static int tell(const struct evidence *e, enum finding_rule id, struct sum *sum,
		void (*say)(struct finding *finding, const struct launch_costs *costs),
		struct findings *f)
{
	struct finding *finding;

	if (!evidence_matters(e, sum->costs.cost_ns))
		return 0;
	finding = finding_add(f, id, FINDING_MAYBE, sum->costs.cost_ns);
	if (!finding)
		return -ENOMEM;
	sum->costs.mean /= sum->costs.time_ns;
	finding->at_most = true;
	say(finding, &sum->costs);
	name_most(finding, e->s, sum->by_node);
	return 0;
}

int find_launches(const struct evidence *e, enum finding_rule id, const struct launch_rule *rule,
		  struct findings *f)
{
	_cleanup_(freep) double *by_node = calloc(e->s->n_nodes, sizeof(*by_node));
	struct sum sum = {.by_node = by_node};

	if (!by_node)
		return -ENOMEM;
	for (size_t i = 0; i < e->s->n_configs; i++)
		add_config(&sum, e, &e->s->configs[i], rule);
	return tell(e, id, &sum, rule->say, f);
}

int find_counted(const struct evidence *e, enum finding_rule id, const struct counted_rule *rule,
		 struct findings *f)
{
	_cleanup_(freep) double *by_node = NULL;
	struct sum sum = {.by_node = NULL};

	if (e->measured.time == METRIC_NONE)
		return 0;
	sum.by_node = by_node = calloc(e->s->n_nodes, sizeof(*by_node));
	if (!by_node)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];
		struct launch_costs costs = {.time_ns = own->sums.time_ns, .n = own->sums.count};
		double share =
			own->kind == FRAME_KERNEL ? rule->share(e, own->node, &costs.mean) : 0;

		if (share > 0)
			add(&sum, own->node, &costs, share);
	}
	return tell(e, id, &sum, rule->say, f);
}
