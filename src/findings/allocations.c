/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_TIMES 1000
#define MOST_KEPT   0.1 /* of the blocks; the others are released soon */

struct churn {
	double times, bytes;
	struct most most;
};

/* Of a pool neither waits for the device. */
static bool is_of_pool(const struct session *s, uint32_t node)
{
	return strstr(session_node_name(s, node), " pool") != NULL;
}

static void look(const struct evidence *e, uint32_t node, struct churn *c)
{
	double times = evidence_sum(e, node, METRIC_ALLOCS);
	double released = evidence_sum(e, node, METRIC_FREES);

	if (times < LEAST_TIMES || times - released > MOST_KEPT * times || is_of_pool(e->s, node))
		return;
	c->times += times;
	c->bytes += evidence_sum(e, node, METRIC_ALLOCATED);
	most_insert(&c->most, node, times);
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
	finding_name_most(finding, &c->most);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct churn c = {0};

	for (uint32_t i = 0; i < e->s->n_nodes; i++)
		if (session_node_kind(e->s, i) == FRAME_ALLOC)
			look(e, i, &c);
	return c.most.n ? say(f, &c) : 0;
}

const struct rule rule_ALLOCATIONS = {
	.title = "memory is allocated and released in a loop",
	.advice =
		"Each release waits for the device: keep what is needed again, or allocate from a "
		"pool (cudaMallocAsync), which waits for nothing.",
	.find = find,
};
