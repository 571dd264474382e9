/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "findings/rules.h"

/* What is made once, or the first times, is a cache as a rule. */
#define LEAST_TIMES 8
#define LEAST_OFTEN 0.1 /* of the times that the scope was entered */
#define LEAST_BYTES 1e6
#define LEAST_KEPT                                                                                 \
	0.5 /* of what it left behind was there at a time; the rest was released in between */

struct leak {
	double held, most, bytes, times;
};

static struct leak leak_at(const struct evidence *e, uint32_t node)
{
	return (struct leak){.held = evidence_sum(e, node, METRIC_LEFT_HELD),
			     .most = evidence_longest(e, node, METRIC_LEFT_MOST),
			     .bytes = evidence_sum(e, node, METRIC_LEFT_BYTES),
			     .times = evidence_sum(e, node, METRIC_LEFT_TIMES)};
}

/* What was there at a time. At the end it may all be gone: interpreters release what they have when they end. */
static double kept_of(const struct leak *l)
{
	return fmax(l->held, l->most);
}

static bool is_leak(const struct evidence *e, uint32_t node, const struct leak *l)
{
	double entered = evidence_sum(e, e->s->nodes[node].parent, METRIC_CPU_COUNT);

	return l->bytes > 0 && l->times >= LEAST_TIMES && l->times >= LEAST_OFTEN * entered &&
	       kept_of(l) >= LEAST_BYTES && kept_of(l) >= LEAST_KEPT * l->bytes;
}

/* Do tensors leak in the same scope? They lie in the memory that the allocator keeps, and say which. */
static bool is_seen_as_tensors(const struct evidence *e, uint32_t node)
{
	for (uint32_t i = 1; i < e->s->n_nodes; i++) {
		struct leak l;

		if (i == node || e->s->nodes[i].parent != e->s->nodes[node].parent ||
		    !is_of_tensors(e->s, i))
			continue;
		l = leak_at(e, i);
		return is_leak(e, i, &l);
	}
	return false;
}

static int say(const struct evidence *e, struct findings *f, uint32_t node)
{
	struct finding *finding = finding_add(f, FINDING_LEFT_BEHIND, FINDING_MAYBE, 0);
	struct leak l = leak_at(e, node);
	char times[HUMAN_MAX], each[HUMAN_MAX], most[HUMAN_MAX], held[HUMAN_MAX];
	struct most nodes = {.n = 0};
	struct stepped of;

	if (!finding)
		return -ENOMEM;
	human_count(times, l.times);
	human_bytes(each, l.bytes / l.times);
	human_bytes(most, kept_of(&l));
	human_bytes(held, l.held);
	finding_say(finding,
		    "%s times it ended and left %sB behind on average; %sB of all were there at a "
		    "time, %sB were not released since",
		    times, each, most, held);
	if (evidence_growing(e, &of)) {
		finding_say(finding, "; at the end of steps ");
		finding_say_growth(finding, e, &of, &of.held);
	}
	most_insert(&nodes, node, kept_of(&l));
	finding_name_most(finding, &nodes);
	return 0;
}

/* Of scopes within each other that leave the same, the innermost. */
uint32_t left_behind_node(const struct evidence *e)
{
	uint32_t worst = SESSION_NONE;
	double most = 0;

	for (uint32_t i = 1; i < e->s->n_nodes; i++) {
		struct leak l;

		if (session_node_kind(e->s, i) != FRAME_ALLOC)
			continue;
		l = leak_at(e, i);
		if (kept_of(&l) < most || !is_leak(e, i, &l) || is_seen_as_tensors(e, i))
			continue;
		worst = i;
		most = kept_of(&l);
	}
	return worst;
}

static int find(const struct evidence *e, struct findings *f)
{
	uint32_t worst = left_behind_node(e);

	return worst == SESSION_NONE ? 0 : say(e, f, worst);
}

const struct rule rule_LEFT_BEHIND = {
	.title = "a scope leaves memory behind each time that it ends",
	.advice =
		"What is allocated in it, and in what it calls, is kept by someone: release it before the "
		"scope ends, or allocate it once, before the first. Of PyTorch, --tensors says whose.",
	.find = find,
};
