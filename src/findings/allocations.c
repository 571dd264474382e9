/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_TIMES 1000
#define MOST_KEPT   0.1 /* of the blocks; the others are released soon */

struct churn {
	double times, bytes;
	uint32_t nodes[FINDING_NODES];
	double most[FINDING_NODES];
	unsigned n;
};

static double sum(const struct session *s, uint32_t node, uint32_t metric)
{
	union metric_value v;

	return session_value(s, node, metric, &v) ? (double)v.u64 : 0;
}

/* Of a pool neither waits for the device. */
static bool is_of_pool(const struct session *s, uint32_t node)
{
	return strstr(session_node_name(s, node), " pool") != NULL;
}

static void name_node(struct churn *c, uint32_t node, double times)
{
	unsigned at = MIN(c->n, (unsigned)FINDING_NODES - 1);

	if (c->n == FINDING_NODES && c->most[at] >= times)
		return;
	for (; at > 0 && c->most[at - 1] < times; at--) {
		c->most[at] = c->most[at - 1];
		c->nodes[at] = c->nodes[at - 1];
	}
	c->most[at] = times;
	c->nodes[at] = node;
	c->n = MIN(c->n + 1, (unsigned)FINDING_NODES);
}

static void look(const struct session *s, uint32_t node, struct churn *c)
{
	double times = sum(s, node, METRIC_ALLOCS), released = sum(s, node, METRIC_FREES);

	if (times < LEAST_TIMES || times - released > MOST_KEPT * times || is_of_pool(s, node))
		return;
	c->times += times;
	c->bytes += sum(s, node, METRIC_ALLOCATED);
	name_node(c, node, times);
}

/* What the calls took is not known. */
static int say(struct findings *f, const struct churn *c)
{
	struct finding *finding = finding_add(f, FINDING_ALLOCATIONS, FINDING_MAYBE, 0);
	char times[HUMAN_MAX], mean[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	human_count(times, c->times);
	human_bytes(mean, c->bytes / c->times);
	finding_say(finding, "%s times %sB on average were allocated, and released again", times,
		    mean);
	memcpy(finding->nodes, c->nodes, sizeof(finding->nodes));
	finding->n_nodes = c->n;
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct churn c = {0};

	for (uint32_t i = 0; i < e->s->n_nodes; i++)
		if (session_node_kind(e->s, i) == FRAME_ALLOC)
			look(e->s, i, &c);
	return c.n ? say(f, &c) : 0;
}

const struct rule rule_ALLOCATIONS = {
	.title = "memory is allocated and released in a loop",
	.advice =
		"Each release waits for the device: keep what is needed again, or allocate from a "
		"pool (cudaMallocAsync), which waits for nothing.",
	.find = find,
};
