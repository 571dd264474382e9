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

	if (times < LEAST_TIMES || is_of_tensors(e->s, node) ||
	    times - released > MOST_KEPT * times || is_of_pool(e->s, node))
		return;
	c->times += times;
	c->bytes += evidence_sum(e, node, METRIC_ALLOCATED);
	most_insert(&c->most, node, times);
}

/* ---- what the calls took, where that was recorded ---- */

#define LEAST_CALLS 100

/* Names of the runtime and of the driver; those of pools come back at once, but may have to grow. */
static bool allocates(const char *name)
{
	return strstr(name, "Malloc") || strstr(name, "MemAlloc") || strstr(name, "HostAlloc") ||
	       strstr(name, "Free") || strstr(name, "HostRegister") ||
	       strstr(name, "HostUnregister") || strstr(name, "MemCreate") ||
	       strstr(name, "MemMap") || strstr(name, "MemUnmap") || strstr(name, "MemRelease");
}

static int say_calls(struct findings *f, double calls, double time_ns, const struct most *most)
{
	struct finding *finding = finding_add(f, FINDING_ALLOCATIONS, FINDING_MEASURED, time_ns);
	char count[HUMAN_MAX], time[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	human_count(count, calls);
	human_time_ns(time, time_ns);
	finding_say(finding, "the host was in %s calls that allocate or release memory for %s",
		    count, time);
	finding_name_most(finding, most);
	return 0;
}

/* 1: it was told. */
static int find_calls(const struct evidence *e, struct findings *f)
{
	double calls = 0, time_ns = 0;
	struct most most = {.n = 0};
	int r;

	for (uint32_t i = 0; i < e->s->n_nodes; i++) {
		double n, ns;

		if (session_node_kind(e->s, i) != FRAME_CALL ||
		    !allocates(session_node_name(e->s, i)))
			continue;
		n = evidence_sum(e, i, METRIC_API_CALLS);
		ns = evidence_sum(e, i, METRIC_API_TIME);
		calls += n;
		time_ns += ns;
		most_insert(&most, i, ns);
	}
	if (calls < LEAST_CALLS || !evidence_matters(e, time_ns))
		return 0;
	r = say_calls(f, calls, time_ns, &most);
	return r < 0 ? r : 1;
}

/* ---- how often, else ---- */

/* What the calls took is not known, or is little. */
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
	int r = find_calls(e, f);

	if (r != 0)
		return MIN(r, 0);
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
