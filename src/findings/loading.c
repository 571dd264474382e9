/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/human.h"
#include "findings/rules.h"

/* A launch that takes so much longer than the others of its context brought its kernel to the device first. */
#define LEAST_FIRST_NS 1e6

struct loading {
	double time_ns, calls, launches;
	struct most most;
};

static bool loads(const char *name)
{
	return strstr(name, "ModuleLoad") || strstr(name, "LibraryLoad") ||
	       strstr(name, "LinkComplete") || strstr(name, "ModuleGetFunction") ||
	       strstr(name, "KernelGetFunction");
}

static void look(const struct evidence *e, uint32_t node, struct loading *l)
{
	const char *name = session_node_name(e->s, node);
	double time_ns = evidence_sum(e, node, METRIC_API_TIME),
	       calls = evidence_sum(e, node, METRIC_API_CALLS), first_ns;

	if (loads(name)) {
		l->calls += calls;
	} else if (strstr(name, "Launch")) {
		first_ns = evidence_longest(e, node, METRIC_API_MAX);
		if (!(calls > 0) || first_ns - time_ns / calls < LEAST_FIRST_NS)
			return;
		time_ns = first_ns - time_ns / calls;
		l->launches++;
	} else {
		return;
	}
	l->time_ns += time_ns;
	most_insert(&l->most, node, time_ns);
}

static int say(struct findings *f, const struct loading *l)
{
	struct finding *finding = finding_add(f, FINDING_LOADING, FINDING_LIKELY, l->time_ns);
	char calls[HUMAN_MAX], launches[HUMAN_MAX], time[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	human_count(calls, l->calls);
	human_count(launches, l->launches);
	human_time_ns(time, l->time_ns);
	finding_say(
		finding,
		"%s calls that load code, and the longest launch in %s contexts: %s of the host",
		calls, launches, time);
	finding_name_most(finding, &l->most);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct loading l = {0};

	for (uint32_t i = 0; i < e->s->n_nodes; i++)
		if (session_node_kind(e->s, i) == FRAME_CALL)
			look(e, i, &l);
	return evidence_matters(e, l.time_ns) ? say(f, &l) : 0;
}

const struct rule rule_LOADING = {
	.title = "kernels are loaded at their first launch",
	.advice =
		"Code goes to the device when it is first needed: run each kernel once before what is "
		"to be fast (warm up), load all of it at the start (CUDA_MODULE_LOADING=EAGER), or keep "
		"what is compiled (caches of Triton and torch.compile).",
	.find = find,
};
